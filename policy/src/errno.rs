//! Names and words of the error numbers that a probe or a refusal can report.

/// `EPERM`.
pub const EPERM: u32 = 1;
/// `EACCES`.
pub const EACCES: u32 = 13;
/// `EINVAL`.
pub const EINVAL: u32 = 22;
/// `ENOSPC`.
pub const ENOSPC: u32 = 28;
/// `ENOSYS`.
pub const ENOSYS: u32 = 38;
/// `EUSERS`.
pub const EUSERS: u32 = 87;

/// What Linux calls them on every architecture that shares the generic numbers.
const NAMES: [(i32, &str, &str); 26] = [
    (1, "EPERM", "operation not permitted"),
    (2, "ENOENT", "no such file or directory"),
    (3, "ESRCH", "no such process"),
    (5, "EIO", "input/output error"),
    (9, "EBADF", "bad file descriptor"),
    (11, "EAGAIN", "resource temporarily unavailable"),
    (12, "ENOMEM", "cannot allocate memory"),
    (13, "EACCES", "permission denied"),
    (16, "EBUSY", "device or resource busy"),
    (17, "EEXIST", "file exists"),
    (18, "EXDEV", "invalid cross-device link"),
    (19, "ENODEV", "no such device"),
    (20, "ENOTDIR", "not a directory"),
    (21, "EISDIR", "is a directory"),
    (22, "EINVAL", "invalid argument"),
    (23, "ENFILE", "too many open files in system"),
    (24, "EMFILE", "too many open files"),
    (28, "ENOSPC", "no space left on device"),
    (30, "EROFS", "read-only file system"),
    (38, "ENOSYS", "function not implemented"),
    (40, "ELOOP", "too many levels of symbolic links"),
    (75, "EOVERFLOW", "value too large for defined data type"),
    (87, "EUSERS", "too many users"),
    (95, "EOPNOTSUPP", "operation not supported"),
    (98, "EADDRINUSE", "address already in use"),
    (116, "ESTALE", "stale file handle"),
];

/// The number's name and its words, as `EPERM, operation not permitted`; the number alone when unknown.
pub fn describe(errno: i32) -> String {
    NAMES.iter().find(|(number, ..)| *number == errno).map_or_else(
        || format!("error number {errno}"),
        |(_, name, words)| format!("{name}, {words}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_told_by_name_and_in_words() {
        assert_eq!(describe(1), "EPERM, operation not permitted");
        assert_eq!(describe(28), "ENOSPC, no space left on device");
        assert_eq!(describe(4095), "error number 4095");
    }

    #[test]
    fn the_constants_are_those_of_the_table() {
        for (number, name) in [
            (EPERM, "EPERM"),
            (EACCES, "EACCES"),
            (EINVAL, "EINVAL"),
            (ENOSPC, "ENOSPC"),
            (ENOSYS, "ENOSYS"),
            (EUSERS, "EUSERS"),
        ] {
            let told = describe(i32::try_from(number).unwrap());
            assert!(told.starts_with(&format!("{name}, ")), "{told}");
        }
    }
}
