//! Exchange: journal lines in and out ([`read`], [`mod@write`], [`lines`]), and questions in ([`question`]), drawings ([`dot`]).
//! Text here, types below; nothing here judges what it reads.

pub mod dot;
pub mod fields;
pub mod lines;
pub mod question;
pub mod read;
pub mod strict;
pub mod write;
