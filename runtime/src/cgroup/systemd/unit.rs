//! Starts, changes and stops the transient unit of a container.

use std::path::PathBuf;

use super::bus::Bus;
use super::message::{Message, Value, Writer};
use super::property::Property;
use super::{SystemdError, of_resources};
use crate::cgroup::layout::Version;
use crate::cgroup::place::Unit;
use crate::sys::placeholder::Placeholder;

/// A unit that was started for a container.
#[derive(Debug)]
pub(in super::super) struct StartedUnit {
    /// Its group, absolute in each hierarchy.
    pub(in super::super) group: PathBuf,
    /// Keeps a scope from being empty until the container's process is in it.
    pub(in super::super) placeholder: Option<Placeholder>,
}

/// Starts `unit` with the limits of `resources`, for a process that is still to come.
pub(in super::super) fn start(
    unit: &Unit,
    resources: Option<&oci_spec::runtime::LinuxResources>,
    version: Version,
) -> Result<StartedUnit, SystemdError> {
    let mut bus = Bus::open(unit.instance)?;
    let mut properties = description(unit, version);
    let mut placeholder = None;
    if !unit.is_slice() {
        let held = Placeholder::create().map_err(|errno| SystemdError::Placeholder {
            unit: unit.name.clone(),
            source: errno.into(),
        })?;
        let pid = held.pid().as_raw().cast_unsigned();
        properties.push(("PIDs", Value::Numbers(vec![pid])));
        placeholder = Some(held);
    }
    if let Some(resources) = resources {
        properties.extend(of_resources(resources, version));
    }
    start_or_replace(&mut bus, unit, &properties)?;
    let group = control_group(&mut bus, unit)?;
    Ok(StartedUnit { group, placeholder })
}

/// Starts the scope `unit` around the calling process, delegated to its user.
pub(in super::super) fn start_around_caller(unit: &Unit) -> Result<(), SystemdError> {
    let mut bus = Bus::open(unit.instance)?;
    let mut properties = description(unit, Version::V2);
    properties.push(("PIDs", Value::Numbers(vec![std::process::id()])));
    start_or_replace(&mut bus, unit, &properties)
}

/// Starts a unit; one that failed under this name is only a memory and is forgotten.
fn start_or_replace(
    bus: &mut Bus,
    unit: &Unit,
    properties: &[Property],
) -> Result<(), SystemdError> {
    match start_transient(bus, unit, properties) {
        Err(SystemdError::Refused { name, .. }) if name.ends_with(".UnitExists") => {
            let _ = name_call(bus, "ResetFailedUnit", unit);
            start_transient(bus, unit, properties)
        }
        done => done,
    }
}

/// Gives the running `unit` the limits of `resources`.
pub(in super::super) fn set_properties(
    unit: &Unit,
    resources: &oci_spec::runtime::LinuxResources,
    version: Version,
) -> Result<(), SystemdError> {
    let properties = of_resources(resources, version);
    if properties.is_empty() {
        return Ok(());
    }
    let mut bus = Bus::open(unit.instance)?;
    let mut body = Writer::default();
    body.text(&unit.name);
    body.u32(1);
    write_properties(&mut body, &properties);
    bus.manager("SetUnitProperties", &unit.name, "sba(sv)", body.into_bytes()).map(drop)
}

/// Stops `unit` and waits until systemd is done; one that is gone is fine.
pub(in super::super) fn stop(unit: &Unit) -> Result<(), SystemdError> {
    let mut bus = Bus::open(unit.instance)?;
    let mut body = Writer::default();
    body.text(&unit.name);
    body.text("replace");
    match bus.manager("StopUnit", &unit.name, "ss", body.into_bytes()) {
        Ok(reply) => drop(wait_for_job(&mut bus, unit, &reply)),
        Err(SystemdError::Refused { name, .. }) if name.ends_with(".NoSuchUnit") => {}
        Err(error) => return Err(error),
    }
    // A unit whose processes were killed counts as failed and would keep its name.
    let _ = name_call(&mut bus, "ResetFailedUnit", unit);
    Ok(())
}

/// What a unit is, before its limits.
fn description(unit: &Unit, version: Version) -> Vec<Property> {
    let text = format!("mur container {}", unit.name);
    let mut list = vec![
        ("Description", Value::Text(text)),
        ("DefaultDependencies", Value::Bool(false)),
        ("CPUAccounting", Value::Bool(true)),
        ("MemoryAccounting", Value::Bool(true)),
        ("TasksAccounting", Value::Bool(true)),
    ];
    list.push(match version {
        Version::V1 => ("BlockIOAccounting", Value::Bool(true)),
        Version::V2 => ("IOAccounting", Value::Bool(true)),
    });
    if unit.is_slice() {
        list.push(("Wants", Value::Texts(vec![unit.slice.clone()])));
    } else {
        list.push(("Slice", Value::Text(unit.slice.clone())));
        list.push(("Delegate", Value::Bool(true)));
    }
    list
}

fn start_transient(
    bus: &mut Bus,
    unit: &Unit,
    properties: &[Property],
) -> Result<(), SystemdError> {
    let mut body = Writer::default();
    body.text(&unit.name);
    body.text("replace");
    write_properties(&mut body, properties);
    // No auxiliary units.
    body.array(8, |_| {});
    let signature = "ssa(sv)a(sa(sv))";
    let reply = bus.manager("StartTransientUnit", &unit.name, signature, body.into_bytes())?;
    wait_for_job(bus, unit, &reply)
}

fn write_properties(body: &mut Writer, properties: &[Property]) {
    body.array(8, |items| {
        for (name, value) in properties {
            items.align(8);
            items.text(name);
            items.variant(value);
        }
    });
}

/// Waits for the job whose path is in `reply`.
fn wait_for_job(bus: &mut Bus, unit: &Unit, reply: &Message) -> Result<(), SystemdError> {
    let job = reply.reader().text().unwrap_or_default();
    loop {
        let signal = bus.signal()?;
        if signal.name != "JobRemoved" {
            continue;
        }
        let mut body = signal.reader();
        let (_, path) = (body.u32(), body.text());
        let (_, result) = (body.text(), body.text());
        if path.as_deref() != Some(job.as_str()) {
            continue;
        }
        let result = result.unwrap_or_default();
        if result == "done" {
            return Ok(());
        }
        return Err(SystemdError::Job { unit: unit.name.clone(), result });
    }
}

/// Asks where the unit's group is.
fn control_group(bus: &mut Bus, unit: &Unit) -> Result<PathBuf, SystemdError> {
    let reply = name_call(bus, "GetUnit", unit)?;
    let path = reply.reader().text().unwrap_or_default();
    let interface = if unit.is_slice() {
        "org.freedesktop.systemd1.Slice"
    } else {
        "org.freedesktop.systemd1.Scope"
    };
    let reply = bus.property(&unit.name, &path, interface, "ControlGroup")?;
    let mut body = reply.reader();
    let group = (body.signature().as_deref() == Some("s")).then(|| body.text()).flatten();
    match group.filter(|group| group.len() > 1) {
        Some(group) => Ok(PathBuf::from(group)),
        None => Err(SystemdError::Job {
            unit: unit.name.clone(),
            result: "no control group".to_owned(),
        }),
    }
}

fn name_call(bus: &mut Bus, method: &'static str, unit: &Unit) -> Result<Message, SystemdError> {
    let mut body = Writer::default();
    body.text(&unit.name);
    bus.manager(method, &unit.name, "s", body.into_bytes())
}
