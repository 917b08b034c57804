//! Decides which control files carry the limits of `linux.resources`, and in which order.
//!
//! Pure: from the wanted limits and the host's [`Layout`] to a list of [`Step`]s. A limit that the
//! host's interface cannot express is an error, never left out.

pub(super) mod convert;
mod error;
mod v1;
mod v2;

use std::fmt;

use oci_spec::runtime::{LinuxMemory, LinuxResources};

use super::layout::{Layout, Version};

pub use error::LimitError;

/// A controller that `linux.resources` can address, or that a container's life needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Controller {
    /// Memory and swap.
    Memory,
    /// Processor time.
    Cpu,
    /// Which processors and memory nodes.
    Cpuset,
    /// Number of tasks.
    Pids,
    /// Block devices: `blkio` of v1, `io` of v2.
    Io,
    /// Huge pages.
    Hugetlb,
    /// Remote memory devices.
    Rdma,
    /// Class of network packets, v1 only.
    NetCls,
    /// Priority of network packets, v1 only.
    NetPrio,
    /// Access to device nodes: files of v1, a program on v2.
    Devices,
    /// Pausing: a controller of v1, a file of every group on v2.
    Freezer,
    /// Accounting of processor time, v1 only.
    Cpuacct,
}

impl Controller {
    /// Its name among the mount options of v1.
    pub fn v1_name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Cpu => "cpu",
            Self::Cpuset => "cpuset",
            Self::Pids => "pids",
            Self::Io => "blkio",
            Self::Hugetlb => "hugetlb",
            Self::Rdma => "rdma",
            Self::NetCls => "net_cls",
            Self::NetPrio => "net_prio",
            Self::Devices => "devices",
            Self::Freezer => "freezer",
            Self::Cpuacct => "cpuacct",
        }
    }

    /// Its name in `cgroup.controllers`; `None` where v2 has no such controller.
    pub fn v2_name(self) -> Option<&'static str> {
        match self {
            Self::Io => Some("io"),
            Self::Memory | Self::Cpu | Self::Cpuset | Self::Pids | Self::Hugetlb | Self::Rdma => {
                Some(self.v1_name())
            }
            Self::NetCls | Self::NetPrio | Self::Devices | Self::Freezer | Self::Cpuacct => None,
        }
    }
}

/// The folder of a container in which a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Home {
    /// The folder in the v1 hierarchy of this controller.
    V1(Controller),
    /// The folder in the v2 hierarchy.
    V2,
}

/// One file and what is written to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileWrite {
    /// Name of the control file.
    pub file: String,
    /// The text, one line.
    pub value: String,
}

/// What it means that the file of a step does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    /// The limit cannot be had: refuse.
    Refuse,
    /// Without the file there is nothing that the limit would bound.
    Skip,
}

/// One limit to set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    /// The key below `linux.resources` that asks for it.
    pub limit: &'static str,
    /// Where its files are.
    pub home: Home,
    /// Ways to set it, best first; each is a sequence of writes that must all succeed.
    pub tries: Vec<Vec<FileWrite>>,
    /// What a missing file means.
    pub missing: Missing,
    /// A file whose number must not be above this many bytes for the step to be allowed.
    pub usage: Option<(&'static str, i64)>,
}

impl Step {
    /// True when it bounds traffic to block devices.
    pub(super) fn is_io(&self) -> bool {
        self.home == Home::V1(Controller::Io) || self.v2_controller() == Some("io")
    }

    /// The v2 controller that must be enabled for the step.
    pub(super) fn v2_controller(&self) -> Option<&str> {
        let file = &self.tries.first()?.first()?.file;
        let (prefix, _) = file.split_once('.')?;
        (self.home == Home::V2 && prefix != "cgroup").then_some(prefix)
    }
}

/// Lowers the limits of `resources`, except devices, to the writes that set them on `layout`.
///
/// A value of zero for a memory, cpu or weight limit means "not set", as engines write it.
pub(super) fn lower(resources: &LinuxResources, layout: &Layout) -> Result<Vec<Step>, LimitError> {
    let mut steps = Steps { layout, list: Vec::new() };
    if let Some(memory) = resources.memory() {
        steps.memory(memory)?;
    }
    if let Some(cpu) = resources.cpu() {
        steps.cpu(cpu)?;
        steps.cpuset(cpu)?;
    }
    if let Some(pids) = resources.pids() {
        steps.pids(pids.limit())?;
    }
    if let Some(io) = resources.block_io() {
        steps.block_io(io)?;
    }
    for huge in resources.hugepage_limits().iter().flatten() {
        steps.hugepages(huge.page_size(), huge.limit())?;
    }
    if let Some(network) = resources.network() {
        steps.network(network)?;
    }
    for (device, limits) in resources.rdma().iter().flatten() {
        let mut value = device.clone();
        for (key, limit) in
            [("hca_handle", limits.hca_handles()), ("hca_object", limits.hca_objects())]
        {
            if let Some(limit) = limit {
                value = format!("{value} {key}={limit}");
            }
        }
        steps.one("rdma", Controller::Rdma, "rdma.max", value)?;
    }
    for (file, value) in resources.unified().iter().flatten() {
        steps.unified(file, value)?;
    }
    Ok(steps.list)
}

/// Lowers the parts of `resources` one by one, so that one without a form here does not hide the
/// others; each answer is for a part, in the order of [`lower`].
pub(super) fn lower_each(
    resources: &LinuxResources,
    layout: &Layout,
) -> Vec<Result<Vec<Step>, LimitError>> {
    let nothing = || LinuxResources::default();
    let (mut memory, mut cpu, mut pids, mut io) = (nothing(), nothing(), nothing(), nothing());
    memory.set_memory(*resources.memory());
    cpu.set_cpu(resources.cpu().clone());
    pids.set_pids(*resources.pids());
    io.set_block_io(resources.block_io().clone());
    let mut rest = resources.clone();
    rest.set_memory(None).set_cpu(None).set_pids(None).set_block_io(None);
    let parts = [memory, cpu, pids, io, rest];
    parts.iter().map(|part| lower(part, layout)).collect()
}

/// Says whether `resources` asks for anything but device rules.
pub fn asks_for_limits(resources: &LinuxResources) -> bool {
    let without_devices = {
        let mut copy = resources.clone();
        copy.set_devices(None);
        copy
    };
    serde_json::to_value(&without_devices).is_ok_and(|value| holds_a_number(&value))
}

/// True when some leaf of `value` is set to something other than zero, false or unlimited.
fn holds_a_number(value: &serde_json::Value) -> bool {
    match value {
        serde_json::Value::Null => false,
        serde_json::Value::Bool(on) => *on,
        serde_json::Value::Number(number) => {
            number.as_i64().is_none_or(|number| number != 0 && number != -1)
        }
        serde_json::Value::String(text) => !text.is_empty(),
        serde_json::Value::Array(list) => list.iter().any(holds_a_number),
        serde_json::Value::Object(map) => map.values().any(holds_a_number),
    }
}

/// The list under construction.
struct Steps<'a> {
    layout: &'a Layout,
    list: Vec<Step>,
}

impl Steps<'_> {
    fn version(&self, limit: &'static str, c: Controller) -> Result<Version, LimitError> {
        self.layout.version_of(c).ok_or_else(|| {
            let name = c.v2_name().filter(|_| self.layout.is_unified());
            LimitError::NoController { limit, controller: name.unwrap_or(c.v1_name()).to_owned() }
        })
    }

    /// Adds a step with several ways, for the folder that serves `controller`.
    fn ways(
        &mut self,
        limit: &'static str,
        controller: Controller,
        tries: Vec<Vec<FileWrite>>,
    ) -> Result<&mut Step, LimitError> {
        let home = match self.version(limit, controller)? {
            Version::V1 => Home::V1(controller),
            Version::V2 => Home::V2,
        };
        let at = self.list.len();
        self.list.push(Step { limit, home, tries, missing: Missing::Refuse, usage: None });
        Ok(&mut self.list[at])
    }

    /// Adds a step of one write.
    fn one(
        &mut self,
        limit: &'static str,
        controller: Controller,
        file: impl Into<String>,
        value: impl fmt::Display,
    ) -> Result<(), LimitError> {
        self.ways(limit, controller, vec![vec![write(file, value)]]).map(drop)
    }

    fn memory(&mut self, memory: &LinuxMemory) -> Result<(), LimitError> {
        match self.layout.version_of(Controller::Memory) {
            Some(Version::V1) => self.memory_v1(memory),
            Some(Version::V2) => self.memory_v2(memory),
            None if holds_a_number(&serde_json::to_value(memory).unwrap_or_default()) => {
                Err(LimitError::NoController { limit: "memory", controller: "memory".to_owned() })
            }
            None => Ok(()),
        }
    }

    fn cpuset(&mut self, cpu: &oci_spec::runtime::LinuxCpu) -> Result<(), LimitError> {
        for (limit, file, list) in [
            ("cpu.cpus", "cpuset.cpus", cpu.cpus().as_ref()),
            ("cpu.mems", "cpuset.mems", cpu.mems().as_ref()),
        ] {
            if let Some(list) = list.filter(|list| !list.is_empty()) {
                self.one(limit, Controller::Cpuset, file, list)?;
            }
        }
        Ok(())
    }

    fn pids(&mut self, limit: i64) -> Result<(), LimitError> {
        if self.layout.version_of(Controller::Pids).is_none() && limit < 0 {
            return Ok(());
        }
        let value = match (limit, self.version("pids.limit", Controller::Pids)?) {
            (..0, _) => "max".to_owned(),
            // The first process is cloned into the group and counts: with 1 it can run and
            // cannot fork, which is what 0 means for a process that is moved in.
            (0, Version::V2) => "1".to_owned(),
            (limit, _) => limit.to_string(),
        };
        self.one("pids.limit", Controller::Pids, "pids.max", value)
    }

    fn hugepages(&mut self, page: &str, limit: i64) -> Result<(), LimitError> {
        const KEY: &str = "hugepageLimits";
        let digits = page.trim_end_matches("KB").trim_end_matches("MB").trim_end_matches("GB");
        if digits.len() + 2 != page.len() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            let rule = "a page size is a number with `KB`, `MB` or `GB`";
            return Err(LimitError::Value { limit: KEY, value: page.to_owned(), rule });
        }
        let file = match self.version(KEY, Controller::Hugetlb)? {
            Version::V1 => "limit_in_bytes",
            Version::V2 => "max",
        };
        self.one(KEY, Controller::Hugetlb, format!("hugetlb.{page}.{file}"), limit)?;
        // Reservations are bounded where the kernel (5.7) counts them apart.
        let reserved = vec![vec![write(format!("hugetlb.{page}.rsvd.{file}"), limit)]];
        self.ways(KEY, Controller::Hugetlb, reserved)?.missing = Missing::Skip;
        Ok(())
    }

    fn network(&mut self, net: &oci_spec::runtime::LinuxNetwork) -> Result<(), LimitError> {
        if let Some(class) = net.class_id().filter(|&class| class != 0) {
            self.one("network.classID", Controller::NetCls, "net_cls.classid", class)?;
        }
        for entry in net.priorities().iter().flatten() {
            let value = format!("{} {}", entry.name(), entry.priority());
            self.one("network.priorities", Controller::NetPrio, "net_prio.ifpriomap", value)?;
        }
        Ok(())
    }

    fn unified(&mut self, file: &str, value: &str) -> Result<(), LimitError> {
        const KEY: &str = "unified";
        let prefix = file.split_once('.').map(|(prefix, _)| prefix).filter(|p| !p.is_empty());
        let (Some(prefix), false) = (prefix, file.contains('/')) else {
            let rule = "a key is the name of a file of cgroup v2, `controller.name`";
            return Err(LimitError::Value { limit: KEY, value: file.to_owned(), rule });
        };
        let Some(v2) = &self.layout.v2 else {
            return Err(LimitError::NotInVersion { limit: KEY, version: Version::V1 });
        };
        if prefix != "cgroup" && !v2.controllers.iter().any(|c| c == prefix) {
            let controller = format!("{prefix} (cgroup v2)");
            return Err(LimitError::NoController { limit: KEY, controller });
        }
        // Files such as `io.max` take one line a write.
        let lines = value.lines().map(|line| write(file, line)).collect::<Vec<_>>();
        let tries = vec![if lines.is_empty() { vec![write(file, "")] } else { lines }];
        let step =
            Step { limit: KEY, home: Home::V2, tries, missing: Missing::Refuse, usage: None };
        self.list.push(step);
        Ok(())
    }
}

fn write(file: impl Into<String>, value: impl fmt::Display) -> FileWrite {
    FileWrite { file: file.into(), value: value.to_string() }
}

/// Every order of `writes`: files such as quota and period bound each other, and which of them
/// must come first depends on the values that are in force.
fn any_order(writes: &[FileWrite]) -> Vec<Vec<FileWrite>> {
    if writes.len() <= 1 {
        return vec![writes.to_vec()];
    }
    let mut orders = Vec::new();
    for first in 0..writes.len() {
        let mut rest = writes.to_vec();
        let head = rest.remove(first);
        for mut tail in any_order(&rest) {
            tail.insert(0, head.clone());
            orders.push(tail);
        }
    }
    orders
}

#[cfg(test)]
mod tests;
