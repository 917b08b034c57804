//! `mur update`: changes the limits of a container.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context as _, bail};
use mur_runtime::id::ContainerId;
use mur_runtime::verb;
use oci_spec::runtime::LinuxResources;
use serde_json::{Map, Value, json};

use crate::context::Context;
use crate::report::Exit;

/// Change the limits of a container
///
/// Limits that are not named stay as they are. Sizes take the units b, k, m and g; -1 lifts a limit.
#[derive(Debug, Default, clap::Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct Args {
    /// File with limits as in `linux.resources`, `-` for standard input; flags win over it
    #[arg(short, long, value_name = "FILE")]
    resources: Option<String>,

    /// Relative share of block devices, 10 to 1000
    #[arg(long, value_name = "N")]
    blkio_weight: Option<u16>,

    /// Length of a period of cpu time, in microseconds
    #[arg(long, value_name = "US")]
    cpu_period: Option<u64>,

    /// Cpu time in a period, in microseconds
    #[arg(long, value_name = "US")]
    cpu_quota: Option<i64>,

    /// Cpu time that may be saved up, in microseconds
    #[arg(long, value_name = "US")]
    cpu_burst: Option<u64>,

    /// Relative share of cpu time
    #[arg(long, value_name = "N", alias = "cpu-shares")]
    cpu_share: Option<u64>,

    /// Length of a real-time period, in microseconds
    #[arg(long, value_name = "US")]
    cpu_rt_period: Option<u64>,

    /// Real-time in a period, in microseconds
    #[arg(long, value_name = "US")]
    cpu_rt_runtime: Option<i64>,

    /// 1: run only when nothing else wants to
    #[arg(long, value_name = "0|1")]
    cpu_idle: Option<i64>,

    /// Processors, as 0-3,7
    #[arg(long, value_name = "LIST")]
    cpuset_cpus: Option<String>,

    /// Memory nodes, as 0-1
    #[arg(long, value_name = "LIST")]
    cpuset_mems: Option<String>,

    /// Kernel memory (obsolete in the kernel)
    #[arg(long, value_name = "SIZE", value_parser = size, allow_hyphen_values = true)]
    kernel_memory: Option<i64>,

    /// Kernel memory of TCP (cgroup v1)
    #[arg(long, value_name = "SIZE", value_parser = size, allow_hyphen_values = true)]
    kernel_memory_tcp: Option<i64>,

    /// Memory
    #[arg(long, value_name = "SIZE", value_parser = size, allow_hyphen_values = true)]
    memory: Option<i64>,

    /// Memory that is kept for it
    #[arg(long, value_name = "SIZE", value_parser = size, allow_hyphen_values = true)]
    memory_reservation: Option<i64>,

    /// Memory and swap together
    #[arg(long, value_name = "SIZE", value_parser = size, allow_hyphen_values = true)]
    memory_swap: Option<i64>,

    /// Number of tasks
    #[arg(long, value_name = "N")]
    pids_limit: Option<i64>,

    /// Schema of the L3 cache for Intel RDT
    #[arg(long, value_name = "SCHEMA")]
    l3_cache_schema: Option<String>,

    /// Schema of memory bandwidth for Intel RDT
    #[arg(long, value_name = "SCHEMA")]
    mem_bw_schema: Option<String>,

    /// Name of the container
    #[arg(required = true)]
    id: Option<ContainerId>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> anyhow::Result<Exit> {
    if args.l3_cache_schema.is_some() || args.mem_bw_schema.is_some() {
        bail!(
            "`update` cannot change Intel RDT schemata; they are set when a container is created"
        );
    }
    let id = args.id.as_ref().context("the name of the container is missing")?;
    let changes = changes(args, io::stdin())?;
    verb::update(&context.store()?, id, &changes)?;
    Ok(Exit::Success)
}

/// The limits of the file, with those of the flags over them.
fn changes(args: &Args, mut stdin: impl Read) -> anyhow::Result<LinuxResources> {
    let mut value = match args.resources.as_deref() {
        None => Value::Object(Map::new()),
        Some("-") => {
            let mut text = String::new();
            stdin.read_to_string(&mut text).context("cannot read standard input")?;
            serde_json::from_str(&text).context("cannot understand standard input")?
        }
        Some(path) => {
            let path = Path::new(path);
            let bytes =
                fs::read(path).with_context(|| format!("cannot read `{}`", path.display()))?;
            serde_json::from_slice(&bytes)
                .with_context(|| format!("cannot understand `{}`", path.display()))?
        }
    };
    if !value.is_object() {
        bail!("`--resources`: limits are a JSON object, as `linux.resources`");
    }
    for (pointer, flag) in flags(args) {
        let (section, key) = pointer;
        if value[section].is_null() {
            value[section] = json!({});
        }
        value[section][key] = flag;
    }
    serde_json::from_value(value).context("`--resources`: not limits as in `linux.resources`")
}

/// What the flags set, by section and key.
fn flags(args: &Args) -> Vec<((&'static str, &'static str), Value)> {
    let list = [
        (("blockIO", "weight"), json!(args.blkio_weight)),
        (("cpu", "period"), json!(args.cpu_period)),
        (("cpu", "quota"), json!(args.cpu_quota)),
        (("cpu", "burst"), json!(args.cpu_burst)),
        (("cpu", "shares"), json!(args.cpu_share)),
        (("cpu", "realtimePeriod"), json!(args.cpu_rt_period)),
        (("cpu", "realtimeRuntime"), json!(args.cpu_rt_runtime)),
        (("cpu", "idle"), json!(args.cpu_idle)),
        (("cpu", "cpus"), json!(args.cpuset_cpus)),
        (("cpu", "mems"), json!(args.cpuset_mems)),
        (("memory", "kernel"), json!(args.kernel_memory)),
        (("memory", "kernelTCP"), json!(args.kernel_memory_tcp)),
        (("memory", "limit"), json!(args.memory)),
        (("memory", "reservation"), json!(args.memory_reservation)),
        (("memory", "swap"), json!(args.memory_swap)),
        (("pids", "limit"), json!(args.pids_limit)),
    ];
    list.into_iter().filter(|(_, value)| !value.is_null()).collect()
}

/// Reads a size in bytes: `64m`, `1g`, `4096`, `-1`.
fn size(text: &str) -> Result<i64, String> {
    let lower = text.to_ascii_lowercase();
    let plain = lower.strip_suffix('b').unwrap_or(&lower);
    let plain = plain.strip_suffix('i').unwrap_or(plain);
    let (digits, shift) = match plain.chars().last() {
        Some('k') => (&plain[..plain.len() - 1], 10),
        Some('m') => (&plain[..plain.len() - 1], 20),
        Some('g') => (&plain[..plain.len() - 1], 30),
        Some('t') => (&plain[..plain.len() - 1], 40),
        Some(_) | None => (plain, 0),
    };
    let refused = || format!("`{text}` is no size such as 64m, 4096 or -1");
    let number: i64 = digits.parse().map_err(|_| refused())?;
    match number {
        -1 if shift == 0 => Ok(-1),
        0.. => number.checked_mul(1 << shift).ok_or_else(refused),
        _ => Err(refused()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_their_units() {
        for (text, bytes) in [
            ("64m", 64 << 20),
            ("1G", 1 << 30),
            ("2kb", 2048),
            ("3MiB", 3 << 20),
            ("4096", 4096),
            ("-1", -1),
            ("0", 0),
        ] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["", "m", "-2", "-1k", "1x", "9999999999t"] {
            assert!(size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn flags_win_over_the_file_and_leave_the_rest_of_it() {
        let args = Args {
            resources: Some("-".to_owned()),
            memory: Some(5),
            cpuset_cpus: Some("0".to_owned()),
            ..Args::default()
        };
        let file = r#"{"memory": {"limit": 1, "swap": 9}, "pids": {"limit": 3}}"#;
        let wanted = json!({
            "memory": {"limit": 5, "swap": 9}, "pids": {"limit": 3}, "cpu": {"cpus": "0"},
        });
        let wanted: LinuxResources = serde_json::from_value(wanted).unwrap();
        assert_eq!(changes(&args, file.as_bytes()).unwrap(), wanted);
        assert!(changes(&args, &b"[]"[..]).is_err());
        assert!(changes(&args, &b"{"[..]).is_err());
    }
}
