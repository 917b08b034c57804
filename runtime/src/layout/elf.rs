//! Reads of an ELF file what its loader would: interpreter, needed libraries, search paths.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;
const PT_INTERP: u32 = 3;
const ET_EXEC: u16 = 2;
const ET_DYN: u16 = 3;
const DT_NEEDED: u64 = 1;
const DT_STRTAB: u64 = 5;
const DT_STRSZ: u64 = 10;
const DT_SONAME: u64 = 14;
const DT_RPATH: u64 = 15;
const DT_RUNPATH: u64 = 29;
const DT_FLAGS_1: u64 = 0x6fff_fffb;
const DF_1_PIE: u64 = 0x0800_0000;

/// The largest table that is read whole: a string table of several megabytes is real, of hundreds is not.
const MOST_BYTES: u64 = 64 << 20;

#[cfg(target_arch = "x86_64")]
const MACHINE: u16 = 62;
#[cfg(target_arch = "aarch64")]
const MACHINE: u16 = 183;
#[cfg(target_arch = "riscv64")]
const MACHINE: u16 = 243;
#[cfg(target_arch = "s390x")]
const MACHINE: u16 = 22;

/// What a 64-bit ELF file of this machine says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Elf {
    /// `PT_INTERP`, the loader.
    pub(crate) interpreter: Option<PathBuf>,
    /// `DT_NEEDED`, in order.
    pub(crate) needed: Vec<OsString>,
    /// `DT_RPATH`, unexpanded.
    pub(crate) rpath: Vec<OsString>,
    /// `DT_RUNPATH`, unexpanded.
    pub(crate) runpath: Vec<OsString>,
    /// Starts as a program: `ET_EXEC`, a position-independent executable, or one of before those were marked.
    pub(crate) is_program: bool,
    /// The names of its dynamic symbols, libraries and versions, NUL-separated.
    strings: Vec<u8>,
}

impl Elf {
    /// Reads a file; `None` when it is no 64-bit ELF file of this machine, or a broken one.
    ///
    /// # Errors
    /// The file cannot be opened or read.
    pub(crate) fn read(path: &Path) -> io::Result<Option<Self>> {
        let file = File::open(path)?;
        match Self::parse(&file) {
            Ok(elf) => Ok(elf),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether a name stands among its dynamic symbols or versions.
    pub(crate) fn names(&self, name: &str) -> bool {
        self.strings.split(|&byte| byte == 0).any(|own| own == name.as_bytes())
    }

    fn parse(file: &File) -> io::Result<Option<Self>> {
        let mut header = [0; 64];
        file.read_exact_at(&mut header, 0)?;
        let little = [0x7f, b'E', b'L', b'F', 2, 1];
        let kind = half(&header, 16);
        if header[..6] != little
            || half(&header, 18) != MACHINE
            || !matches!(kind, ET_EXEC | ET_DYN)
        {
            return Ok(None);
        }
        let size = usize::from(half(&header, 54));
        let count = usize::from(half(&header, 56));
        if size < 56 {
            return Ok(None);
        }
        let table = bytes(file, long(&header, 32), (size * count) as u64)?;
        let segments: Vec<Segment> = table.chunks_exact(size).map(Segment::read).collect();
        let mut elf = Self::default();
        if let Some(segment) = segments.iter().find(|segment| segment.kind == PT_INTERP) {
            let text = bytes(file, segment.offset, segment.size)?;
            elf.interpreter = text.split(|&byte| byte == 0).next().map(path_of);
        }
        let flags = match segments.iter().find(|segment| segment.kind == PT_DYNAMIC) {
            Some(segment) => elf.read_dynamic(file, segment, &segments)?,
            None => Flags::default(),
        };
        elf.is_program = kind == ET_EXEC || flags.pie || elf.interpreter.is_some() && !flags.named;
        Ok(Some(elf))
    }

    fn read_dynamic(
        &mut self,
        file: &File,
        dynamic: &Segment,
        segments: &[Segment],
    ) -> io::Result<Flags> {
        let table = bytes(file, dynamic.offset, dynamic.size)?;
        let entries: Vec<(u64, u64)> = table
            .chunks_exact(16)
            .map(|entry| (long(entry, 0), long(entry, 8)))
            .take_while(|(tag, _)| *tag != 0)
            .collect();
        let value =
            |wanted| entries.iter().find(|(tag, _)| *tag == wanted).map(|(_, value)| *value);
        if let (Some(address), Some(size)) = (value(DT_STRTAB), value(DT_STRSZ))
            && let Some(offset) = offset_of(segments, address)
        {
            self.strings = bytes(file, offset, size)?;
        }
        for (tag, value) in &entries {
            match *tag {
                DT_NEEDED => self.needed.push(self.string(*value)),
                DT_RPATH => self.rpath.extend(search_path(&self.string(*value))),
                DT_RUNPATH => self.runpath.extend(search_path(&self.string(*value))),
                _ => {}
            }
        }
        Ok(Flags {
            pie: value(DT_FLAGS_1).is_some_and(|flags| flags & DF_1_PIE != 0),
            named: value(DT_SONAME).is_some(),
        })
    }

    fn string(&self, offset: u64) -> OsString {
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(self.strings.len());
        let text = self.strings[start..].split(|&byte| byte == 0).next().unwrap_or_default();
        OsString::from_vec(text.to_vec())
    }
}

/// What the dynamic section says of the file's kind.
#[derive(Debug, Default)]
struct Flags {
    pie: bool,
    named: bool,
}

/// One program header.
#[derive(Debug)]
struct Segment {
    kind: u32,
    offset: u64,
    address: u64,
    size: u64,
}

impl Segment {
    fn read(entry: &[u8]) -> Self {
        Self {
            kind: u32::from_le_bytes(array(entry, 0)),
            offset: long(entry, 8),
            address: long(entry, 16),
            size: long(entry, 32),
        }
    }
}

/// Where in the file an address of memory stands.
fn offset_of(segments: &[Segment], address: u64) -> Option<u64> {
    let holds = |segment: &&Segment| {
        segment.kind == PT_LOAD
            && address >= segment.address
            && address - segment.address < segment.size
    };
    let segment = segments.iter().find(holds)?;
    segment.offset.checked_add(address - segment.address)
}

/// The folders of an `RPATH` or `RUNPATH`; an empty one would be the current folder and is nobody's library.
fn search_path(text: &std::ffi::OsStr) -> Vec<OsString> {
    use std::os::unix::ffi::OsStrExt as _;
    let folders = text.as_bytes().split(|&byte| byte == b':');
    folders
        .filter(|folder| !folder.is_empty())
        .map(|folder| OsString::from_vec(folder.to_vec()))
        .collect()
}

fn path_of(name: &[u8]) -> PathBuf {
    OsString::from_vec(name.to_vec()).into()
}

fn bytes(file: &File, offset: u64, size: u64) -> io::Result<Vec<u8>> {
    if size > MOST_BYTES || size > file.metadata()?.len() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let mut buffer = vec![0; usize::try_from(size).unwrap_or(0)];
    file.read_exact_at(&mut buffer, offset)?;
    Ok(buffer)
}

fn half(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(array(bytes, at))
}

fn long(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(array(bytes, at))
}

/// The bytes at `at`; zeros past the end, which no caller reaches: each reads a header of known size.
fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes.get(at..at + N).and_then(|slice| slice.try_into().ok()).unwrap_or([0; N])
}
