//! Reads and writes the small files of procfs, sysfs and cgroupfs in as few calls as they allow.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

/// Most that one read is asked for: the kernel gives at most a page or a few of such a file.
const PIECE: usize = 16 * 1024;

/// Reads a whole file. Its size is not asked for, it is always told as zero.
pub(crate) fn read_text(path: impl AsRef<Path>) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    let mut piece = [0; PIECE];
    loop {
        match file.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => bytes.extend_from_slice(&piece[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Writes a file that exists, in one write: a missing one tells that the kernel lacks something.
pub(crate) fn write_text(path: impl AsRef<Path>, text: &str) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_longer_than_a_piece_is_read_whole_and_a_missing_one_is_not_made() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("long");
        assert!(write_text(&path, "x").is_err());
        let text = "0123456789".repeat(PIECE);
        std::fs::write(&path, &text).unwrap();
        assert_eq!(read_text(&path).unwrap(), text);
        write_text(&path, "ab").unwrap();
        assert_eq!(&read_text(&path).unwrap()[..4], "ab23");
    }
}
