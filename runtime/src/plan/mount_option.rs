//! The words of `mounts[].options`, as one table.

use super::mount::{Attributes, Propagation};
use crate::sys::mount::{
    ATTR_ATIME, ATTR_NOATIME, ATTR_NODEV, ATTR_NODIRATIME, ATTR_NOEXEC, ATTR_NOSUID,
    ATTR_NOSYMFOLLOW, ATTR_RDONLY, ATTR_STRICTATIME,
};

/// What one word means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MountOption<'a> {
    /// Accepted, changes nothing.
    Nothing,
    /// A mount attribute; `flag` is the same for mount(2).
    Attribute { change: Attributes, flag: u64, part: TreePart },
    /// A flag of the file system, only for mount(2).
    Superblock { set: u64, clear: u64 },
    /// `bind`, `rbind`.
    Bind { recursive: bool },
    /// `idmap`, `ridmap`.
    Idmap { recursive: bool },
    /// How mount events travel.
    Propagation(Propagation),
    /// `tmpcopyup`.
    CopyUp,
    /// For the file system.
    Data(&'a str),
}

/// Which mounts an attribute is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TreePart {
    /// The mount.
    Top,
    /// The mount and all beneath it.
    All,
}

/// Word that sets, word that clears, attribute bits, bits always cleared with them, mount(2) flag.
/// With `r` in front, both words are for the whole tree.
const ATTRIBUTES: [(&str, &str, u64, u64, u64); 9] = [
    ("ro", "rw", ATTR_RDONLY, 0, libc::MS_RDONLY),
    ("nosuid", "suid", ATTR_NOSUID, 0, libc::MS_NOSUID),
    ("nodev", "dev", ATTR_NODEV, 0, libc::MS_NODEV),
    ("noexec", "exec", ATTR_NOEXEC, 0, libc::MS_NOEXEC),
    ("nodiratime", "diratime", ATTR_NODIRATIME, 0, libc::MS_NODIRATIME),
    ("noatime", "atime", ATTR_NOATIME, ATTR_ATIME, libc::MS_NOATIME),
    ("strictatime", "nostrictatime", ATTR_STRICTATIME, ATTR_ATIME, libc::MS_STRICTATIME),
    ("relatime", "norelatime", 0, ATTR_ATIME, libc::MS_RELATIME),
    ("nosymfollow", "symfollow", ATTR_NOSYMFOLLOW, 0, 0x100),
];

/// Words about the file system: what they set and clear for mount(2).
const SUPERBLOCK: [(&str, u64, u64); 12] = [
    ("async", 0, libc::MS_SYNCHRONOUS),
    ("sync", libc::MS_SYNCHRONOUS, 0),
    ("dirsync", libc::MS_DIRSYNC, 0),
    ("iversion", libc::MS_I_VERSION, 0),
    ("noiversion", 0, libc::MS_I_VERSION),
    ("lazytime", 1 << 25, 0),
    ("nolazytime", 0, 1 << 25),
    ("mand", libc::MS_MANDLOCK, 0),
    ("nomand", 0, libc::MS_MANDLOCK),
    ("silent", libc::MS_SILENT, 0),
    ("loud", 0, libc::MS_SILENT),
    ("remount", libc::MS_REMOUNT, 0),
];

/// Every word that is not data, for `features`.
pub fn known_words() -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for (set, clear, ..) in ATTRIBUTES {
        words.extend([set, clear].map(str::to_owned));
        words.extend([set, clear].map(|word| format!("r{word}")));
    }
    words.extend(SUPERBLOCK.iter().map(|(word, ..)| (*word).to_owned()));
    let plain = ["bind", "rbind", "defaults", "idmap", "ridmap", "tmpcopyup"];
    words.extend(plain.map(str::to_owned));
    for kind in ["shared", "slave", "private", "unbindable"] {
        words.extend([kind.to_owned(), format!("r{kind}")]);
    }
    words.sort_unstable();
    words
}

/// Reads one word; what no table knows is data for the file system.
pub(crate) fn parse(word: &str) -> MountOption<'_> {
    match word {
        "" | "defaults" => return MountOption::Nothing,
        "bind" => return MountOption::Bind { recursive: false },
        "rbind" => return MountOption::Bind { recursive: true },
        "idmap" => return MountOption::Idmap { recursive: false },
        "ridmap" => return MountOption::Idmap { recursive: true },
        "tmpcopyup" => return MountOption::CopyUp,
        _ => {}
    }
    if let Some(propagation) = Propagation::parse(word) {
        return MountOption::Propagation(propagation);
    }
    if let Some(found) = attribute(word, TreePart::Top) {
        return found;
    }
    if let Some(found) = word.strip_prefix('r').and_then(|word| attribute(word, TreePart::All)) {
        return found;
    }
    match SUPERBLOCK.iter().find(|(name, ..)| *name == word) {
        Some(&(_, set, clear)) => MountOption::Superblock { set, clear },
        None => MountOption::Data(word),
    }
}

fn attribute(word: &str, part: TreePart) -> Option<MountOption<'static>> {
    ATTRIBUTES.iter().find_map(|&(set, clear, bits, with, flag)| {
        if word == set {
            let change = Attributes { set: bits, clear: with };
            Some(MountOption::Attribute { change, flag, part })
        } else if word == clear {
            // mount_setattr(2) takes access-time settings away by clearing all of them.
            let clear = if with == 0 { bits } else { with };
            let change = Attributes { set: 0, clear };
            Some(MountOption::Attribute { change, flag: 0, part })
        } else {
            None
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(word: &str) -> (u64, u64, TreePart) {
        let option = parse(word);
        let MountOption::Attribute { change, part, .. } = option else {
            panic!("{word}: {option:?}")
        };
        (change.set, change.clear, part)
    }

    #[test]
    fn each_attribute_word_sets_or_clears_for_the_part_it_names() {
        for (word, expected) in [
            ("ro", (ATTR_RDONLY, 0, TreePart::Top)),
            ("rw", (0, ATTR_RDONLY, TreePart::Top)),
            ("rro", (ATTR_RDONLY, 0, TreePart::All)),
            ("rrw", (0, ATTR_RDONLY, TreePart::All)),
            ("rnosuid", (ATTR_NOSUID, 0, TreePart::All)),
            ("relatime", (0, ATTR_ATIME, TreePart::Top)),
            ("rrelatime", (0, ATTR_ATIME, TreePart::All)),
            ("rnoatime", (ATTR_NOATIME, ATTR_ATIME, TreePart::All)),
            ("noatime", (ATTR_NOATIME, ATTR_ATIME, TreePart::Top)),
            ("ratime", (0, ATTR_ATIME, TreePart::All)),
            ("strictatime", (ATTR_STRICTATIME, ATTR_ATIME, TreePart::Top)),
            ("rsymfollow", (0, ATTR_NOSYMFOLLOW, TreePart::All)),
        ] {
            assert_eq!(change(word), expected, "{word}");
        }
    }

    #[test]
    fn words_that_begin_with_r_are_not_mistaken_for_recursive_ones() {
        assert_eq!(parse("remount"), MountOption::Superblock { set: libc::MS_REMOUNT, clear: 0 });
        assert_eq!(parse("rbind"), MountOption::Bind { recursive: true });
        assert_eq!(parse("rsize=4096"), MountOption::Data("rsize=4096"));
        let rslave = Propagation { kind: libc::MS_SLAVE, recursive: true };
        assert_eq!(parse("rslave"), MountOption::Propagation(rslave));
    }

    #[test]
    fn every_known_word_is_read_as_something_else_than_data() {
        for word in known_words() {
            assert!(!matches!(parse(&word), MountOption::Data(_)), "{word}");
        }
        assert_eq!(parse("mode=755"), MountOption::Data("mode=755"));
    }
}
