//! The architectures a process on this machine can call by, and their system call numbers.

use oci_spec::runtime::Arch;

use super::calls::{CALLS, NONE};

/// A column of the table of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Table {
    X86_64,
    X86,
    X32,
    Aarch64,
    Arm,
}

/// x32 calls are calls of x86-64 with this bit in their number.
pub(super) const X32_BIT: u32 = 0x4000_0000;

impl Table {
    /// `AUDIT_ARCH_*`, as the kernel tells it to a filter (`linux/audit.h`).
    pub(super) const fn audit(self) -> u32 {
        match self {
            Self::X86_64 | Self::X32 => 0xc000_003e,
            Self::X86 => 0x4000_0003,
            Self::Aarch64 => 0xc000_00b7,
            Self::Arm => 0x4000_0028,
        }
    }

    /// Whether arguments have 32 bits: then what is above them means nothing.
    pub(super) const fn narrow(self) -> bool {
        matches!(self, Self::X86 | Self::X32 | Self::Arm)
    }

    const fn column(self) -> usize {
        match self {
            Self::X86_64 => 0,
            Self::X86 => 1,
            Self::X32 => 2,
            Self::Aarch64 => 3,
            Self::Arm => 4,
        }
    }

    /// The number of a call; `None`: this architecture has no such call.
    pub(super) fn number(self, name: &str) -> Option<u32> {
        let row = CALLS.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
        let number = CALLS[row].1[self.column()];
        (number != NONE).then_some(number)
    }

    /// Its name in a profile.
    const fn declared_as(self) -> Arch {
        match self {
            Self::X86_64 => Arch::ScmpArchX86_64,
            Self::X86 => Arch::ScmpArchX86,
            Self::X32 => Arch::ScmpArchX32,
            Self::Aarch64 => Arch::ScmpArchAarch64,
            Self::Arm => Arch::ScmpArchArm,
        }
    }
}

/// What the kernel below this build can report: its own architecture first, then those it is
/// compatible with. `None`: nobody wrote the tables for it yet.
pub(super) const fn reachable() -> Option<(Table, &'static [Table])> {
    if cfg!(target_arch = "x86_64") {
        Some((Table::X86_64, &[Table::X86, Table::X32]))
    } else if cfg!(target_arch = "aarch64") {
        Some((Table::Aarch64, &[Table::Arm]))
    } else {
        None
    }
}

/// The architectures of a profile that can be met here. The native one always is; what no kernel
/// here ever reports needs no branch.
pub(super) fn chosen(declared: &[Arch]) -> Option<Vec<Table>> {
    let (native, compatible) = reachable()?;
    let mut tables = vec![native];
    let asked = |table: &Table| declared.contains(&table.declared_as());
    tables.extend(compatible.iter().copied().filter(asked));
    Some(tables)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_gives_known_numbers() {
        assert!(CALLS.is_sorted_by(|a, b| a.0 < b.0));
        for (table, name, number) in [
            (Table::X86_64, "read", Some(0)),
            (Table::X86, "socketcall", Some(102)),
            (Table::X86_64, "socketcall", None),
            (Table::X32, "ioctl", Some(514)),
            (Table::Aarch64, "openat", Some(56)),
            (Table::Aarch64, "open", None),
            (Table::Arm, "set_tls", Some(0x000f_0005)),
            (Table::X86_64, "landlock_restrict_self", Some(446)),
            (Table::X86_64, "no_such_call", None),
        ] {
            assert_eq!(table.number(name), number, "{name}");
        }
    }
}
