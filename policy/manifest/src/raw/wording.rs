//! What the YAML crate says, in words for the person who wrote the file.

/// Parts of the crate's messages, and what they mean for the writer. The first that fits counts.
const WORDS: &[(&str, &str)] = &[
    ("recursion limit", "nested deeper than 64 levels"),
    ("tab", "a tab stands where YAML wants blanks; indent with blanks alone"),
    ("flow sequence", "the list is not closed with `]`, or a comma is missing"),
    ("flow mapping", "the mapping is not closed with `}`, or a comma is missing"),
    ("expected node content", "a value is missing here, or a list or mapping above is not closed"),
    ("misplaced bracket", "a bracket is closed that was never opened"),
    (
        "mapping values are not allowed",
        "a `: ` stands where no key can be; put the text in quotes, or correct the indentation",
    ),
    ("unknown anchor", "the alias names an anchor that is not defined above"),
    ("end of stream", "a quoted text is not closed"),
    ("document indicator", "a quoted text is not closed"),
    ("simple key", "a `:` is missing after the key, or the line is indented wrongly"),
    (
        "did not find expected key",
        "no key stands here; the indentation does not fit the lines above",
    ),
    ("expected '-' indicator", "no `- ` stands here; the indentation does not fit the list above"),
    ("invalid indentation", "the indentation does not fit the lines above"),
    (
        "block sequence entries are not allowed",
        "a `- ` stands where no list can be; put the list on lines of its own",
    ),
    (
        "escape",
        "a quoted text has an escape that YAML does not know; use single quotes for a plain `\\`",
    ),
    (
        "unexpected character",
        "a text begins with a character that has a meaning in YAML; put it in quotes",
    ),
    ("trailing content", "something follows the closing quote; quote the whole text"),
    (
        "<document",
        "something stands here that belongs to nothing above; the indentation does not fit",
    ),
];

/// The words for a message of the YAML crate.
pub(super) fn words_for(info: &str) -> String {
    let known = WORDS.iter().find(|(part, _)| info.contains(part));
    known.map_or_else(|| format!("the YAML is broken: {info}"), |(_, words)| (*words).to_owned())
}

/// Where the fault of a message is. For a tab the crate names the scalar before it; the writer
/// wants the first line from there on that is indented with one.
pub(super) fn place_of(info: &str, text: &str, found: (u32, u32)) -> (u32, u32) {
    if !info.contains("tab") {
        return found;
    }
    let tab_of = |line: &str| {
        let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
        line[..blanks].find('\t')
    };
    let mut lines = (1..).zip(text.lines()).skip_while(|(number, _)| *number < found.0);
    let tab = lines.find_map(|(number, line)| Some((number, tab_of(line)?)));
    tab.map_or(found, |(line, column)| (line, u32::try_from(column + 1).unwrap_or(u32::MAX)))
}
