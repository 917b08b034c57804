use super::*;

fn faults(lines: &str) -> Vec<String> {
    let yaml = format!("name: acme/x\nversion: '1'\n{lines}\n");
    match Package::parse(yaml.as_bytes()) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.faults().iter().map(ToString::to_string).collect(),
    }
}

#[test]
fn a_package_has_its_defaults() {
    let package = Package::parse(
        b"name: x\nversion: '1'\ncapabilities: {shell: {allow: [sh]}}\nimplementation: rust\nzz: 1\n",
    )
    .unwrap();
    assert_eq!(package.implementation, Implementation::Wasm);
    assert_eq!(package.runtime, Role::Tool);
    assert!(package.required_files().is_empty());
    assert_eq!(package.source.warnings().len(), 1);
    let skill = Package::parse(b"name: x\nversion: '1'\nruntime: skill\n").unwrap();
    assert_eq!(skill.required_files()[0].to_string(), "skill.md");
    let native = Package::parse(b"name: x\nversion: '1'\nimplementation: native\n").unwrap();
    assert_eq!(native.implementation, Implementation::Native);
}

#[test]
fn a_hooks_policy_is_one_that_its_events_honour() {
    for (event, policy) in [
        ("on-stage", "write-manifests"),
        ("on-compaction", "replace-context"),
        ("on-task-end", "reopen-task"),
        ("on-task-start", "seed-context"),
        ("on-tool-call", "deny"),
        ("on-shell", "deny"),
        ("on-session-start", "none"),
        ("on-inference", "none"),
        ("on-session-end", "none"),
    ] {
        for other in CommitPolicy::ALL {
            let lines = format!("runtime: hook\nbinding: [{event}]\ncommit_policy: {other}");
            let accepted = *other == CommitPolicy::None || other.as_str() == policy;
            assert_eq!(faults(&lines).is_empty(), accepted, "{event} {other}");
        }
    }
}

#[test]
fn each_contradiction_is_refused_for_its_own_reason() {
    for (lines, expected) in [
        ("binding: [on-shell]", &["binding (line 3, column 10): the key is for hooks alone"][..]),
        (
            "runtime: hook\nbinding: [on-noon]",
            &[
                "binding[0] (line 4, column 11): found the text `on-noon`; write `on-stage`, `on-session-start`, `on-task-start`, `on-inference`, `on-tool-call`, `on-shell`, `on-compaction`, `on-task-end` or `on-session-end`",
            ],
        ),
        (
            "runtime: hook\ncommit_policy: deny",
            &[
                "commit_policy (line 4, column 16): no event of `binding` can `deny`; write `none`, or name an event that can in `binding`",
            ],
        ),
        ("runtime: hook\ncommit_policy: reopen-task", &[]),
        (
            "runtime: hook\nbinding: [on-task-end]\nexecution_mode: async\ncommit_policy: reopen-task",
            &[
                "commit_policy (line 6, column 16): `reopen-task` needs an answer, and an `async` hook gives none; write `none`, or `execution_mode: blocking`",
            ],
        ),
        (
            "runtime: hook\nbinding: [on-stage]\nexecution_mode: async",
            &[
                "execution_mode (line 5, column 17): `on-stage` waits for its hooks; write `blocking`",
            ],
        ),
        (
            "requires_files: [/etc/passwd, a/../b, '', ok]",
            &[
                "requires_files[0] (line 3, column 18): `/etc/passwd` is absolute; write a relative path without `..`, as `docs/skill.md`",
                "requires_files[1] (line 3, column 31): `a/../b` has a `..`; write a relative path without `..`, as `docs/skill.md`",
                "requires_files[2] (line 3, column 39): the entry is empty",
            ],
        ),
        (
            "execution: docker",
            &[
                "execution (line 3, column 12): found the text `docker`; write `wasm`, `native` or `static`",
            ],
        ),
    ] {
        assert_eq!(faults(lines), expected, "{lines}");
    }
}

#[test]
fn a_need_has_one_form() {
    for (need, accepted) in [
        ("{library: libfoo.so.1}", true),
        ("{file: data.bin, beside: libfoo.so.1}", true),
        ("{program_folder: share/x}", true),
        ("{system: fonts}", true),
        ("{system: ca_bundle}", true),
        ("{etc: mime.types}", true),
        ("{}", false),
        ("{file: data.bin}", false),
        ("{beside: libfoo.so.1}", false),
        ("{library: a, etc: b}", false),
        ("{etc: ../shadow}", false),
        ("{library: /lib/x.so}", false),
        ("{program_folder: ../x}", false),
        ("{system: sound}", false),
    ] {
        let lines = format!("programs: {{convert: {{needs: [{need}]}}}}");
        assert_eq!(faults(&lines).is_empty(), accepted, "{need}: {:?}", faults(&lines));
    }
}
