//! The page of all codes, `docs/errors.md`, as text.

use std::fmt::Write as _;

use super::{Code, RETIRED};

/// What the families are about, in the order of the page.
const FAMILIES: &[(&str, &str)] = &[
    ("E-MAN", "Manifest"),
    ("E-IO", "Files of the host"),
    ("E-CFG", "Operator configuration"),
    ("E-CAP", "Capabilities"),
    ("E-BUN", "Bundles"),
    ("E-RUN", "Running"),
    ("E-SHM", "The containerd shim"),
    ("W-SEC", "Security warnings"),
    ("W-RUN", "Other warnings"),
];

/// The page of all codes in Markdown.
pub fn document() -> String {
    let mut page = String::from(HEAD);
    for (family, title) in FAMILIES {
        let _ = write!(page, "\n## {title} (`{family}`)\n");
        for code in Code::ALL.iter().filter(|code| code.as_str().starts_with(family)) {
            let info = code.info();
            let _ = write!(page, "\n### {}: {}\n\n{}\n\n", info.code, info.title, info.meaning);
            let _ = write!(page, "* Cause: {}\n* Fix: {}\n", info.cause, info.fix);
            if let Some(reason) = info.absent {
                let _ = writeln!(page, "* Never said by this program: {reason}");
            }
        }
    }
    let _ = write!(page, "\n## Retired numbers\n\nNever used again: ");
    let retired: Vec<String> = RETIRED.iter().map(|code| format!("`{code}`")).collect();
    let _ = writeln!(page, "{}.", retired.join(", "));
    page
}

const HEAD: &str = "# Codes

Every refusal and every qualification has a code. `E-` refuses; `W-` is said once and changes no exit
code. `mur explain --code E-CAP-003` prints one of these entries. Numbers from 200 are ours, the rest
are those of the reference; a number is never used for anything else.

This page is rendered from `policy/manifest/src/code/table.rs`; a test fails when it is stale, and
`UPDATE_DOCS=1 cargo test -p mur-manifest` writes it anew.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_is_on_the_page_once() {
        let page = document();
        for code in Code::ALL {
            assert_eq!(page.matches(&format!("### {code}: ")).count(), 1, "{code}");
        }
    }
}
