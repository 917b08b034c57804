//! Which known key an unknown one was meant to be.

/// The known key nearest to `unknown`, where one is near enough.
///
/// Near enough is a distance of at most a third of the longer key, and never less than one. The
/// smallest distance wins, and among equal ones the first of `known`.
pub(crate) fn suggest<'k>(unknown: &str, known: &[&'k str]) -> Option<&'k str> {
    let unknown: Vec<char> = unknown.chars().collect();
    let mut best: Option<(usize, &'k str)> = None;
    for key in known {
        let candidate: Vec<char> = key.chars().collect();
        let longer = unknown.len().max(candidate.len());
        let limit = (longer / 3).max(1);
        if unknown.len().abs_diff(candidate.len()) > limit {
            continue;
        }
        let distance = distance(&unknown, &candidate);
        if distance <= limit && best.is_none_or(|(smallest, _)| distance < smallest) {
            best = Some((distance, key));
        }
    }
    best.map(|(_, key)| key)
}

/// Restricted Damerau–Levenshtein distance: an insertion, a deletion, a substitution and the
/// exchange of two neighbours cost one each.
fn distance(a: &[char], b: &[char]) -> usize {
    let width = b.len() + 1;
    let mut two_back = vec![0; width];
    let mut above: Vec<usize> = (0..width).collect();
    let mut row = vec![0; width];
    for (i, of_a) in a.iter().enumerate() {
        row[0] = i + 1;
        for (j, of_b) in b.iter().enumerate() {
            let substituted = above[j] + usize::from(of_a != of_b);
            let mut cost = substituted.min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *of_a == b[j - 1] && a[i - 1] == *of_b {
                cost = cost.min(two_back[j - 1] + 1);
            }
            row[j + 1] = cost;
        }
        std::mem::swap(&mut two_back, &mut above);
        std::mem::swap(&mut above, &mut row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_an_exchange_as_one() {
        for (a, b, wanted) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "abc", 0),
            ("abc", "acb", 1),
            ("allow", "alow", 1),
            ("kitten", "sitting", 3),
            ("ca", "abc", 3),
            ("größe", "grösse", 2),
        ] {
            let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
            assert_eq!((distance(&a, &b), distance(&b, &a)), (wanted, wanted));
        }
    }

    #[test]
    fn a_suggestion_is_near_and_the_first_of_the_nearest() {
        let known = &["allow", "strip_env", "baseline_env", "scope"];
        for (unknown, suggestion) in [
            ("alow", Some("allow")),
            ("allwo", Some("allow")),
            ("strip-env", Some("strip_env")),
            ("baselin_env", Some("baseline_env")),
            ("stripped_env", Some("strip_env")),
            ("deny", None),
            ("a", None),
            ("", None),
            ("scoop", None),
            ("scpoe", Some("scope")),
        ] {
            assert_eq!(suggest(unknown, known), suggestion, "{unknown}");
        }
        assert_eq!(suggest("ac", &["ab", "ad"]), Some("ab"));
        assert_eq!(suggest(&"x".repeat(1 << 20), known), None);
    }
}
