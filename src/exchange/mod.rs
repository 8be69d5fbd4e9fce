//! Exchange: journal lines in and out ([`read`], [`mod@write`], [`lines`]), and questions in ([`question`]), drawings ([`dot`], [`dot_lineage`], [`svg`]).
//! Text here, types below; nothing here judges what it reads.

pub mod dot;
pub mod dot_lineage;
pub mod fields;
pub mod lines;
pub mod question;
pub mod read;
pub mod strict;
pub mod svg;
mod wide;
pub mod write;
