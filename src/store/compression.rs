//! zstd at its fastest level, used only where it pays; the contexts are kept per thread, since
//! making one costs more than compressing a small block.
//!
//! Whoever calls this stores the length before compression and a checksum of what was stored:
//! nothing here guards against damage beyond never returning a wrong length.

use std::cell::RefCell;

use zstd::bulk::{Compressor, Decompressor};

/// zstd level: 1, since blocks and frames are small and written on the way of a commit.
pub const LEVEL: i32 = 1;
/// Fewer bytes than this are never worth compressing: zstd's own header eats the gain.
pub const COMPRESS_FROM_BYTES: usize = 128;

thread_local! {
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// The compressed bytes, if they are at least an eighth smaller; else the bytes are better kept as
/// they are. Linear in their length.
pub fn compressed(bytes: &[u8]) -> Option<Vec<u8>> {
    if bytes.len() < COMPRESS_FROM_BYTES {
        return None;
    }
    let smaller = COMPRESSOR.try_with(|slot| {
        let mut slot = slot.try_borrow_mut().ok()?;
        if slot.is_none() {
            *slot = Compressor::new(LEVEL).ok();
        }
        slot.as_mut()?.compress(bytes).ok()
    });
    let smaller = smaller.ok().flatten()?;
    (smaller.len() < bytes.len() - bytes.len() / 8).then_some(smaller)
}

/// The bytes as they were, if they decompress to exactly `length` bytes. Allocates `length` bytes
/// at once: bound it before calling.
pub fn decompressed(bytes: &[u8], length: usize) -> Option<Vec<u8>> {
    let raw = DECOMPRESSOR.try_with(|slot| {
        let mut slot = slot.try_borrow_mut().ok()?;
        if slot.is_none() {
            *slot = Decompressor::new().ok();
        }
        slot.as_mut()?.decompress(bytes, length).ok()
    });
    raw.ok().flatten().filter(|raw| raw.len() == length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_shrinks_is_compressed_and_comes_back_whole() {
        let text = b"the same words again and again; ".repeat(40);
        let small = compressed(&text).expect("repetition shrinks");
        assert!(small.len() < text.len() / 4);
        assert_eq!(decompressed(&small, text.len()), Some(text.clone()));
        assert_eq!(compressed(b"short"), None);
    }

    #[test]
    fn a_wrong_length_or_damaged_bytes_give_nothing() {
        let text = b"the same words again and again; ".repeat(40);
        let small = compressed(&text).expect("repetition shrinks");
        assert_eq!(decompressed(&small, text.len() - 1), None);
        assert_eq!(decompressed(&small, text.len() + 1), None);
        assert_eq!(decompressed(&small[..small.len() / 2], text.len()), None);
    }
}
