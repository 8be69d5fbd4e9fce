//! Every limit of the crate, with its unit and the reason for its size (R49). Exceeding one is a
//! named refusal (`limit_exceeded`) or a named error, never a panic.

/// Bytes of an id, a name or a scope (R9).
pub const NAME_BYTES_MAX: usize = 1_024;
/// Segments of a scope; deeper paths are a mistake, and ancestors are walked on each inherit read.
pub const SCOPE_SEGMENTS_MAX: usize = 64;
/// Bytes of a text, a JSON value, a note or any other free text field.
pub const TEXT_BYTES_MAX: usize = 1 << 20;
/// Digits of an exact decimal, before and after the point together.
pub const DECIMAL_DIGITS_MAX: usize = 128;
/// Dimensions of one set of conditions or of one context.
pub const CONDITIONS_MAX: usize = 64;
/// Ids in one list (`supersedes`, `conflict`, one justification).
pub const IDS_MAX: usize = 4_096;
/// Alternatives (justifications) given at once.
pub const JUSTIFICATIONS_MAX: usize = 1_024;
/// Operations of one transaction: one frame of the log is held in memory while it is written.
pub const OPERATIONS_MAX: usize = 250_000;
/// Bytes of one journal line; a longer one is refused without being read whole.
pub const LINE_BYTES_MAX: usize = 8 << 20;
/// Leads shown in one answer; `leads_total` says how many there are.
pub const LEADS_SHOWN: usize = 20;
/// Near matches offered for a misspelt name.
pub const NEAR_MATCHES: usize = 3;
/// Lines between two syncs of an import (R15).
pub const IMPORT_SYNC_LINES: u64 = 10_000;
/// Milliseconds between two syncs of an import (R15).
pub const IMPORT_SYNC_MILLIS: u64 = 1_000;
/// Milliseconds between two syncs of a relaxed store: half of what it may lose.
pub const RELAXED_SYNC_MILLIS: u64 = 500;
/// Rows of derived state kept in memory before a checkpoint writes them.
pub const TAIL_ROWS_MAX: usize = 200_000;
/// Transactions replayed from the log at open before closing writes a checkpoint instead.
pub const TAIL_TRANSACTIONS_MAX: u64 = 2_000;
/// Bytes of decoded rows kept in memory by default.
pub const CACHE_BYTES: u64 = 64 << 20;
/// Facts in one stored chunk of a slot (R45): small enough to rewrite, large enough to pack.
pub const CHUNK_FACTS: usize = 32;
/// Nodes listed in one receipt; `reached_total` says how many there are (SPEC section 9).
pub const RECEIPT_NODES_MAX: usize = 1_000;
