//! The bytes of a file as text: UTF-8, without characters that no reader sees as they are.

use std::borrow::Cow;

use crate::code::Code;
use crate::fault::Fault;
use crate::location::Location;

/// The text of a file, without a byte order mark at its begin.
pub(crate) fn check_text(bytes: &[u8]) -> Result<&str, Fault> {
    if bytes.starts_with(&[0xFE, 0xFF]) || bytes.starts_with(&[0xFF, 0xFE]) {
        return Err(refusal(b"", "the file is in UTF-16; save it in UTF-8".to_owned()));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let byte = bytes.get(error.valid_up_to()).copied().unwrap_or_default();
        refusal(before, format!("the byte 0x{byte:02X} is no UTF-8; save the file in UTF-8"))
    })?;
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    match text.char_indices().find(|(_, c)| is_unseen(*c)) {
        None => Ok(text),
        Some((index, c)) => {
            let message = format!("the character U+{:04X} is {}", u32::from(c), kind_of(c));
            Err(refusal(&text.as_bytes()[..index], message))
        }
    }
}

/// A fault right after these bytes.
fn refusal(before: &[u8], message: String) -> Fault {
    let text = String::from_utf8_lossy(before);
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(&text);
    let (mut line, mut column) = (1, 1);
    let mut previous = '\0';
    for c in text.chars() {
        match c {
            '\n' if previous == '\r' => {}
            '\n' | '\r' => (line, column) = (line + 1, 1),
            _ => column += 1,
        }
        previous = c;
    }
    let at = Location { path: String::new(), line, column };
    Fault { code: Code::EMan002, at, message, accepted: None }
}

/// A text for a terminal or a log: characters that are not seen as they are become escapes, so
/// that a file's contents never move the cursor, end a line or reorder what is shown.
pub fn visible(text: &str) -> Cow<'_, str> {
    let unseen =
        |c: char| is_unseen(c) || matches!(c, '\t' | '\n' | '\r' | '\u{2028}' | '\u{2029}');
    if !text.contains(unseen) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if unseen(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Whether a character does not belong into a text that people review: one that YAML forbids, or
/// one that reorders what is shown (CVE-2021-42574).
pub(crate) fn is_unseen(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' | ' '..='~' => false,
        '\u{85}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}' => true,
        c => c.is_control() || is_reordering(c),
    }
}

fn is_reordering(c: char) -> bool {
    matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

fn kind_of(c: char) -> &'static str {
    if is_reordering(c) {
        "one that reorders text; it has no place in a file that people review"
    } else {
        "a control character, which YAML does not allow"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_is_dropped() {
        assert_eq!(check_text("\u{FEFF}name: x".as_bytes()).unwrap(), "name: x");
    }

    #[test]
    fn what_is_shown_moves_no_cursor() {
        assert_eq!(visible("a\u{1b}[31m\n\u{202e}ü\u{85}"), "a\\u{1b}[31m\\n\\u{202e}ü\\u{85}");
        assert!(matches!(visible("plain ü"), Cow::Borrowed(_)));
    }

    #[test]
    fn what_is_no_plain_text_is_refused_at_its_place() {
        for (bytes, shown) in [
            (&b"\xFF\xFEn\0"[..], "line 1, column 1: the file is in UTF-16; save it in UTF-8"),
            (
                b"a: 1\nb: \xE4",
                "line 2, column 4: the byte 0xE4 is no UTF-8; save the file in UTF-8",
            ),
            (
                b"a: \0",
                "line 1, column 4: the character U+0000 is a control character, which YAML does not allow",
            ),
            (
                b"a\r\nb\rc\x1b",
                "line 3, column 2: the character U+001B is a control character, which YAML does not allow",
            ),
            (
                "a\u{202E}b".as_bytes(),
                "line 1, column 2: the character U+202E is one that reorders text; it has no place in a file that people review",
            ),
            (
                "\u{FEFF}a\u{FEFF}".as_bytes(),
                "line 1, column 2: the character U+FEFF is a control character, which YAML does not allow",
            ),
        ] {
            assert_eq!(check_text(bytes).unwrap_err().to_string(), shown);
        }
    }
}
