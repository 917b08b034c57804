//! Converts values of the v1 interface, in which the spec speaks, to those of v2.

/// Converts `cpu.shares` (2 … 262144, default 1024) to `cpu.weight` (1 … 10000, default 100).
///
/// A parabola in the logarithm of the shares through (2, 1), (1024, 100) and (262144, 10000), so
/// that the default stays the default; a straight line would map it to 39.
/// Source: the OCI runtimes' common conversion since Kubernetes' KEP-2254 discussion.
pub(in super::super) fn weight_of_shares(shares: u64) -> u64 {
    const LOWEST: u64 = 2;
    const HIGHEST: u64 = 262_144;
    if shares <= LOWEST {
        return 1;
    }
    if shares >= HIGHEST {
        return 10_000;
    }
    #[expect(clippy::cast_precision_loss, reason = "shares is below 2^18 here")]
    let log = (shares as f64).log2();
    let exponent = (log * log + 125.0 * log) / 612.0 - 7.0 / 34.0;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the exponent is between 0 and 4 for shares in range"
    )]
    let weight = 10_f64.powf(exponent).ceil() as u64;
    weight.clamp(1, 10_000)
}

/// Converts `blkio.weight` (10 … 1000) to `io.weight` (1 … 10000).
pub(in super::super) fn io_weight_of_blkio(weight: u16) -> u64 {
    let above = u64::from(weight.clamp(10, 1000)) - 10;
    1 + above * 9999 / 990
}

/// Why a pair of memory and memory-plus-swap limits has no v2 value.
pub(in super::super) type SwapRule = &'static str;

/// Converts the sum of memory and swap, as v1 counts, to swap alone, as v2 does.
///
/// `None` means that swap is not to be touched; both arguments use 0 for "not set" and -1 for
/// "unlimited".
pub(in super::super) fn swap_alone(memory: i64, both: i64) -> Result<Option<String>, SwapRule> {
    match (memory, both) {
        (-1, 0) | (_, -1) => Ok(Some("max".to_owned())),
        (_, 0) => Ok(None),
        (_, ..-1) => Err("it is a number of bytes or -1"),
        (..=0, _) => Err("it needs a memory limit, which it includes"),
        (memory, both) if both < memory => Err("it includes memory and is below that limit"),
        (memory, both) => Ok(Some((both - memory).to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_and_the_ends_of_shares_keep_their_meaning() {
        for (shares, weight) in [(0, 1), (2, 1), (1024, 100), (262_144, 10_000), (u64::MAX, 10_000)]
        {
            assert_eq!(weight_of_shares(shares), weight, "{shares}");
        }
        let weights: Vec<_> = (2..262_144).step_by(97).map(weight_of_shares).collect();
        assert!(weights.is_sorted());
    }

    #[test]
    fn block_weights_span_the_whole_range() {
        for (weight, converted) in [(10, 1), (1000, 10_000), (500, 4950), (0, 1)] {
            assert_eq!(io_weight_of_blkio(weight), converted, "{weight}");
        }
    }

    #[test]
    fn swap_is_what_remains_above_memory() {
        for (memory, both, alone) in [
            (100, 300, Some(Some("200"))),
            (100, 100, Some(Some("0"))),
            (100, 0, Some(None)),
            (100, -1, Some(Some("max"))),
            (-1, 0, Some(Some("max"))),
            (0, 0, Some(None)),
            (0, 300, None),
            (-1, 300, None),
            (300, 100, None),
            (100, -2, None),
        ] {
            let seen = swap_alone(memory, both).ok();
            let seen = seen.as_ref().map(Option::as_deref);
            assert_eq!(seen, alone, "{memory} {both}");
        }
    }
}
