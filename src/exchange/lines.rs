//! Journal text in lines: plain or compressed, one at a time, in bounded memory however long a
//! line is.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use crate::model::limits::LINE_BYTES_MAX;

/// A line as read: its number, counted from 1, and its text or why it has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawLine {
    /// Its number in the file, counted from 1.
    pub number: u64,
    /// Its text without the line end.
    pub text: Result<String, LineFault>,
}

/// Why a line has no text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineFault {
    /// Longer than [`LINE_BYTES_MAX`] bytes; how it starts.
    TooLong(String),
    /// Not UTF-8; the place of the first bad byte, counted from 1, and the text with marks there.
    NotUtf8(usize, String),
}

/// Opens a journal: `-` is standard input; `.xz`, `.gz` and `.zst` are unpacked.
///
/// # Errors
/// When the file cannot be opened.
pub fn open(path: &Path) -> io::Result<Box<dyn BufRead + Send>> {
    if path == Path::new("-") {
        return Ok(Box::new(BufReader::new(io::stdin())));
    }
    if path.is_dir() {
        return Err(io::Error::other("it is a directory; name a journal file"));
    }
    let file = BufReader::with_capacity(1 << 16, File::open(path)?);
    let unpacked: Box<dyn Read + Send> = match path.extension().and_then(|e| e.to_str()) {
        Some("xz") => Box::new(liblzma::bufread::XzDecoder::new_multi_decoder(file)),
        Some("gz") => Box::new(flate2::bufread::MultiGzDecoder::new(file)),
        Some("zst") => Box::new(zstd::stream::read::Decoder::with_buffer(file)?),
        Some(_) | None => return Ok(Box::new(file)),
    };
    Ok(Box::new(BufReader::with_capacity(1 << 16, unpacked)))
}

/// The lines of a text. Blank lines count but are passed over.
pub struct Lines<R> {
    from: R,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    /// Lines of a reader.
    pub fn new(from: R) -> Self {
        Self { from, number: 0 }
    }

    /// The next line that is not blank; `None` at the end.
    ///
    /// # Errors
    /// When the text cannot be read or unpacked.
    pub fn next_line(&mut self) -> io::Result<Option<RawLine>> {
        loop {
            let mut bytes = Vec::new();
            let limit = LINE_BYTES_MAX as u64 + 1;
            let count = (&mut self.from).take(limit).read_until(b'\n', &mut bytes)?;
            if count == 0 {
                return Ok(None);
            }
            self.number += 1;
            let number = self.number;
            if bytes.last() != Some(&b'\n') && count as u64 == limit {
                self.skip_line()?;
                let start =
                    String::from_utf8_lossy(bytes.get(..200).unwrap_or_default()).into_owned();
                return Ok(Some(RawLine { number, text: Err(LineFault::TooLong(start)) }));
            }
            while matches!(bytes.last(), Some(b'\n' | b'\r')) {
                bytes.pop();
            }
            match String::from_utf8(bytes) {
                Ok(text) if text.trim().is_empty() => {}
                Ok(text) => return Ok(Some(RawLine { number, text: Ok(text) })),
                Err(error) => {
                    let place = error.utf8_error().valid_up_to() + 1;
                    let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
                    return Ok(Some(RawLine {
                        number,
                        text: Err(LineFault::NotUtf8(place, text)),
                    }));
                }
            }
        }
    }

    fn skip_line(&mut self) -> io::Result<()> {
        loop {
            let buffer = self.from.fill_buf()?;
            if buffer.is_empty() {
                return Ok(());
            }
            if let Some(at) = buffer.iter().position(|byte| *byte == b'\n') {
                self.from.consume(at + 1);
                return Ok(());
            }
            let all = buffer.len();
            self.from.consume(all);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_and_broken_lines_are_told_and_the_next_line_is_whole() {
        let mut text = b"one\r\n\n".to_vec();
        text.extend(std::iter::repeat_n(b'x', LINE_BYTES_MAX + 10));
        text.extend(b"\nthree\n\xff\xfe\nlast");
        let mut lines = Lines::new(&text[..]);
        let mut all = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            all.push(line);
        }
        assert_eq!(all[0], RawLine { number: 1, text: Ok("one".to_owned()) });
        assert!(matches!(all[1], RawLine { number: 3, text: Err(LineFault::TooLong(_)) }));
        assert_eq!(all[2], RawLine { number: 4, text: Ok("three".to_owned()) });
        assert!(matches!(all[3], RawLine { number: 5, text: Err(LineFault::NotUtf8(1, _)) }));
        assert_eq!(all[4], RawLine { number: 6, text: Ok("last".to_owned()) });
        assert_eq!(all.len(), 5);
    }
}
