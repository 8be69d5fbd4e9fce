//! What the log asks of a directory and its files, and the real one.
//!
//! A second one lives in `faulty.rs`, so that tests decide what a disk loses and when it fails.
//! Nothing else in the log touches the file system. A medium must not retry, buffer or repair.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A directory of segment files.
pub trait Medium: Send + Sync {
    /// Where a file is, for messages.
    fn shown(&self, name: &str) -> PathBuf;

    /// Names of all files, in no order.
    ///
    /// # Errors
    /// As the operating system says.
    fn list(&self) -> io::Result<Vec<String>>;

    /// Makes an empty file, or empties the one there is.
    ///
    /// # Errors
    /// As the operating system says.
    fn create(&self, name: &str) -> io::Result<Arc<dyn MediumFile>>;

    /// Opens a file that is there, for reading and writing.
    ///
    /// # Errors
    /// As the operating system says.
    fn open(&self, name: &str) -> io::Result<Arc<dyn MediumFile>>;

    /// Gives a file another name, at once and whole.
    ///
    /// # Errors
    /// As the operating system says.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Takes a file away.
    ///
    /// # Errors
    /// As the operating system says.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Returns once new, changed and removed names would outlive a power loss.
    ///
    /// # Errors
    /// As the operating system says.
    fn sync_names(&self) -> io::Result<()>;
}

/// One file; offsets and lengths in bytes.
pub trait MediumFile: Send + Sync {
    /// Length of the file, reserved room included.
    ///
    /// # Errors
    /// As the operating system says.
    fn length(&self) -> io::Result<u64>;

    /// Fills `bytes` from offset `at`; less only when the file ends before. Returns how many.
    ///
    /// # Errors
    /// As the operating system says.
    fn read_at(&self, at: u64, bytes: &mut [u8]) -> io::Result<usize>;

    /// Writes all bytes at offset `at`. After an error any part of them may be there.
    ///
    /// # Errors
    /// As the operating system says.
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<()>;

    /// Cuts the file off or lengthens it with zeros.
    ///
    /// # Errors
    /// As the operating system says.
    fn set_length(&self, length: u64) -> io::Result<()>;

    /// Reserves room up to `length`, reading as zeros. `false` when the file system cannot.
    ///
    /// # Errors
    /// As the operating system says; [`io::ErrorKind::StorageFull`] when there is no room.
    fn reserve(&self, length: u64) -> io::Result<bool>;

    /// Returns once the content and the length would outlive a power loss.
    ///
    /// # Errors
    /// As the operating system says. What was written before is then in doubt for ever: a later
    /// sync that succeeds says nothing about it.
    fn sync(&self) -> io::Result<()>;
}

/// A directory of the file system.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
}

impl Directory {
    /// The directory at `path`; nothing is touched yet.
    pub fn new(path: &Path) -> Directory {
        Directory { path: path.to_owned() }
    }
}

impl Medium for Directory {
    fn shown(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    fn list(&self) -> io::Result<Vec<String>> {
        let names = fs::read_dir(&self.path)?.map(|entry| entry.map(|entry| entry.file_name()));
        // A name that is no text is not one of ours.
        names.filter_map(|name| name.map(|name| name.into_string().ok()).transpose()).collect()
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn MediumFile>> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(true);
        Ok(Arc::new(options.open(self.shown(name))?))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn MediumFile>> {
        Ok(Arc::new(OpenOptions::new().read(true).write(true).open(self.shown(name))?))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.shown(from), self.shown(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.shown(name))
    }

    fn sync_names(&self) -> io::Result<()> {
        // Windows cannot open a directory as a file, and keeps names by itself.
        if cfg!(windows) {
            return Ok(());
        }
        File::open(&self.path)?.sync_all()
    }
}

impl MediumFile for File {
    fn length(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_at(&self, at: u64, bytes: &mut [u8]) -> io::Result<usize> {
        let mut done = 0;
        while let Some(rest) = bytes.get_mut(done..).filter(|rest| !rest.is_empty()) {
            match read_some(self, at.saturating_add(offset(done)), rest) {
                Ok(0) => break,
                Ok(some) => done += some,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }

    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let mut done = 0;
        while let Some(rest) = bytes.get(done..).filter(|rest| !rest.is_empty()) {
            match write_some(self, at.saturating_add(offset(done)), rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(some) => done += some,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn reserve(&self, length: u64) -> io::Result<bool> {
        reserved(self, length)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }
}

fn offset(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

#[cfg(unix)]
fn read_some(file: &File, at: u64, bytes: &mut [u8]) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, bytes, at)
}

#[cfg(unix)]
fn write_some(file: &File, at: u64, bytes: &[u8]) -> io::Result<usize> {
    std::os::unix::fs::FileExt::write_at(file, bytes, at)
}

#[cfg(windows)]
fn read_some(file: &File, at: u64, bytes: &mut [u8]) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, bytes, at)
}

#[cfg(windows)]
fn write_some(file: &File, at: u64, bytes: &[u8]) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_write(file, bytes, at)
}

#[cfg(target_os = "linux")]
fn reserved(file: &File, length: u64) -> io::Result<bool> {
    use rustix::fs::{FallocateFlags, fallocate};
    use rustix::io::Errno;

    loop {
        match fallocate(file, FallocateFlags::empty(), 0, length) {
            Ok(()) => return Ok(true),
            Err(Errno::INTR) => {}
            Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn reserved(_: &File, _: u64) -> io::Result<bool> {
    Ok(false)
}
