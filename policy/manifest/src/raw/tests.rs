use super::*;

/// The document on one line, with the place of each scalar.
fn shown(tree: &Tree<'_>, id: NodeId) -> String {
    let node = tree.node(id);
    match &node.value {
        NodeValue::Scalar { text, plain } => {
            let quote = if *plain { "" } else { "'" };
            format!("{quote}{text}{quote}@{}:{}", node.line, node.column)
        }
        NodeValue::List(items) => {
            let items: Vec<String> = items.iter().map(|item| shown(tree, *item)).collect();
            format!("[{}]", items.join(" "))
        }
        NodeValue::Map(entries) => {
            let entry = |(key, value): &(NodeId, NodeId)| {
                format!("{}={}", shown(tree, *key), shown(tree, *value))
            };
            let entries: Vec<String> = entries.iter().map(entry).collect();
            format!("{{{}}}", entries.join(" "))
        }
    }
}

fn read_text(yaml: &str) -> String {
    let mut faults = Faults::default();
    let answer = match read(yaml.as_bytes(), &mut faults) {
        Ok(tree) => shown(&tree, tree.root()),
        Err(fault) => format!("error: {fault}"),
    };
    if faults.is_empty() {
        answer
    } else {
        format!("{answer}\n{}", faults.into_errors(Vec::new(), |fault| fault.code))
    }
}

#[test]
fn each_document_becomes_a_tree_with_places() {
    for (yaml, tree) in [
        ("", "@1:1"),
        ("# nothing\n", "@1:1"),
        ("a: 1\nb:\n  - x\n  - \"y\"\n", "{a@1:1=1@1:4 b@2:1=[x@3:5 'y'@4:5]}"),
        ("a: 1\r\nb: 2\r\n", "{a@1:1=1@1:4 b@2:1=2@2:4}"),
        ("\u{FEFF}a: 1", "{a@1:1=1@1:4}"),
        ("---\na: 1\n...\n", "{a@2:1=1@2:4}"),
        ("%YAML 1.2\n---\na: 1\n", "{a@3:1=1@3:4}"),
        ("a:\nb: ~\n", "{a@1:1=@1:1 b@2:1=~@2:4}"),
        ("a: &x [1]\nb: *x\n", "{a@1:1=[1@1:8] b@2:1=[1@1:8]}"),
        ("a: !!str 1\nb: ! 2\n", "{a@1:1='1'@1:4 b@2:1='2'@2:4}"),
        ("ä: ü\n", "{ä@1:1=ü@1:4}"),
        ("a: |\n  x\n  y\n", "{a@1:1='x\ny\n'@2:3}"),
    ] {
        assert_eq!(read_text(yaml), tree, "{yaml:?}");
    }
}

#[test]
fn each_broken_document_is_refused_at_its_place() {
    let mut wrong = Vec::new();
    for (yaml, start) in [
        ("a: 1\n---\nb: 2\n", "error: line 2, column 1: a second document begins here; write one"),
        ("a: [1, 2", "error: a[2] (line 2, column 1): the list is not closed"),
        ("a: {x: 2", "error: a (line 2, column 1): the mapping is not closed"),
        ("a:\n\tb: 1\n", "error: a (line 2, column 1): a tab stands where YAML wants blanks"),
        ("a: b: c\n", "error: line 1, column 5: a `: ` stands where no key can be"),
        ("a: *x\n", "error: a (line 1, column 4): the alias names an anchor"),
        ("a: 'x\n", "error: a (line 1, column 4): a quoted text is not closed"),
        ("a: 1\nb\n", "error: line 3, column 1: a `:` is missing after the key"),
        ("a:\n   - x\n  - y\n", "error: line 3, column 3: no key stands here"),
        ("a: @x\n", "error: a (line 1, column 4): a text begins with a character"),
        ("a: \"\\q\"\n", "error: a (line 1, column 4): a quoted text has an escape"),
        ("a: 'x' y\n", "error: a (line 1, column 8): something follows the closing quote"),
        (
            "a: &x [*x]\n",
            "error: a[0] (line 1, column 8): the alias stands inside what it stands for",
        ),
    ] {
        let answer = read_text(yaml);
        if !answer.starts_with(start) {
            wrong.push(format!("{yaml:?}: {answer}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn faults_that_leave_a_tree_are_collected() {
    for (yaml, answer) in [
        (
            "a: 1\nb: {c: 1, c: 2}\na: 2\n",
            "{a@1:1=1@1:4 b@2:1={c@2:5=1@2:8}}\nb.c (line 2, column 11): the key `c` is written a second time\na (line 3, column 1): the key `a` is written a second time",
        ),
        (
            "? [a]\n: 1\nb: 2\n",
            "{b@3:1=2@3:4}\nline 1, column 3: a list or mapping cannot be a key",
        ),
        (
            "a: !secret x\n",
            "{a@1:1=x@1:4}\na (line 1, column 4): the tag `!secret` has no meaning here",
        ),
    ] {
        assert_eq!(read_text(yaml), answer);
    }
}

/// Nine levels of nine aliases each.
fn bomb() -> String {
    let mut yaml = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..10 {
        let item = format!("*a{}", level - 1);
        let _ = writeln!(yaml, "a{level}: &a{level} [{}]", vec![item; 9].join(", "));
    }
    yaml
}

#[test]
fn what_would_grow_without_bound_is_stopped() {
    let chain = |levels: usize| {
        let mut yaml = format!("a0: &a0 {}x{}\n", "[".repeat(20), "]".repeat(20));
        for level in 1..levels {
            let _ = writeln!(
                yaml,
                "a{level}: &a{level} {}*a{}{}",
                "[".repeat(20),
                level - 1,
                "]".repeat(20)
            );
        }
        yaml
    };
    for (yaml, part) in [
        (bomb(), "aliases stand for more than 20000 values"),
        (chain(9), "nested deeper than 64 levels through an alias"),
        ("[".repeat(100_000), "nested deeper than 64 levels"),
        (format!("a: {}", "[".repeat(70)), "nested deeper than 64 levels"),
        ("- ".repeat(1000), "nested deeper than 64 levels"),
        (format!("[{}]", "a,".repeat(300_000)), "the file has more than 100000 values"),
        ("#".repeat((4 << 20) + 1), "the file has 4194305 bytes, at most 4194304 are read"),
    ] {
        let answer = read_text(&yaml);
        assert!(answer.starts_with("error: ") && answer.contains(part), "{answer}");
    }
}
