//! Writes classic BPF: range trees over call numbers, and tests of arguments.

use super::rule::{Condition, Test, Verdict};

const LOAD_WORD: u16 = 0x20; // BPF_LD | BPF_W | BPF_ABS
const AND: u16 = 0x54; // BPF_ALU | BPF_AND | BPF_K
const JUMP: u16 = 0x05; // BPF_JMP | BPF_JA
const JUMP_EQUAL: u16 = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
const JUMP_GREATER: u16 = 0x25; // BPF_JMP | BPF_JGT | BPF_K
const JUMP_AT_LEAST: u16 = 0x35; // BPF_JMP | BPF_JGE | BPF_K
const RETURN: u16 = 0x06; // BPF_RET | BPF_K

/// Offsets in `struct seccomp_data`.
const NUMBER_AT: u32 = 0;
const ARCH_AT: u32 = 4;
const ARGUMENTS_AT: u32 = 16;

/// One instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Instruction {
    pub code: u16,
    pub jt: u8,
    pub jf: u8,
    pub k: u32,
}

impl Instruction {
    const fn plain(code: u16, k: u32) -> Self {
        Self { code, jt: 0, jf: 0, k }
    }

    /// One word: code, jt, jf from the high bits, k below.
    pub(super) const fn pack(self) -> u64 {
        (self.code as u64) << 48 | (self.jt as u64) << 40 | (self.jf as u64) << 32 | self.k as u64
    }

    #[cfg(test)]
    #[expect(clippy::cast_possible_truncation, reason = "each field is taken from its own bits")]
    pub(super) const fn unpack(word: u64) -> Self {
        let (code, jt) = ((word >> 48) as u16, (word >> 40) as u8);
        Self { code, jt, jf: (word >> 32) as u8, k: word as u32 }
    }
}

pub(super) type Code = Vec<Instruction>;

/// Loads the architecture.
pub(super) fn load_arch() -> Instruction {
    Instruction::plain(LOAD_WORD, ARCH_AT)
}

/// Loads the call's number.
pub(super) fn load_number() -> Instruction {
    Instruction::plain(LOAD_WORD, NUMBER_AT)
}

/// Answers.
pub(super) fn answer(with: u32) -> Instruction {
    Instruction::plain(RETURN, with)
}

/// Runs `body` where the loaded word equals `value`, else what follows it.
pub(super) fn when_equal(value: u32, body: Code) -> Code {
    let mut all = Vec::with_capacity(body.len() + 2);
    if let Ok(jf) = u8::try_from(body.len()) {
        all.push(Instruction { code: JUMP_EQUAL, jt: 0, jf, k: value });
    } else {
        all.push(Instruction { code: JUMP_EQUAL, jt: 1, jf: 0, k: value });
        all.push(Instruction::plain(JUMP, distance(body.len())));
    }
    all.extend(body);
    all
}

/// Runs `high` where the loaded word is at least `value`, else `low`. Both end with an answer.
fn split(value: u32, low: Code, high: Code) -> Code {
    let mut code = Vec::with_capacity(low.len() + high.len() + 2);
    if let Ok(jt) = u8::try_from(low.len()) {
        code.push(Instruction { code: JUMP_AT_LEAST, jt, jf: 0, k: value });
    } else {
        code.push(Instruction { code: JUMP_AT_LEAST, jt: 0, jf: 1, k: value });
        code.push(Instruction::plain(JUMP, distance(low.len())));
    }
    code.extend(low);
    code.extend(high);
    code
}

/// A program is at most 4096 instructions long, which is checked at its end.
fn distance(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// A range of call numbers with the same verdict, up to the next range.
#[derive(Debug, Clone, Copy)]
pub(super) struct Range<'a> {
    pub first: u32,
    pub verdict: &'a Verdict,
    /// Its calls have arguments of 32 bits.
    pub narrow: bool,
}

/// A binary tree over sorted ranges, the first of which begins at 0: every answer is as deep as the
/// logarithm of their number. The kernel walks it once a call when it loads the filter, so depth counts.
pub(super) fn tree(ranges: &[Range<'_>]) -> Code {
    match ranges {
        [] => Vec::new(),
        [one] => leaf(one.verdict, one.narrow),
        several => {
            let (low, high) = several.split_at(several.len() / 2);
            split(high[0].first, tree(low), tree(high))
        }
    }
}

fn leaf(verdict: &Verdict, narrow: bool) -> Code {
    let mut code = Vec::new();
    for (conditions, with) in &verdict.branches {
        let mut body = vec![answer(*with)];
        // From the last to the first: each test is wrapped around those after it.
        for condition in conditions.iter().rev() {
            body = test(*condition, body, narrow);
        }
        code.extend(body);
    }
    code.push(answer(verdict.otherwise));
    code
}

/// Runs `body` where the condition holds, else what follows it. A body is short: its jumps fit a byte.
fn test(condition: Condition, body: Code, narrow: bool) -> Code {
    let low = ARGUMENTS_AT + 8 * condition.index;
    let words = Words { low, high: if narrow { None } else { Some(low + 4) } };
    match condition.test {
        Test::Equal(value) => words.masked(u64::MAX, value, body),
        Test::Masked { mask, value } => words.masked(mask, value, body),
        Test::NotEqual(value) => words.different(value, body),
        Test::Greater(value) => words.above(JUMP_GREATER, value, body),
        Test::GreaterOrEqual(value) => words.above(JUMP_AT_LEAST, value, body),
        Test::Less(value) => words.below(JUMP_AT_LEAST, value, body),
        Test::LessOrEqual(value) => words.below(JUMP_GREATER, value, body),
    }
}

/// Where an argument's two words are; little-endian, as all our architectures.
struct Words {
    low: u32,
    high: Option<u32>,
}

#[expect(clippy::cast_possible_truncation, reason = "each half is taken on purpose")]
const fn halves(value: u64) -> (u32, u32) {
    ((value >> 32) as u32, value as u32)
}

impl Words {
    fn masked(&self, mask: u64, value: u64, body: Code) -> Code {
        let ((mask_high, mask_low), (high, low)) = (halves(mask), halves(value));
        let inner = masked_word(self.low, mask_low, low, body);
        match self.high {
            Some(at) => masked_word(at, mask_high, high, inner),
            None => inner,
        }
    }

    fn different(&self, value: u64, body: Code) -> Code {
        let (high, low) = halves(value);
        // Equal low words skip the body.
        let length = small(body.len());
        let mut code = vec![
            Instruction::plain(LOAD_WORD, self.low),
            Instruction { code: JUMP_EQUAL, jt: length, jf: 0, k: low },
        ];
        code.extend(body);
        let Some(at) = self.high else { return code };
        // A different high word goes straight to the body, beyond the two instructions before it.
        let mut all = vec![
            Instruction::plain(LOAD_WORD, at),
            Instruction { code: JUMP_EQUAL, jt: 0, jf: 2, k: high },
        ];
        all.extend(code);
        all
    }

    /// `comparison` of the low words decides where the high words are equal.
    fn above(&self, comparison: u16, value: u64, body: Code) -> Code {
        let (high, low) = halves(value);
        let length = small(body.len());
        let mut code = vec![
            Instruction::plain(LOAD_WORD, self.low),
            Instruction { code: comparison, jt: 0, jf: length, k: low },
        ];
        code.extend(body);
        let Some(at) = self.high else { return code };
        let mut all = vec![
            Instruction::plain(LOAD_WORD, at),
            Instruction { code: JUMP_GREATER, jt: 3, jf: 0, k: high },
            Instruction { code: JUMP_EQUAL, jt: 0, jf: length.saturating_add(2), k: high },
        ];
        all.extend(code);
        all
    }

    /// Holds where `comparison` does not.
    fn below(&self, comparison: u16, value: u64, body: Code) -> Code {
        let (high, low) = halves(value);
        let length = small(body.len());
        let mut code = vec![
            Instruction::plain(LOAD_WORD, self.low),
            Instruction { code: comparison, jt: length, jf: 0, k: low },
        ];
        code.extend(body);
        let Some(at) = self.high else { return code };
        let mut all = vec![
            Instruction::plain(LOAD_WORD, at),
            Instruction { code: JUMP_GREATER, jt: length.saturating_add(3), jf: 0, k: high },
            Instruction { code: JUMP_EQUAL, jt: 0, jf: 2, k: high },
        ];
        all.extend(code);
        all
    }
}

fn masked_word(at: u32, mask: u32, value: u32, body: Code) -> Code {
    if mask == 0 && value == 0 {
        return body;
    }
    let mut code = vec![Instruction::plain(LOAD_WORD, at)];
    if mask != u32::MAX {
        code.push(Instruction::plain(AND, mask));
    }
    code.push(Instruction { code: JUMP_EQUAL, jt: 0, jf: small(body.len()), k: value });
    code.extend(body);
    code
}

/// Six conditions of at most six instructions and an answer: far below 255.
fn small(length: usize) -> u8 {
    u8::try_from(length).unwrap_or(u8::MAX)
}
