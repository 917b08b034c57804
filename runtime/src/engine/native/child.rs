//! The new process: it walks the plan's steps and does nothing else.

use std::os::fd::{AsFd, OwnedFd};

use landlock::RulesetCreated;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl, open};
use nix::sys::prctl::set_no_new_privs;
use nix::sys::signal::{SigSet, SigmaskHow, sigprocmask};
use nix::sys::stat::{Mode, umask};
use nix::unistd::{Pid, read, sethostname, write};

use super::super::hook::{HookPoint, HookPoints};
use super::super::seat::{Gate, Stdio};
use super::beneath::{Beneath, Missing};
use super::cgroup;
use super::channel::{Channel, FromParent};
use super::device::{self, LastFolder};
use super::fault::{Fault, Word};
use super::holder::{self, Control};
use super::job::{First, Job, Staging};
use super::program::Prepared;
use super::protect::Covers;
use super::stage::{self, Bind};
use super::terminal::{self, Console};
use super::{identity, mounts, protect};
use crate::confine::{SyscallFilter, landlock as domain};
use crate::plan::{
    Confinement, Entry, Meeting, Mount, Mounted, NamespaceKind, Root, RootStep, Step,
};
use crate::sys::{clone, net, process, seccomp, tty};

/// The running child.
pub(super) struct Child<'a> {
    job: Job<'a>,
    channel: Option<Channel>,
    callbacks: Option<&'a mut dyn HookPoints>,
    program: Prepared,
    pid: Pid,
    root: Option<OwnedFd>,
    received: std::collections::VecDeque<OwnedFd>,
    bound: usize,
    folder: LastFolder<'a>,
    covers: Covers,
    ruleset: Option<RulesetCreated>,
    past_gate: bool,
    control: Control,
}

impl<'a> Child<'a> {
    pub(super) fn new(
        job: Job<'a>,
        channel: Channel,
        callbacks: Option<&'a mut dyn HookPoints>,
        program: Prepared,
    ) -> Self {
        Self {
            job,
            channel: Some(channel),
            callbacks,
            program,
            pid: Pid::from_raw(0),
            root: None,
            received: std::collections::VecDeque::new(),
            bound: 0,
            folder: LastFolder::default(),
            covers: Covers::default(),
            ruleset: None,
            past_gate: false,
            control: Control::None,
        }
    }

    /// Walks the steps. The last one becomes the program.
    pub(super) fn run(self) -> ! {
        // A panic must not unwind into the copy of the parent's code that lies below.
        let walk = std::panic::AssertUnwindSafe(|| self.walk());
        let _ = std::panic::catch_unwind(walk);
        clone::exit_now(1)
    }

    fn walk(mut self) {
        let steps = self.job.steps;
        let outcome = self.settle().map_err(|fault| (usize::MAX, fault)).and_then(|()| {
            steps
                .iter()
                .enumerate()
                .try_for_each(|(index, step)| self.perform(step).map_err(|fault| (index, fault)))
        });
        if let Err((index, fault)) = outcome {
            self.report(index, fault);
        }
    }

    fn report(&self, index: usize, fault: Fault) {
        if self.past_gate {
            let report = fault.into_report(self.job.steps.get(index));
            if let (Gate::Closed { report: to, .. }, Ok(text)) =
                (self.job.gate, serde_json::to_vec(&report))
            {
                let _ = write(to, &text);
            }
        } else if let (Some(channel), Ok(text)) =
            (&self.channel, serde_json::to_vec(&Word { step: index, fault }))
        {
            let _ = channel.say(b'F', &text);
        }
    }

    /// A known state to start from: signals, mask, streams, descriptors.
    fn settle(&mut self) -> Result<(), Fault> {
        process::default_sigpipe()?;
        sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::empty()), None)?;
        umask(Mode::empty());
        if let Stdio::Given(streams) = self.job.stdio {
            // First out of the way: one of them may have the number of another.
            let mut copies = Vec::with_capacity(3);
            for stream in streams {
                let copy = fcntl(stream, FcntlArg::F_DUPFD_CLOEXEC(3))?;
                copies.push(process::received(copy));
            }
            for (number, copy) in (0..).zip(&copies) {
                process::duplicate_to(copy.as_fd(), number)?;
            }
        }
        match process::close_on_exec_from(3 + self.job.preserve_fds) {
            Err(Errno::EINVAL | Errno::ENOSYS) => {
                process::close_on_exec_one_by_one(3 + self.job.preserve_fds)?;
            }
            other => other?,
        }
        Ok(())
    }

    fn perform(&mut self, step: &'a Step) -> Result<(), Fault> {
        match step {
            Step::Entry(step) => self.enter(step),
            Step::Root(step) => self.build(step),
            Step::Identity(step) => identity::take_on(step),
            Step::Confinement(step) => self.confine(step),
            Step::Meeting(step) => self.meet(step),
        }
    }

    fn enter(&mut self, step: &Entry) -> Result<(), Fault> {
        match step {
            Entry::JoinCgroup => self.join_cgroup(),
            Entry::JoinTarget => self.join_target(),
            Entry::JoinNamespace(kind) => self.join(*kind),
            Entry::NewCgroupNamespace => self.new_cgroup_namespace(),
            Entry::AwaitIdMaps => self.await_parent(),
            Entry::TimeNamespace(offsets) => identity::time_namespace(offsets),
            Entry::LoopbackUp => Ok(net::loopback_up()?),
            Entry::Hostname(name) => Ok(sethostname(name)?),
            Entry::Domainname(name) => Ok(process::set_domain_name(name)?),
        }
    }

    fn build(&mut self, step: &'a RootStep) -> Result<(), Fault> {
        match step {
            RootStep::OpenRoot(root) => self.open_root(root),
            RootStep::Mount(mount) => self.mount(mount),
            RootStep::Device(node) => self.device(node),
            RootStep::DeviceLinks => self.links(),
            RootStep::Terminal(wanted) => self.terminal(wanted),
            RootStep::WorkFolder(path) => {
                Ok(self.beneath()?.open_or_make(path, Missing::Folder).map(drop)?)
            }
            RootStep::Mask(path) => self.mask(path),
            RootStep::ReadOnlyPath(path) => protect::read_only(self.beneath()?, path),
            RootStep::Sysctl(setting) => protect::sysctl(setting),
            RootStep::RestrictRoot(change) => protect::restrict_root(self.beneath()?.0, *change),
            RootStep::EnterRoot(entry) => protect::enter(self.beneath()?.0, *entry),
            RootStep::ChangeRoot(path) => protect::change_root(path),
            RootStep::RootPropagation(propagation) => protect::propagate(*propagation),
        }
    }

    fn confine(&mut self, step: &Confinement) -> Result<(), Fault> {
        match step {
            Confinement::LandlockRules(rules) => {
                self.ruleset = Some(rules.build()?);
                Ok(())
            }
            Confinement::NoNewPrivileges => Ok(set_no_new_privs()?),
            Confinement::RegainCapabilities => identity::regain_capabilities(),
            Confinement::Capabilities(sets) => Ok(sets.apply()?),
            Confinement::LandlockDomain => {
                let ruleset = self.ruleset.take().ok_or(Errno::EBADF)?;
                Ok(domain::restrict(ruleset)?)
            }
            Confinement::SyscallFilter(filter) => self.filter(filter),
        }
    }

    fn meet(&mut self, step: &Meeting) -> Result<(), Fault> {
        match step {
            Meeting::CreateRuntimeHooks => self.runtime_hooks(),
            Meeting::CreateContainerHooks => {
                self.hooks(HookPoint::CreateContainer, self.job.hooks.create_container)
            }
            Meeting::FindProgram => self.program.find(),
            Meeting::Ready => Ok(self.channel()?.say(b'R', &[])?),
            Meeting::Gate => self.gate(),
            Meeting::Holder => self.hold(),
            Meeting::StartContainerHooks => {
                self.hooks(HookPoint::StartContainer, self.job.hooks.start_container)
            }
            Meeting::Execute => Err(self.program.execute()),
        }
    }

    fn channel(&self) -> Result<&Channel, Fault> {
        self.channel.as_ref().ok_or_else(|| Fault::from(Errno::EBADF))
    }

    fn beneath(&self) -> Result<Beneath<'_>, Fault> {
        self.root.as_ref().map(|root| Beneath(root.as_fd())).ok_or_else(|| Errno::EBADF.into())
    }

    fn join_cgroup(&self) -> Result<(), Fault> {
        for tasks in self.job.tasks {
            write(tasks, b"0")?;
        }
        Ok(())
    }

    fn join_target(&self) -> Result<(), Fault> {
        // A relay may have entered them already.
        if let Some((target, kinds)) = self.job.target.filter(|(_, kinds)| *kinds != 0) {
            clone::setns(target, kinds)?;
        }
        Ok(())
    }

    fn join(&self, kind: NamespaceKind) -> Result<(), Fault> {
        for (_, namespace) in self.job.joined.iter().filter(|(own, _)| *own == kind) {
            clone::setns(namespace, kind.flag())?;
        }
        Ok(())
    }

    fn new_cgroup_namespace(&self) -> Result<(), Fault> {
        if self.job.late_cgroup_namespace {
            clone::unshare(NamespaceKind::Cgroup.flag())?;
        }
        Ok(())
    }

    fn await_parent(&mut self) -> Result<(), Fault> {
        match self.channel()?.hear_parent()? {
            FromParent::Go(pid, descriptors) => {
                self.pid = pid;
                self.received.extend(descriptors);
                Ok(())
            }
            // Nobody is left to be told.
            FromParent::Closed => clone::exit_now(1),
        }
    }

    fn runtime_hooks(&mut self) -> Result<(), Fault> {
        if !self.job.meets {
            return Ok(());
        }
        self.channel()?.say(b'H', &[])?;
        self.await_parent()
    }

    fn hooks(&mut self, point: HookPoint, wanted: bool) -> Result<(), Fault> {
        match &mut self.callbacks {
            Some(callbacks) if wanted => {
                callbacks.run(point, self.pid).map_err(|fault| Fault::Hook(point, fault))
            }
            _ => Ok(()),
        }
    }

    fn gate(&mut self) -> Result<(), Fault> {
        let Gate::Closed { wait, .. } = self.job.gate else { return Ok(()) };
        // The runtime wrote down that this container exists; should it have died before, nobody
        // knows of this process.
        if !self.channel()?.wait_plainly()? {
            clone::exit_now(1);
        }
        self.channel = None;
        self.past_gate = true;
        loop {
            match read(wait, &mut [0]) {
                Err(Errno::EINTR) => {}
                other => return Ok(other.map(drop)?),
            }
        }
    }

    fn open_root(&mut self, root: &Root) -> Result<(), Fault> {
        self.root = Some(match self.job.staging {
            Staging::Child(_) => stage::open_root(root)?,
            Staging::Parent => self.received.pop_front().ok_or(Errno::EBADF)?,
        });
        Ok(())
    }

    fn mount(&mut self, mount: &Mount) -> Result<(), Fault> {
        match &mount.what {
            Mounted::Bind { .. } => {
                let tree = self.next_source(mount)?;
                mounts::bind(self.beneath()?, mount, tree.as_fd())
            }
            Mounted::Cgroup => {
                cgroup::mount(self.beneath()?, mount, self.job.hierarchies, self.job.view)
            }
            Mounted::Kernel { .. } | Mounted::Other { .. } | Mounted::Remount { .. } => {
                mounts::other(self.beneath()?, mount)
            }
        }
    }

    /// The source of the next bind, cloned here or by the parent.
    fn next_source(&mut self, mount: &Mount) -> Result<OwnedFd, Fault> {
        let number = self.bound;
        self.bound += 1;
        let Staging::Child(maps) = self.job.staging else {
            if self.received.is_empty() {
                let number = i32::try_from(number).map_err(|_| Errno::EOVERFLOW)?;
                self.channel()?.say(b'S', &number.to_ne_bytes())?;
                self.await_parent()?;
            }
            return Ok(self.received.pop_front().ok_or(Errno::EBADF)?);
        };
        let bind = Bind::of(mount).ok_or(Errno::EBADF)?;
        bind.open(maps.get(number).and_then(Option::as_ref).map(AsFd::as_fd))
    }

    fn mask(&mut self, path: &std::path::Path) -> Result<(), Fault> {
        let mut covers = std::mem::take(&mut self.covers);
        let done = protect::mask(self.beneath()?, path, &mut covers);
        self.covers = covers;
        done
    }

    fn device(&mut self, node: &'a crate::plan::Device) -> Result<(), Fault> {
        let mut last = std::mem::take(&mut self.folder);
        let done =
            self.beneath().and_then(|root| device::device(root, node, self.job.nodes, &mut last));
        self.folder = last;
        done
    }

    fn links(&mut self) -> Result<(), Fault> {
        let mut last = std::mem::take(&mut self.folder);
        self.beneath().and_then(|root| device::links(root, &mut last))
    }

    fn terminal(&mut self, wanted: &crate::plan::Terminal) -> Result<(), Fault> {
        let socket = self.job.console_socket.ok_or(Errno::EBADF)?;
        if let Ok(root) = self.beneath() {
            terminal::make(root, wanted, socket, Console::Mounted)?;
        } else {
            // Without mounts of its own making there is no console to show it on.
            let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
            let root = open("/", flags, Mode::empty())?;
            terminal::make(Beneath(root.as_fd()), wanted, socket, Console::Absent)?;
        }
        self.control = Control::Terminal;
        if matches!(self.job.first, First::Program) {
            tty::make_controlling(std::io::stdin().as_fd())?;
        }
        Ok(())
    }

    fn filter(&self, filter: &SyscallFilter) -> Result<(), Fault> {
        let listener = seccomp::load_filter(&filter.program, filter.flags)?;
        if let Some(listener) = listener {
            self.channel()?.send(b'N', &[], &[listener.as_fd()])?;
        }
        Ok(())
    }

    fn hold(&mut self) -> Result<(), Fault> {
        if let First::Holder(area) = self.job.first {
            holder::hold(self.control, area)?;
        }
        self.program.renumber()
    }
}
