//! Compiles device rules to a program of type `cgroup_device`.
//!
//! The program keeps the accesses that are still to be decided in `r3` and asks the rules from the
//! last to the first, so that each kind of access is decided by the last rule that fits it.

use super::{Kind, Rule, Verdict, access};
use crate::sys::bpf::Instruction;

// Operations, from linux/bpf_common.h and linux/bpf.h.
const LOAD_WORD: u8 = 0x61;
const MOVE_VALUE: u8 = 0xb7;
const MOVE_REGISTER: u8 = 0xbf;
const AND_VALUE: u8 = 0x57;
const SHIFT_RIGHT: u8 = 0x77;
const JUMP: u8 = 0x05;
const JUMP_UNLESS_EQUAL: u8 = 0x55;
const JUMP_IF_ANY_BIT: u8 = 0x45;
const EXIT: u8 = 0x95;

// Registers.
const RESULT: u8 = 0;
const CONTEXT: u8 = 1;
const KIND: u8 = 2;
const UNDECIDED: u8 = 3;
const MAJOR: u8 = 4;
const MINOR: u8 = 5;

/// `struct bpf_cgroup_dev_ctx`: access in the upper half and kind in the lower half of the first
/// word, then the two numbers.
const CONTEXT_MAJOR: i16 = 4;
const CONTEXT_MINOR: i16 = 8;
const BLOCK: i32 = 1;
const CHAR: i32 = 2;

/// Compiles `rules`, which are in the order of the spec.
pub(super) fn compile(rules: &[Rule]) -> Vec<Instruction> {
    let mut code = vec![
        instruction(LOAD_WORD, KIND, CONTEXT, 0, 0),
        instruction(LOAD_WORD, MAJOR, CONTEXT, CONTEXT_MAJOR, 0),
        instruction(LOAD_WORD, MINOR, CONTEXT, CONTEXT_MINOR, 0),
        instruction(MOVE_REGISTER, UNDECIDED, KIND, 0, 0),
        instruction(SHIFT_RIGHT, UNDECIDED, 0, 0, 16),
        instruction(AND_VALUE, KIND, 0, 0, 0xffff),
    ];
    for rule in rules.iter().rev() {
        code.extend(compile_rule(rule));
    }
    code.extend(answer(Verdict::Deny));
    code
}

fn compile_rule(rule: &Rule) -> Vec<Instruction> {
    let body = match rule.verdict {
        Verdict::Deny => vec![
            instruction(JUMP_IF_ANY_BIT, UNDECIDED, 0, 1, i32::from(rule.access)),
            instruction(JUMP, 0, 0, 2, 0),
        ],
        Verdict::Allow => vec![
            instruction(AND_VALUE, UNDECIDED, 0, 0, i32::from(access::ALL & !rule.access)),
            instruction(JUMP_UNLESS_EQUAL, UNDECIDED, 0, 2, 0),
        ],
    };
    let body: Vec<_> = body.into_iter().chain(answer(rule.verdict)).collect();
    let kind = match rule.kind {
        Kind::Any => None,
        Kind::Block => Some(BLOCK),
        Kind::Char => Some(CHAR),
    };
    let wanted = [
        (KIND, kind),
        (MAJOR, rule.major.map(u32::cast_signed)),
        (MINOR, rule.minor.map(u32::cast_signed)),
    ];
    let tests: Vec<_> =
        wanted.iter().filter_map(|&(register, value)| Some((register, value?))).collect();
    let mut code = Vec::with_capacity(tests.len() + body.len());
    for (index, &(register, value)) in tests.iter().enumerate() {
        // At most two more tests and four instructions of body: a jump of six.
        let rest = i16::try_from(tests.len() - index - 1 + body.len()).unwrap_or(i16::MAX);
        code.push(instruction(JUMP_UNLESS_EQUAL, register, 0, rest, value));
    }
    code.extend(body);
    code
}

fn answer(verdict: Verdict) -> [Instruction; 2] {
    let value = i32::from(verdict == Verdict::Allow);
    [instruction(MOVE_VALUE, RESULT, 0, 0, value), instruction(EXIT, 0, 0, 0, 0)]
}

fn instruction(code: u8, target: u8, source: u8, offset: i16, value: i32) -> Instruction {
    Instruction { code, registers: target | source << 4, offset, value }
}
