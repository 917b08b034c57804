use super::*;

fn rules(json: serde_json::Value) -> Vec<Rule> {
    parse(&serde_json::from_value::<Vec<LinuxDeviceCgroup>>(json).unwrap()).unwrap()
}

/// Runs the program on one access, as the kernel would.
fn run(rules: &[Rule], kind: u64, access: u8, major: u64, minor: u64) -> bool {
    let code = program::compile(rules);
    let mut r = [0_u64; 11];
    let context = [(u64::from(access) << 16) | kind, major, minor];
    let mut at = 0_usize;
    loop {
        let step = &code[at];
        let target = usize::from(step.registers & 15);
        let source = usize::from(step.registers >> 4);
        let value = i64::from(step.value).cast_unsigned();
        let jump = usize::try_from(step.offset).unwrap_or(0);
        at += 1;
        match step.code {
            0x61 => r[target] = context[usize::try_from(step.offset).unwrap() / 4],
            0xb7 => r[target] = value,
            0xbf => r[target] = r[source],
            0x57 => r[target] &= value,
            0x77 => r[target] >>= value,
            0x05 => at += jump,
            0x55 if r[target] != value => at += jump,
            0x45 if r[target] & value != 0 => at += jump,
            0x55 | 0x45 => {}
            0x95 => return r[0] == 1,
            other => panic!("unknown operation {other:#x}"),
        }
    }
}

const CHAR: u64 = 2;
const BLOCK: u64 = 1;

#[test]
fn the_last_rule_that_fits_decides_each_kind_of_access() {
    let list = rules(serde_json::json!([
        {"allow": true, "type": "c", "major": 10, "minor": 229, "access": "rwm"},
        {"allow": false, "access": "rwm"},
        {"allow": true, "type": "c", "major": 10, "minor": 200, "access": "rw"},
        {"allow": true, "type": "b", "major": 8, "access": "rw"},
        {"allow": false, "type": "b", "major": 8, "minor": 1, "access": "w"},
    ]));
    let (read, write, mknod) = (access::READ, access::WRITE, access::MKNOD);
    for (kind, access, major, minor, allowed) in [
        (CHAR, read | write, 10, 200, true),
        (CHAR, read, 10, 229, false),
        (CHAR, mknod, 10, 229, true),
        (CHAR, mknod | read, 10, 200, true),
        (BLOCK, read, 8, 1, true),
        (BLOCK, read | write, 8, 1, false),
        (BLOCK, read | write, 8, 2, true),
        (BLOCK, read, 9, 0, false),
        (CHAR, read | write, 1, 3, true),
        (CHAR, read, 1, 1, false),
        (CHAR, write, 136, 77, true),
        (BLOCK, read, 1, 3, false),
    ] {
        let seen = run(&list, kind, access, major, minor);
        assert_eq!(seen, allowed, "kind {kind} access {access} {major}:{minor}");
    }
}

#[test]
fn rules_before_a_total_one_are_dropped() {
    let list = rules(serde_json::json!([
        {"allow": true, "type": "c", "major": 10, "access": "r"},
        {"allow": true, "access": "rwm"},
    ]));
    assert!(list[0].is_total() && list[0].verdict == Verdict::Allow);
    assert!(run(&list, BLOCK, access::ALL, 8, 0));
}

#[test]
fn without_rules_only_the_standard_devices_are_left() {
    let list = rules(serde_json::json!([]));
    assert!(run(&list, CHAR, access::READ, 1, 8));
    assert!(!run(&list, CHAR, access::READ, 1, 1));
    assert!(list.iter().all(|rule| rule.origin == Origin::Standard));
}

#[test]
fn a_rule_for_both_kinds_never_becomes_the_kernels_total_rule() {
    for (json, lines) in [
        (serde_json::json!({"allow": false, "access": "rwm"}), vec!["a"]),
        (serde_json::json!({"allow": false, "type": "a", "major": -1, "minor": -1}), vec!["a"]),
        (serde_json::json!({"allow": true, "access": "r"}), vec!["b *:* r", "c *:* r"]),
        (
            serde_json::json!({"allow": true, "major": 1, "access": "rw"}),
            vec!["b 1:* rw", "c 1:* rw"],
        ),
        (
            serde_json::json!({"allow": true, "type": "u", "major": 1, "minor": 3}),
            vec!["c 1:3 rwm"],
        ),
    ] {
        let rule = parse_rule(0, &serde_json::from_value(json.clone()).unwrap()).unwrap();
        assert_eq!(rule.lines(), lines, "{json}");
    }
}

#[test]
fn a_rule_that_is_none_is_named_by_its_place() {
    for (json, message) in [
        (
            serde_json::json!([{"allow": true, "access": "x"}]),
            "`linux.resources.devices[0]`: `x` is not an access; `r`, `w` and `m` are",
        ),
        (
            serde_json::json!([{"allow": true}, {"allow": true, "major": -7}]),
            "`linux.resources.devices[1]`: `-7` is not a device number",
        ),
    ] {
        let list: Vec<LinuxDeviceCgroup> = serde_json::from_value(json).unwrap();
        assert_eq!(parse(&list).unwrap_err().to_string(), message);
    }
}
