//! What becomes of each capability key: enforced, carried, of no effect, or refused.

/// What becomes of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Handling {
    /// A mechanism holds the capsule's processes to it.
    Enforced,
    /// Nothing of ours acts on it and no process relies on it: validated, reported, carried.
    Carried,
    /// Of no effect where it stands; said as a warning.
    Warned,
    /// Refused while this version has no mechanism for it (`E-CAP-200`); an empty list is accepted.
    Refused,
    /// Refused where it stands: it belongs elsewhere.
    Misplaced,
}

/// Every key below `capabilities`, as the capsule itself declares it.
///
/// A restriction that a process might rely on is never carried or warned about alone: it is enforced or refused.
pub const KEYS: [(&str, Handling); 47] = {
    use Handling::{Carried, Enforced, Misplaced, Refused, Warned};
    [
        ("containment", Enforced),
        ("filesystem.scope", Enforced),
        ("filesystem.workdir_exec", Enforced),
        ("filesystem.read_only", Enforced),
        ("filesystem.records", Misplaced),
        ("network.allow", Refused),
        ("network.unix_sockets", Enforced),
        ("shell.allow", Enforced),
        ("shell.strip_env", Enforced),
        ("shell.baseline_env", Enforced),
        ("shell.interpreter_runtime[].binary", Enforced),
        ("shell.interpreter_runtime[].dirs[].path", Enforced),
        ("shell.interpreter_runtime[].dirs[].list_dir", Enforced),
        ("shell.staged_runtime[].binary", Enforced),
        ("shell.staged_runtime[].source_path", Enforced),
        ("shell.staged_runtime[].pin", Carried),
        ("spawn.allow", Carried),
        ("spawn.workdir_snapshot", Carried),
        ("env.allow", Enforced),
        ("plan.submit", Carried),
        ("install.skill", Carried),
        ("install.tool", Carried),
        ("install.from", Carried),
        ("peer_fetch.allow", Carried),
        ("limits.memory_bytes", Warned),
        ("limits.table_elements", Warned),
        ("limits.instances", Warned),
        ("limits.deadline_seconds", Warned),
        ("resources.max_processes", Enforced),
        ("resources.max_open_files", Enforced),
        ("resources.max_file_size_bytes", Enforced),
        ("resources.cpu_seconds", Enforced),
        ("resources.memory_bytes", Enforced),
        ("resources.cgroup_memory_bytes", Enforced),
        ("resources.cgroup_pids_max", Enforced),
        ("resources.cgroup_cpu_percent", Enforced),
        ("resources.cgroup_io_bytes_per_sec", Enforced),
        ("resources.workdir_max_bytes", Enforced),
        ("state.store", Warned),
        ("task_io.read", Misplaced),
        ("conversation.read", Warned),
        ("harness.paths[].path", Refused),
        ("harness.paths[].access", Refused),
        // On an artifact's entry, where these five have their effect.
        ("artifacts[].network.allow", Carried),
        ("artifacts[].filesystem.scope", Carried),
        ("artifacts[].filesystem.records", Carried),
        ("artifacts[].state.store", Carried),
    ]
};
