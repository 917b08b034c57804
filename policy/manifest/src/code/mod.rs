//! The codes: every refusal (`E-`) and every qualification (`W-`) has one, and one row of `table`.

mod document;
mod table;

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

pub use document::document;
pub use table::Code;

/// Whether a code refuses or qualifies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Severity {
    /// Nothing is started, or what runs is ended.
    Error,
    /// Said once; changes no exit code.
    Warning,
}

/// What there is to know of a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeInfo {
    /// The code as it is printed, as `E-CAP-003`.
    pub code: &'static str,
    /// Whether it refuses or qualifies.
    pub severity: Severity,
    /// A line for lists.
    pub title: &'static str,
    /// What the code says has happened, and what follows from it.
    pub meaning: &'static str,
    /// Where it usually comes from.
    pub cause: &'static str,
    /// What to do about it.
    pub fix: &'static str,
    /// Why this program never says it, where it belongs to a part that is not in it.
    pub absent: Option<&'static str>,
}

/// Numbers that were used once and are never used again.
pub const RETIRED: &[&str] =
    &["E-RUN-031", "W-RUN-005", "W-RUN-006", "W-SEC-020", "W-SEC-022", "W-SEC-026"];

/// An error that has a code, and where it knows more than the table, its own fix.
pub trait Coded: std::error::Error {
    /// The code of this error.
    fn code(&self) -> Code;

    /// What to do in this very case; `None` leaves it to the table.
    fn fix(&self) -> Option<String> {
        None
    }
}

/// A text that is no code of this program.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is no code of this program")]
pub struct UnknownCode(pub String);

impl Code {
    /// The code as it is printed.
    pub const fn as_str(self) -> &'static str {
        self.info().code
    }

    /// Whether it refuses or qualifies.
    pub const fn severity(self) -> Severity {
        self.info().severity
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Code {
    type Err = UnknownCode;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wanted = text.trim().to_ascii_uppercase();
        let found = Self::ALL.iter().copied().find(|code| code.as_str() == wanted);
        found.ok_or_else(|| UnknownCode(text.to_owned()))
    }
}

crate::grammar::text_serde!(Code);

/// Makes the enum, the list and the rows out of one table.
///
/// A row is `Name "CODE" "title"`, then `means`, `cause` and `fix`, and `absent` with the reason
/// where the code belongs to a part that this program does not have.
macro_rules! codes {
    ($(
        $name:ident $code:literal $title:literal
            means $meaning:literal
            cause $cause:literal
            fix $fix:literal
            $( absent $absent:literal )? ;
    )*) => {
        /// A diagnostic code. Numbers are never reused; ours begin at 200 in each family.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $( #[doc = concat!("`", $code, "`: ", $title, ".")] $name, )*
        }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &'static [Self] = &[ $( Self::$name ),* ];

            /// The row of the table.
            pub const fn info(self) -> super::CodeInfo {
                match self {
                    $( Self::$name => super::CodeInfo {
                        code: $code,
                        severity: match $code.as_bytes()[0] {
                            b'W' => super::Severity::Warning,
                            _ => super::Severity::Error,
                        },
                        title: $title,
                        meaning: $meaning,
                        cause: $cause,
                        fix: $fix,
                        absent: codes!(@absent $( $absent )?),
                    }, )*
                }
            }
        }
    };
    (@absent) => { None };
    (@absent $reason:literal) => { Some($reason) };
}
pub(crate) use codes;

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_code_is_written_once_and_none_is_retired() {
        let codes: BTreeSet<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(codes.len(), Code::ALL.len());
        for retired in RETIRED {
            assert!(!codes.contains(retired), "{retired} is used again");
        }
    }

    #[test]
    fn each_code_has_its_name_from_its_number() {
        for code in Code::ALL {
            let name = format!("{code:?}").to_ascii_uppercase();
            assert_eq!(name, code.as_str().replace('-', ""));
            assert_eq!(code.as_str().parse(), Ok(*code));
            assert_eq!(code.as_str().to_lowercase().parse(), Ok(*code));
        }
        assert!("E-CAP-999".parse::<Code>().is_err());
    }

    #[test]
    fn each_family_is_one_of_the_known_and_ours_begin_at_two_hundred() {
        for code in Code::ALL {
            let [kind, family, number] = code.as_str().split('-').collect::<Vec<_>>()[..] else {
                panic!("{code}");
            };
            assert!(["E", "W"].contains(&kind), "{code}");
            let number: u32 = number.parse().unwrap();
            match family {
                "BUN" | "SHM" => assert!(number >= 200, "{code}"),
                "MAN" | "IO" | "CAP" | "RUN" | "SEC" | "CFG" => assert!(number > 0, "{code}"),
                other => panic!("{other}"),
            }
        }
    }

    #[test]
    fn each_row_says_something_in_every_field() {
        for code in Code::ALL {
            let info = code.info();
            for text in [info.title, info.meaning, info.cause, info.fix] {
                assert!(text.len() > 8 && text.trim() == text, "{code}: {text:?}");
            }
            assert!(!info.title.ends_with('.'), "{code}: a title is no sentence");
            for text in [info.meaning, info.cause, info.fix] {
                assert!(text.ends_with('.'), "{code}: {text:?} is a sentence");
            }
        }
    }
}
