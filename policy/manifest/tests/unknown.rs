//! Keys that nobody knows: collected at every level, in order, with what they may be meant for.

use std::fmt::Write as _;

use mur_manifest::{Code, Warning, parse};

fn warnings(yaml: &str) -> Vec<String> {
    let manifest = parse(yaml.as_bytes()).expect("the manifest is accepted");
    manifest.warnings().iter().map(ToString::to_string).collect()
}

#[test]
fn a_blocks_own_keys_come_before_those_of_the_blocks_in_it() {
    let yaml = "zeta: 1
name: a
version: '1'
capabilities:
  shell: {alow: [x], allow: [x], zz: 1, baselin_env: []}
  filesystm: {scope: x}
  network: {}
alpha: 2
artifacts:
  - {name: a/b, version: '1', capabilities: {network: {alow: []}}}
  - {name: a/c, version: '1', nmae: x}
runtime: tool
";
    assert_eq!(
        warnings(yaml),
        [
            "the key `alpha` at the top level (line 8, column 1) is not known and was ignored: it may belong to a newer version",
            "the key `zeta` at the top level (line 1, column 1) is not known and was ignored: it may belong to a newer version",
            "the key `alow` in `artifacts[0].capabilities.network` (line 10, column 56) is not known and was ignored: a spelling mistake, meant may be `allow`",
            "the key `nmae` in `artifacts[1]` (line 11, column 31) is not known and was ignored: a spelling mistake, meant may be `name`",
            "the key `filesystm` in `capabilities` (line 6, column 3) is not known and was ignored: a spelling mistake, meant may be `filesystem`",
            "the key `alow` in `capabilities.shell` (line 5, column 11) is not known and was ignored: a spelling mistake, meant may be `allow`",
            "the key `baselin_env` in `capabilities.shell` (line 5, column 41) is not known and was ignored: a spelling mistake, meant may be `baseline_env`",
            "the key `zz` in `capabilities.shell` (line 5, column 34) is not known and was ignored: it may belong to a newer version",
        ]
    );
}

#[test]
fn unknown_keys_have_their_code_and_ignored_versions_have_none() {
    let yaml = "name: a\nversion: '1'\nx: 1\nartifacts:\n  - {name: t, version: '3', source: ./t, local_source: true}\n";
    let manifest = parse(yaml.as_bytes()).unwrap();
    let codes: Vec<Option<Code>> = manifest.warnings().iter().map(Warning::code).collect();
    assert_eq!(codes, [Some(Code::WSec019), None]);
    assert_eq!(
        manifest.warnings()[1].to_string(),
        "artifacts[0].version (line 5, column 24): the version `3` is ignored beside `source`, which makes it `local`"
    );
}

#[test]
fn a_thousand_unknown_keys_are_listed_and_the_rest_is_counted() {
    let mut yaml = String::from("name: a\nversion: '1'\n");
    for index in 0..1200 {
        writeln!(yaml, "key-{index}: 1").unwrap();
    }
    let warnings = warnings(&yaml);
    assert_eq!(warnings.len(), 1001);
    assert_eq!(warnings[1000], "200 more keys are not known and were ignored");
}
