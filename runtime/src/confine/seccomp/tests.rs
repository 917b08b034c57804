//! Filters are run by a small machine of our own, and compared with what the profile says.

use oci_spec::runtime::{LinuxSeccomp, LinuxSeccompAction, LinuxSeccompArg, LinuxSeccompOperator};

use super::arch::{Table, X32_BIT};
use super::bpf::Instruction;
use super::calls::CALLS;
use super::*;

const ALLOW: u32 = 0x7fff_0000;
const fn errno(number: u32) -> u32 {
    0x0005_0000 | number
}

/// One call as a filter sees it: `struct seccomp_data`.
#[derive(Debug, Clone, Copy)]
struct Call {
    arch: u32,
    number: u32,
    arguments: [u64; 6],
}

impl Call {
    const fn of(table: Table, number: u32) -> Self {
        Self { arch: table.audit(), number, arguments: [0; 6] }
    }

    fn named(table: Table, name: &str) -> Self {
        let bit = if table == Table::X32 { X32_BIT } else { 0 };
        Self::of(table, table.number(name).unwrap() | bit)
    }

    const fn with(mut self, index: usize, value: u64) -> Self {
        self.arguments[index] = value;
        self
    }

    #[expect(clippy::cast_possible_truncation, reason = "words of a value")]
    fn word(self, offset: u32) -> u32 {
        match offset {
            0 => self.number,
            4 => self.arch,
            16..64 => {
                let value = self.arguments[(offset as usize - 16) / 8];
                if offset.is_multiple_of(8) { value as u32 } else { (value >> 32) as u32 }
            }
            _ => panic!("offset {offset}"),
        }
    }
}

/// Runs a program; panics where the kernel would refuse it.
fn run(filter: &SyscallFilter, call: Call) -> u32 {
    let program: Vec<Instruction> =
        filter.program.iter().map(|&word| Instruction::unpack(word)).collect();
    let (mut at, mut loaded) = (0, 0u32);
    loop {
        let Instruction { code, jt, jf, k } = program[at];
        at += 1;
        let jump = |taken: bool| usize::from(if taken { jt } else { jf });
        match code {
            0x20 => loaded = call.word(k),
            0x54 => loaded &= k,
            0x05 => at += k as usize,
            0x15 => at += jump(loaded == k),
            0x25 => at += jump(loaded > k),
            0x35 => at += jump(loaded >= k),
            0x06 => return k,
            _ => panic!("instruction {code:#x}"),
        }
    }
}

fn profile(json: serde_json::Value) -> LinuxSeccomp {
    serde_json::from_value(json).unwrap()
}

fn compiled(json: serde_json::Value) -> SyscallFilter {
    compile(&profile(json)).unwrap()
}

/// What the profile says of a call, straight from its text: the first entry with conditions that hold,
/// else the first without, else the default.
fn expected(profile: &LinuxSeccomp, table: Table, name: &str, call: Call) -> u32 {
    let answer = |action: LinuxSeccompAction, errno_ret| action.as_u32(errno_ret);
    let entries = profile.syscalls().iter().flatten();
    let named = entries.filter(|entry| entry.names().iter().any(|other| other == name));
    let mut plain = None;
    for entry in named {
        let args = entry.args().as_deref().unwrap_or_default();
        let with = answer(entry.action(), entry.errno_ret());
        let twice = args.iter().any(|a| args.iter().filter(|b| b.index() == a.index()).count() > 1);
        let holds = |arg: &LinuxSeccompArg| holds(arg, call, table);
        if args.is_empty() {
            plain = plain.or(Some(with));
        } else if if twice { args.iter().any(holds) } else { args.iter().all(holds) } {
            return with;
        }
    }
    plain.unwrap_or_else(|| answer(profile.default_action(), profile.default_errno_ret()))
}

fn holds(arg: &LinuxSeccompArg, call: Call, table: Table) -> bool {
    let cut = |value: u64| if table.narrow() { value & 0xffff_ffff } else { value };
    let (have, want) = (cut(call.arguments[arg.index()]), cut(arg.value()));
    match arg.op() {
        LinuxSeccompOperator::ScmpCmpNe => have != want,
        LinuxSeccompOperator::ScmpCmpLt => have < want,
        LinuxSeccompOperator::ScmpCmpLe => have <= want,
        LinuxSeccompOperator::ScmpCmpEq => have == want,
        LinuxSeccompOperator::ScmpCmpGe => have >= want,
        LinuxSeccompOperator::ScmpCmpGt => have > want,
        LinuxSeccompOperator::ScmpCmpMaskedEq => have & want == cut(arg.value_two().unwrap_or(0)),
    }
}

/// A profile of the size engines use: an allow-list with holes, every operator, several errnos.
fn large() -> serde_json::Value {
    let allowed: Vec<&str> = CALLS
        .iter()
        .map(|(name, _)| *name)
        .enumerate()
        .filter(|(at, name)| at % 7 != 3 && !["socket", "clone", "personality"].contains(name))
        .map(|(_, name)| name)
        .collect();
    let ops = ["NE", "LT", "LE", "EQ", "GE", "GT"];
    let by_operator = ops.iter().zip(["dup", "dup3", "fcntl", "lseek", "ftruncate", "madvise"]).map(
        |(op, name)| {
            serde_json::json!({"names": [name], "action": "SCMP_ACT_ERRNO", "errnoRet": 22, "args": [
                {"index": 1, "value": 0x0000_0005_8000_0007_u64, "op": format!("SCMP_CMP_{op}")}]})
        },
    );
    let mut rules: Vec<serde_json::Value> = by_operator.collect();
    rules.extend([
        serde_json::json!({"names": allowed, "action": "SCMP_ACT_ALLOW"}),
        serde_json::json!({"names": ["socket"], "action": "SCMP_ACT_ALLOW",
            "args": [{"index": 0, "value": 2, "op": "SCMP_CMP_EQ"}]}),
        serde_json::json!({"names": ["socket"], "action": "SCMP_ACT_ERRNO", "errnoRet": 13,
            "args": [{"index": 0, "value": 16, "op": "SCMP_CMP_EQ"}]}),
        serde_json::json!({"names": ["clone"], "action": "SCMP_ACT_ALLOW", "args": [
            {"index": 0, "value": 0x7e02_0000, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ"}]}),
        serde_json::json!({"names": ["personality"], "action": "SCMP_ACT_ALLOW", "args": [
            {"index": 0, "value": 0, "op": "SCMP_CMP_EQ"},
            {"index": 0, "value": 0xffff_ffff_u64, "op": "SCMP_CMP_EQ"}]}),
        serde_json::json!({"names": ["mount"], "action": "SCMP_ACT_KILL_PROCESS", "args": [
            {"index": 0, "value": 1, "op": "SCMP_CMP_NE"},
            {"index": 3, "value": 0x1_0000_0000_u64, "op": "SCMP_CMP_GE"}]}),
        serde_json::json!({"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": 38}),
    ]);
    serde_json::json!({"defaultAction": "SCMP_ACT_ERRNO", "defaultErrnoRet": 1,
        "architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32",
                          "SCMP_ARCH_AARCH64", "SCMP_ARCH_ARM"], "syscalls": rules})
}

#[test]
fn every_call_gets_what_the_profile_says_whatever_its_arguments() {
    let json = large();
    let profile = profile(json);
    let filter = compile(&profile).unwrap();
    let (native, compatible) = arch::reachable().unwrap();
    let values = [
        0,
        1,
        2,
        3,
        16,
        0x7e02_0000,
        0x0002_0000,
        0x8000_0006,
        0x8000_0007,
        0x8000_0008,
        0xffff_ffff,
        0x1_0000_0000,
        0x5_8000_0006,
        0x5_8000_0007,
        0x5_8000_0008,
        0x4_ffff_ffff,
        0x6_0000_0000,
        u64::MAX,
    ];
    for &table in std::iter::once(&native).chain(compatible) {
        let spoken =
            profile.syscalls().iter().flatten().flat_map(oci_spec::runtime::LinuxSyscall::names);
        let newest = spoken.filter_map(|name| table.number(name)).max().unwrap();
        for (name, _) in CALLS.iter().filter(|(name, _)| table.number(name).is_some()) {
            if table == Table::X86 && ["socketcall", "ipc"].contains(name) {
                continue;
            }
            for index in [0, 1, 3] {
                for value in values {
                    let call = Call::named(table, name).with(index, value);
                    let mut want = expected(&profile, table, name, call);
                    if table.number(name).unwrap() > newest {
                        want = NOT_THERE;
                    }
                    assert_eq!(run(&filter, call), want, "{table:?} {name}({index}: {value:#x})");
                }
            }
        }
    }
}

#[test]
fn a_filter_of_two_answers_agrees_with_another_compiler() {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};
    let (native, _) = arch::reachable().unwrap();
    let names: Vec<&str> = CALLS.iter().map(|(name, _)| *name).step_by(2).collect();
    let json = serde_json::json!({"defaultAction": "SCMP_ACT_ERRNO", "defaultErrnoRet": 38,
        "syscalls": [{"names": names, "action": "SCMP_ACT_ALLOW"}]});
    let ours = compiled(json);
    let rules = names.iter().filter_map(|name| native.number(name));
    let rules = rules.map(|number| (i64::from(number), Vec::new())).collect();
    let target =
        if cfg!(target_arch = "x86_64") { TargetArch::x86_64 } else { TargetArch::aarch64 };
    let filter =
        SeccompFilter::new(rules, SeccompAction::Errno(38), SeccompAction::Allow, target).unwrap();
    let theirs: BpfProgram = filter.try_into().unwrap();
    let theirs = SyscallFilter {
        program: theirs
            .iter()
            .map(|i| Instruction { code: i.code, jt: i.jt, jf: i.jf, k: i.k }.pack())
            .collect(),
        ..ours.clone()
    };
    for number in 0..600 {
        let call = Call::of(native, number);
        assert_eq!(run(&ours, call), run(&theirs, call), "{number}");
    }
    assert!(ours.program.len() < theirs.program.len(), "a tree is shorter than a list");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn what_is_newer_foreign_or_no_number_at_all_is_told_apart() {
    let json = serde_json::json!({"defaultAction": "SCMP_ACT_ERRNO",
        "syscalls": [{"names": ["read", "landlock_restrict_self"], "action": "SCMP_ACT_ALLOW"}]});
    let filter = compiled(json);
    let native = |number| run(&filter, Call::of(Table::X86_64, number));
    assert_eq!(native(0), ALLOW);
    assert_eq!(native(165), errno(1), "older than the newest: denied, not missing");
    assert_eq!(native(447), NOT_THERE);
    assert_eq!(native(4095), NOT_THERE);
    assert_eq!(native(X32_BIT), KILL_PROCESS, "x32 is not declared");
    assert_eq!(native(X32_BIT | 0x208), KILL_PROCESS);
    assert_eq!(native(u32::MAX), NOT_THERE);
    assert_eq!(run(&filter, Call::of(Table::X86, 3)), KILL_PROCESS, "i386 is not declared");
    assert_eq!(run(&filter, Call::of(Table::Aarch64, 63)), KILL_PROCESS);

    let open = serde_json::json!({"defaultAction": "SCMP_ACT_ALLOW",
        "syscalls": [{"names": ["mount"], "action": "SCMP_ACT_ERRNO"}]});
    let open = compiled(open);
    assert_eq!(run(&open, Call::of(Table::X86_64, 4095)), ALLOW, "nothing is denied by default");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn socketcall_is_no_way_around_what_is_said_of_socket() {
    let deny = serde_json::json!({"defaultAction": "SCMP_ACT_ALLOW",
        "architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86"], "syscalls": [
            {"names": ["socket"], "action": "SCMP_ACT_ERRNO", "errnoRet": 13, "args": [
                {"index": 0, "value": 40, "op": "SCMP_CMP_EQ"}]},
            {"names": ["shmget"], "action": "SCMP_ACT_ERRNO"}]});
    let deny = compiled(deny);
    let gate = |filter: &SyscallFilter, name, first| {
        run(filter, Call::named(Table::X86, name).with(0, first))
    };
    assert_eq!(
        gate(&deny, "socketcall", 1),
        errno(13),
        "its arguments cannot be read: the strictest"
    );
    assert_eq!(gate(&deny, "socketcall", 3), ALLOW);
    assert_eq!(gate(&deny, "ipc", 0x1_0017), errno(1), "the version is above the number");

    let allow = |names: &[&str]| {
        compiled(serde_json::json!({"defaultAction": "SCMP_ACT_ERRNO",
            "architectures": ["SCMP_ARCH_X86"],
            "syscalls": [{"names": names, "action": "SCMP_ACT_ALLOW"}]}))
    };
    assert_eq!(gate(&allow(&["connect", "mount"]), "socketcall", 3), ALLOW);
    assert_eq!(gate(&allow(&["connect", "mount"]), "socketcall", 1), errno(1));
    assert_eq!(gate(&allow(&["socketcall"]), "socketcall", 1), ALLOW, "the profile's own word");
}

#[test]
fn narrow_entries_come_before_wide_ones_in_any_order() {
    let (native, _) = arch::reachable().unwrap();
    for swap in [false, true] {
        let mut rules = vec![
            serde_json::json!({"names": ["socket"], "action": "SCMP_ACT_ALLOW"}),
            serde_json::json!({"names": ["socket"], "action": "SCMP_ACT_ERRNO", "errnoRet": 13,
                "args": [{"index": 0, "value": 16, "op": "SCMP_CMP_EQ"}]}),
        ];
        if swap {
            rules.reverse();
        }
        let json = serde_json::json!({"defaultAction": "SCMP_ACT_ERRNO", "syscalls": rules});
        let filter = compiled(json);
        let call = Call::named(native, "socket");
        assert_eq!(run(&filter, call.with(0, 16)), errno(13));
        assert_eq!(run(&filter, call.with(0, 2)), ALLOW);
    }
}

#[test]
fn what_no_filter_can_express_is_refused_by_its_key() {
    let rule = |rule: serde_json::Value| serde_json::json!({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [rule]});
    for (json, key) in [
        (serde_json::json!({"defaultAction": "SCMP_ACT_NOTIFY"}), "defaultAction"),
        (rule(serde_json::json!({"names": ["write"], "action": "SCMP_ACT_NOTIFY"})), "syscalls[0]"),
        (rule(serde_json::json!({"names": ["read"], "action": "SCMP_ACT_NOTIFY"})), "listenerPath"),
        (rule(serde_json::json!({"names": [], "action": "SCMP_ACT_KILL"})), "syscalls[0]"),
        (
            rule(serde_json::json!({"names": ["read"], "action": "SCMP_ACT_KILL", "errnoRet": 1})),
            "syscalls[0].action",
        ),
        (
            rule(
                serde_json::json!({"names": ["read"], "action": "SCMP_ACT_ERRNO", "errnoRet": 9999}),
            ),
            "syscalls[0].action",
        ),
        (
            rule(serde_json::json!({"names": ["read"], "action": "SCMP_ACT_LOG", "args": [
                {"index": 6, "value": 0, "op": "SCMP_CMP_EQ"}]})),
            "syscalls[0].args",
        ),
    ] {
        let error = compile(&profile(json)).unwrap_err();
        assert!(error.to_string().contains(key), "{error}");
    }
}

#[test]
fn flags_are_taken_as_they_are_and_a_listener_adds_its_own() {
    let with = |flags: serde_json::Value, action: &str| {
        let filter =
            compiled(serde_json::json!({"defaultAction": "SCMP_ACT_ALLOW", "flags": flags,
            "listenerPath": "/run/agent.sock", "listenerMetadata": "m",
            "syscalls": [{"names": ["mkdir"], "action": action}]}));
        (filter.flags, filter.listener.is_some())
    };
    assert_eq!(with(serde_json::Value::Null, "SCMP_ACT_ERRNO"), (FLAG_SPEC_ALLOW, false));
    assert_eq!(with(serde_json::json!([]), "SCMP_ACT_ERRNO"), (0, false));
    let log = serde_json::json!(["SECCOMP_FILTER_FLAG_LOG"]);
    assert_eq!(with(log, "SCMP_ACT_ERRNO"), (FLAG_LOG, false));
    let tsync = serde_json::json!(["SECCOMP_FILTER_FLAG_TSYNC"]);
    assert_eq!(with(tsync, "SCMP_ACT_NOTIFY"), (FLAG_NEW_LISTENER, true));
}
