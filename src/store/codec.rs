//! Bytes of a transaction, as the log frames them: format version 0.
//!
//! | bytes | meaning |
//! |---|---|
//! | 1 | payload version, 0 |
//! | rest | the [`Transaction`], fields in order of declaration, integers as varints |

use crate::model::event::Transaction;
use crate::store::error::StoreError;

/// The payload version written.
pub const VERSION: u8 = 0;

/// A transaction as bytes.
///
/// # Errors
/// [`StoreError::Encode`] when it cannot be written as bytes.
pub fn to_bytes(transaction: &Transaction) -> Result<Vec<u8>, StoreError> {
    let bytes = vec![VERSION];
    postcard::to_extend(transaction, bytes).map_err(|error| StoreError::Encode(error.to_string()))
}

/// A transaction from bytes.
///
/// # Errors
/// [`StoreError::Record`] when the bytes are not a transaction of a version this program reads.
pub fn from_bytes(seq: u64, bytes: &[u8]) -> Result<Transaction, StoreError> {
    let broken = |what: &str| StoreError::Record { seq, what: what.to_owned() };
    match bytes.split_first() {
        Some((&VERSION, rest)) => match postcard::take_from_bytes::<Transaction>(rest) {
            Ok((transaction, [])) if transaction.seq == seq => Ok(transaction),
            Ok((_, [])) => Err(broken("it holds another sequence number")),
            Ok(_) => Err(broken("bytes are left over")),
            Err(error) => Err(broken(&error.to_string())),
        },
        Some((version, _)) => {
            Err(broken(&format!("payload version {version} is not known to this program")))
        }
        None => Err(broken("it is empty")),
    }
}
