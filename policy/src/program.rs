//! What is known of programs by their name: interpreters, and those that can make code at run time.

/// Interpreters against which a check of command lines is advisory: `spec/manifest.md` §3.12.
const ADVISORY: [&str; 20] = [
    "sh", "bash", "zsh", "fish", "dash", "ksh", "python", "python3", "perl", "ruby", "node",
    "deno", "bun", "php", "awk", "gawk", "mawk", "lua", "tclsh", "Rscript",
];

/// Interpreters that can map memory and put code of their own there: by a compiler, or by calling C.
const CODE_WRITERS: [&str; 12] = [
    "python", "perl", "ruby", "node", "deno", "bun", "php", "luajit", "java", "tclsh", "Rscript",
    "guile",
];

/// A name without the version many systems append: `python3.12` is `python`, `perl5.36.0` is `perl`.
fn without_version(name: &str) -> &str {
    name.trim_end_matches(|last: char| last.is_ascii_digit() || last == '.').trim_end_matches('-')
}

/// Whether a check that reads command lines cannot see what `name` writes.
pub(crate) fn is_advisory_interpreter(name: &str) -> bool {
    ADVISORY.contains(&name) || ADVISORY.contains(&without_version(name))
}

/// Whether `name` can make and run code in anonymous memory.
pub(crate) fn writes_code_into_memory(name: &str) -> bool {
    CODE_WRITERS.contains(&without_version(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpreters_are_known_with_and_without_a_version() {
        for (name, advisory, writer) in [
            ("bash", true, false),
            ("python3", true, true),
            ("python3.12", true, true),
            ("perl5.36.0", true, true),
            ("lua5.4", true, false),
            ("luajit-2.1", false, true),
            ("awk", true, false),
            ("java", false, true),
            ("git", false, false),
            ("gcc-12", false, false),
            ("pythonic", false, false),
            ("7z", false, false),
            ("3", false, false),
        ] {
            assert_eq!(is_advisory_interpreter(name), advisory, "{name}");
            assert_eq!(writes_code_into_memory(name), writer, "{name}");
        }
    }
}
