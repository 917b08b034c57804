//! Our own executor: one `clone3`, a child that only carries out steps, a parent that serves it.

mod agent;
mod attribute;
mod beneath;
mod cgroup;
mod channel;
mod child;
mod copy;
mod device;
mod fault;
mod holder;
mod identity;
mod idmap;
mod job;
mod launch;
mod mounts;
mod net_device;
mod netlink;
mod program;
mod protect;
mod serve;
mod stage;
mod terminal;

use nix::errno::Errno;

use super::{Engine, EngineError, Gate, HookPoints, HookSet, InitProcess, Seat, Target};
use crate::plan::{ExecPlan, Meeting, NamespaceKind, RootStep, Step, TenantPlan};
use crate::sys::process::ArgumentArea;
use crate::sys::{id, process};
use cgroup::View;
use channel::Channel;
use child::Child;
use device::NodeSource;
use idmap::Rights;
use job::{First, Job, Staging};
use launch::{Born, Launch, Place};
use program::Prepared;
use serve::{Setup, Work};

/// The default engine.
#[derive(Debug, Clone, Copy, Default)]
pub struct NativeEngine;

impl Engine for NativeEngine {
    fn create(&self, plan: &ExecPlan, mut seat: Seat<'_>) -> Result<InitProcess, EngineError> {
        check_seat(&plan.steps, &seat)?;
        let program = prepare(&plan.program)?;
        let privileged = is_privileged()?;
        let rights = Rights::read().map_err(parent("cannot read capabilities"))?;
        let launch = Launch::container(&plan.namespaces, privileged)?;
        let bind_maps = serve::bind_maps(&plan.steps, rights)?;
        let (ours, theirs) = Channel::pair().map_err(parent("cannot make the channel"))?;

        let hooks = seat.hooks.take().map(|hooks| hooks as &mut dyn HookPoints);
        let wanted = hooks.as_ref().map(|hooks| hooks.wanted()).unwrap_or_default();
        let own_user = plan.namespaces.separates(NamespaceKind::User);
        let own_mounts = plan.namespaces.separates(NamespaceKind::Mount);
        let by_parent = own_user && own_mounts && privileged;
        let staging = if by_parent { Staging::Parent } else { Staging::Child(&bind_maps) };
        let holds = plan.steps.contains(&Step::Meeting(Meeting::Holder));
        let first = if holds { First::Holder(ArgumentArea::read()) } else { First::Program };
        let job = |joined| Job {
            hooks: wanted,
            meets: wanted != HookSet::default() || !plan.net_devices.is_empty(),
            joined,
            first,
            ..container_job(plan, &seat, staging)
        };
        match launch
            .start(&place(&seat, plan.initial_affinity.as_deref()), plan.namespaces.maps.as_ref())?
        {
            Born::Here { joined } => {
                drop(ours);
                Child::new(job(joined), theirs, hooks, program).run()
            }
            Born::Relay(relay) => {
                drop(ours);
                relay
                    .run(theirs, |theirs| Child::new(job(Vec::new()), theirs, hooks, program).run())
            }
            Born::Child(started) => {
                drop(theirs);
                let setup = own_user.then_some(Setup {
                    maps: plan.namespaces.maps.as_ref().filter(|_| !started.is_relay()),
                    rights,
                    stage: by_parent,
                    bind_maps: &bind_maps,
                });
                let work = Work {
                    steps: &plan.steps,
                    net_devices: &plan.net_devices,
                    hooks,
                    wanted,
                    state: seat.state,
                    setup,
                };
                serve::until_started(started, ours, work, matches!(seat.gate, Gate::Closed { .. }))
            }
        }
    }

    fn exec(
        &self,
        plan: &TenantPlan,
        target: &Target<'_>,
        seat: Seat<'_>,
    ) -> Result<InitProcess, EngineError> {
        check_seat(&plan.steps, &seat)?;
        let program = prepare(&plan.program)?;
        let launch = Launch::tenant(&plan.namespaces, *target, is_privileged()?)?;
        let (ours, theirs) = Channel::pair().map_err(parent("cannot make the channel"))?;
        let kinds = launch.target_kinds();
        let job = || Job {
            target: Some((target.pidfd, kinds)),
            gate: Gate::Open,
            ..job(&plan.steps, &seat, Staging::Parent)
        };
        match launch.start(&place(&seat, plan.initial_affinity.as_deref()), None)? {
            Born::Here { .. } => {
                drop(ours);
                Child::new(job(), theirs, None, program).run()
            }
            Born::Relay(relay) => {
                drop(ours);
                relay.run(theirs, |theirs| Child::new(job(), theirs, None, program).run())
            }
            Born::Child(started) => {
                drop(theirs);
                let wanted = HookSet::default();
                let state = seat.state;
                let work = Work {
                    steps: &plan.steps,
                    net_devices: &[],
                    hooks: None,
                    wanted,
                    state,
                    setup: None,
                };
                serve::until_started(started, ours, work, false)
            }
        }
    }
}

fn place<'j>(seat: &'j Seat<'_>, affinity: Option<&'j [u64]>) -> Place<'j> {
    Place { cgroup: seat.cgroup.unified, tasks: &seat.cgroup.tasks, affinity }
}

fn job<'j>(steps: &'j [Step], seat: &'j Seat<'_>, staging: Staging<'j>) -> Job<'j> {
    Job {
        steps,
        tasks: &seat.cgroup.tasks,
        hierarchies: &seat.cgroup.hierarchies,
        view: View::Namespace,
        stdio: seat.stdio,
        console_socket: seat.console_socket,
        preserve_fds: seat.preserve_fds,
        gate: seat.gate,
        hooks: HookSet::default(),
        meets: false,
        joined: Vec::new(),
        late_cgroup_namespace: !seat.cgroup.tasks.is_empty(),
        target: None,
        staging,
        nodes: NodeSource::Made,
        first: First::Program,
    }
}

fn container_job<'j>(plan: &'j ExecPlan, seat: &'j Seat<'_>, staging: Staging<'j>) -> Job<'j> {
    let separates = |kind| plan.namespaces.separates(kind);
    Job {
        view: if separates(NamespaceKind::Cgroup) { View::Namespace } else { View::Host },
        nodes: if separates(NamespaceKind::User) { NodeSource::Bound } else { NodeSource::Made },
        ..job(&plan.steps, seat, staging)
    }
}

fn parent(action: &str) -> impl FnOnce(Errno) -> EngineError {
    move |errno| EngineError::Parent { action: action.to_owned(), source: errno.into() }
}

fn prepare(program: &crate::plan::Program) -> Result<Prepared, EngineError> {
    Prepared::new(program).map_err(parent("cannot prepare arguments and environment"))
}

fn is_privileged() -> Result<bool, EngineError> {
    let held = id::capget().map_err(parent("cannot read capabilities"))?;
    Ok(held.effective & crate::confine::capability::SYS_ADMIN != 0)
}

/// What the plan needs of the seat is there.
fn check_seat(steps: &[Step], seat: &Seat<'_>) -> Result<(), EngineError> {
    let terminal = |step: &Step| matches!(step, Step::Root(RootStep::Terminal(_)));
    if steps.iter().any(terminal) && seat.console_socket.is_none() {
        return Err(EngineError::Seat { needed: "a console socket (`process.terminal` is true)" });
    }
    let notifies =
        |step: &Step| agent::filter_of(step).is_some_and(|filter| filter.listener.is_some());
    if steps.iter().any(notifies) && seat.state.is_none() {
        return Err(EngineError::Seat { needed: "the state for the seccomp agent" });
    }
    for number in 3..3 + seat.preserve_fds {
        let passed = i32::try_from(number).is_ok_and(process::is_passed);
        if !passed {
            return Err(EngineError::NotPassed { number });
        }
    }
    Ok(())
}
