//! The table of codes: a row each, nothing else. `docs/errors.md` is rendered from it.

use super::codes;

codes! {
    EMan001 "E-MAN-001" "a required field is missing or blank"
        means "The manifest lacks a key that it needs, or the key has no value."
        cause "`name`, `version` or a key that a block requires was left out or left empty."
        fix "Write the key that the message names.";
    EMan002 "E-MAN-002" "the file is no YAML document"
        means "The file could not be read as one YAML document in UTF-8. The message has line and column."
        cause "A tab in an indentation, a missing colon or quote, a key written twice, a second document, another encoding."
        fix "Correct the place that the message names.";
    EMan003 "E-MAN-003" "a value is not accepted"
        means "A key has a value of another type or form than it accepts, or the key itself is refused."
        cause "A spelling that the key's grammar does not know, a combination that has no meaning, or a retired key."
        fix "Write the form that the message gives.";
    EIo001 "E-IO-001" "a file or folder was not found"
        means "A path that was named does not exist."
        cause "A mistyped path, or another working directory than expected."
        fix "Name an existing path.";
    EIo002 "E-IO-002" "permission was denied on the host"
        means "The host refused to open, make or change a file for this user."
        cause "The file belongs to somebody else, or its folder may not be written."
        fix "Give this user the right, or name another path.";
    EIo003 "E-IO-003" "a file could not be read or written"
        means "Reading or writing failed for a reason other than absence or permission. An operator file that does not parse is one of them."
        cause "A full or failing disk, a folder where a file is expected, a mistake in `config.yaml`."
        fix "Follow the cause that is printed with it.";
    EIo004 "E-IO-004" "the home folder cannot hold `~/.murmur`"
        means "Records and state have no place, so nothing was created."
        cause "`HOME` is unset, is not a folder, or may not be written."
        fix "Set `HOME` to a folder that this user may write.";
    ECfg002 "E-CFG-002" "the key cannot be set"
        means "`config set` knows only a few keys, and this is none of them."
        cause "A mistyped key, or `credentials.<NAME>` without `-g`."
        fix "Edit `config.yaml` by hand for every other key."
        absent "There is no `config set`; the file is edited by hand.";
    ECfg003 "E-CFG-003" "the configuration cannot be used"
        means "A value of the operator's configuration is not usable for this command."
        cause "A registry or an endpoint that the command needs is not configured."
        fix "Correct the key that the message names in `config.yaml`."
        absent "It belongs to publishing and searching artifacts.";
    ECap001 "E-CAP-001" "a network entry is not accepted"
        means "An entry of `network.allow` or `peer_fetch.allow` names no single destination, so the launch is refused before anything is made."
        cause "A wildcard, a range of addresses or ports, a path, a user name, or another scheme than `http` and `https`."
        fix "Write `host`, `host:port`, `http://host[:port]` or `https://host[:port]`, an IPv6 address in brackets; one entry for each host.";
    ECap002 "E-CAP-002" "`filesystem.scope` is not a folder below the work folder"
        means "The scope is absolute or leaves the work folder, so the launch is refused before anything is made."
        cause "A path that begins with `/`, or one whose `..` climbs out."
        fix "Write a relative path that stays in the work folder, as `src`.";
    ECap003 "E-CAP-003" "the containment floor is not met"
        means "The class that can be reached here is below the class that is asked for. Nothing was started; `explain` shows what each class could have."
        cause "The host lacks a mechanism; or `filesystem.workdir_exec` caps the class; or the runtime's own folders lie in the work folder."
        fix "By cause: use another host or lower the floor to the class it backs; or turn `workdir_exec` off; or use another `--workdir`. The floor comes from `capabilities.containment`, from `containment` in a `config.yaml`, and from `--containment`.";
    ECap004 "E-CAP-004" "a staged runtime needs the class `sealed`"
        means "`shell.staged_runtime` binds a tree into a composed root, and only a floor of `sealed` promises one."
        cause "The declared floor is below `sealed`, whatever the host could do."
        fix "Raise `capabilities.containment` to `sealed`, or drop the grant.";
    ECap005 "E-CAP-005" "the network namespace cannot be created"
        means "The capsule starts programs, and without a network namespace of its own their connections could not be held."
        cause "User namespaces are restricted, the kernel was built without network namespaces, or a needed capability is missing."
        fix "`mur doctor` names the refused call and the command that allows it.";
    ECap006 "E-CAP-006" "a script's interpreter cannot be reached when sealed"
        means "A `shell.allow` entry is a script, and nothing grants the tree that its interpreter loads."
        cause "A wrapper of a package manager, whose libraries lie beside it."
        fix "Allow the interpreter and call the module form (`python3 -m …`), or add an `interpreter_runtime` or a `staged_runtime` for it."
        absent "A script's interpreter is followed and the path it imports from is granted with it; what cannot be found fails when the script is started.";
    ECap007 "E-CAP-007" "an export root leaves the work folder"
        means "`exports.files.root` or `exports.peer_files.root` resolves to a place outside the work folder."
        cause "A symbolic link on the path points out."
        fix "Name a root that lies inside the work folder."
        absent "Exports are carried and reported; nothing of this program serves them.";
    ECap008 "E-CAP-008" "peer files outlive a sleeping capsule's limit"
        means "With `lifecycle.after_task: sleep` a handle must end within 15 minutes, and none that does is declared."
        cause "`exports.peer_files.max_ttl` is absent or above 900 seconds."
        fix "Declare `max_ttl: 15m` or less, or drop the export.";
    ECap009 "E-CAP-009" "a state store has no usable name"
        means "`state.store` must be one folder name, and the folder must be usable."
        cause "An empty name, a `/`, a leading dot, or a folder that this user may not use."
        fix "Write one path segment without a leading dot.";
    ECap010 "E-CAP-010" "an artifact's `config` cannot be delivered"
        means "`config` travels to the artifact as a JSON object, and this value is none."
        cause "It is null, a list or a scalar, has a key that is not text or a number JSON does not know, or is too large."
        fix "Write a mapping with text keys and plain values.";
    ECap011 "E-CAP-011" "the record store has no usable name"
        means "`context.record_store` or `--context` must be one folder name."
        cause "An empty name, a `/` or a leading dot."
        fix "Write one path segment without a leading dot.";
    ECap012 "E-CAP-012" "a read-only entry is not a folder below the work folder"
        means "An entry of `filesystem.read_only` is absolute or leaves the work folder."
        cause "A path that begins with `/`, or one whose `..` climbs out."
        fix "Write a relative path that stays in the work folder.";
    ECap013 "E-CAP-013" "an artifact has a name the runtime keeps for itself"
        means "The model calls tools by their bare names, and this one is a tool of the runtime."
        cause "The entry's bare name is one of the reserved names that the message lists."
        fix "Give the artifact another name.";
    ECap014 "E-CAP-014" "a declared variable is not set on this host"
        means "A capsule that may be started from here asks for a variable that has no value."
        cause "`env.allow` names a variable that is not exported."
        fix "Export it, or take it off `env.allow`."
        absent "There is no referee in this version, so no session starts another.";
    ECap015 "E-CAP-015" "a child asks for a variable its parent does not hold"
        means "A started capsule may never hold more than the one that starts it."
        cause "The child's `env.allow` has a name that the parent's has not."
        fix "Add the name to the parent, or take it off the child."
        absent "There is no referee in this version, so no session starts another.";
    ECap016 "E-CAP-016" "a declared variable is always stripped"
        means "The credential backstop drops this name for everybody, so the grant would deliver nothing."
        cause "`env.allow` names a well-known credential, or a name that `strip_env` drops."
        fix "Hand the secret over as a `gateway` key, or under a name that the pattern does not match.";
    ECap017 "E-CAP-017" "a gateway stands on a native tool"
        means "In the reference only a WASM artifact can have a gateway."
        cause "`gateway` on an artifact whose implementation is native."
        fix "Drop the gateway."
        absent "Every tool of this program is native, and its gateway is honoured.";
    ECap018 "E-CAP-018" "a gateway says neither a key nor that it needs none"
        means "Exactly one of `api_key` and `keyless: true` must be written, so that a forgotten key is not taken for a public upstream."
        cause "Both are absent, both are written, or `keyless` is `false`."
        fix "Write `api_key: ${NAME}`, or `keyless: true`.";
    ECap019 "E-CAP-019" "a process driver needs a variable that is not declared"
        means "The harness will not work without a variable that `env.allow` does not name."
        cause "The driver's manifest requires it."
        fix "Add the name to `capabilities.env.allow`."
        absent "Artifacts are not installed or opened by this version, so nothing of their own manifests is read.";
    ECap020 "E-CAP-020" "two artifacts share a tool name"
        means "The model calls tools by their bare names, and two entries have the same."
        cause "Two scopes publish an artifact of one name."
        fix "Keep one of the two.";
    ECap021 "E-CAP-021" "a harness needs what the manifest does not allow"
        means "The harness asks for a host folder or a destination that is not granted, or that resolves to a refused place."
        cause "`capabilities.harness.paths` or `capabilities.network.allow` lacks it."
        fix "Add each need that the message lists, or use another harness."
        absent "Artifacts are not installed or opened by this version, so nothing of their own manifests is read. A manifest with `harness.paths` is refused as `E-CAP-200`.";
    ECap200 "E-CAP-200" "a grant cannot be enforced by this version"
        means "The manifest asks for something that this version has no mechanism for. It is refused, so that it is never silently dropped."
        cause "A key that a later version enforces."
        fix "Take the key off that the message names, or use a version that enforces it.";
    ECap201 "E-CAP-201" "the program is not one that `shell.allow` names"
        means "What a capsule runs must be granted like everything it starts."
        cause "The program of `run -- CMD`, of `process.args` or of `exec` is missing in `capabilities.shell.allow`."
        fix "Add its name to `capabilities.shell.allow`, or run one that is there.";
    ECap202 "E-CAP-202" "`unconfined` is asked for by one side alone"
        means "Running without any mechanism needs the manifest's and the operator's word together."
        cause "Only one of `capabilities.containment: unconfined` and `--containment unconfined` is given."
        fix "Give both, or neither.";
    ECap203 "E-CAP-203" "a granted program is not on this host"
        means "`shell.allow` names a program that was not found on the runtime's `PATH`."
        cause "The program is not installed, or `PATH` lacks its folder."
        fix "Install it, extend `PATH`, or take the name off `shell.allow`.";
    ECap204 "E-CAP-204" "the work folder cannot be used"
        means "The capsule would have no safe place to work in."
        cause "The folder is missing, is not a folder, is `/`, the home or the temporary folder, or holds the runtime's own folders."
        fix "Name another one with `--workdir`.";
    ECap205 "E-CAP-205" "a host folder of the operator cannot be granted"
        means "An entry of `host_paths` in `config.yaml` is refused; the message has its index and path."
        cause "The entry lacks a key, is `/`, written twice, missing, not a folder, a system path, in the work folder, or above what is executable."
        fix "Correct or drop the entry.";
    ECap206 "E-CAP-206" "an artifact is a WASM component"
        means "This version runs native programs only, and refuses what it cannot run."
        cause "The artifact's own manifest says `implementation: wasm`, or says nothing."
        fix "Use a native build of the artifact."
        absent "Artifacts are not installed or opened by this version, so nothing of their own manifests is read.";
    ECap207 "E-CAP-207" "the environment of the process would be stripped"
        means "`process.env` sets a name that the credential backstop drops or that the runtime owns, so it would never arrive."
        cause "A credential-shaped name, or one of `HOME`, `TMPDIR` and their kind."
        fix "Take the name off `process.env`.";
    ECap208 "E-CAP-208" "there is nothing to run"
        means "A capsule without an agent runs one process, and none was named."
        cause "No command follows `--`, and the manifest has neither `process:` nor a process harness."
        fix "Write the command after `--`, or add `process: {args: [...]}` to the manifest.";
    EBun200 "E-BUN-200" "the output folder exists"
        means "A bundle is written into a folder of its own, and never over another."
        cause "The folder named with `-o` is there already."
        fix "Name another folder, or remove that one.";
    EBun201 "E-BUN-201" "the bundle cannot be written"
        means "Writing failed; what was written so far has been removed."
        cause "A folder that may not be written, or a full disk."
        fix "Follow the cause that is printed with it.";
    EBun202 "E-BUN-202" "`config.json` is not valid"
        means "The bundle's `config.json` is missing, is no JSON, or breaks a rule of the runtime specification."
        cause "A bundle edited by hand, or made by another tool."
        fix "Correct the member that the message names.";
    EBun203 "E-BUN-203" "an unconfined capsule has no bundle"
        means "A bundle is a promise that its runtime holds the capsule, and `unconfined` asks that nothing does."
        cause "`mur bundle` on a manifest with `containment: unconfined`."
        fix "Ask for another class, or use `mur run`.";
    EBun204 "E-BUN-204" "the bundle is not what its report says"
        means "`config.json` and `murmur-scope.json` do not belong together."
        cause "One of them was edited after the bundle was made."
        fix "Make the bundle again."
        absent "There is no `bundle verify` in this version.";
    EBun205 "E-BUN-205" "a `org.murmur` annotation cannot be used"
        means "The policy that the annotation carries or names is unreadable, and a container is never started without the policy it asks for."
        cause "Broken JSON in `org.murmur.policy`, or a name in `org.murmur.manifest` that the operator's capsule folders do not have."
        fix "Write the policy as `mur bundle` does, or install the manifest as `/etc/murmur/capsules/NAME`.";
    EBun206 "E-BUN-206" "the engine's configuration makes the policy impossible"
        means "A policy narrows what the engine asks for. Here the two cannot both hold."
        cause "An option of the engine, as a privileged mode or a writable mount, contradicts the capsule's manifest."
        fix "Drop the option that the message names, or the annotation.";
    ERun001 "E-RUN-001" "a guest was ended by its own bounds"
        means "A WASM guest trapped, ran past `limits.deadline_seconds`, or broke another limit of its store."
        cause "A defect of the guest, or a limit that is too small for it."
        fix "Raise the limit, or correct the guest."
        absent "WASM guests are not run by this version.";
    ERun003 "E-RUN-003" "an artifact does not match the lock file"
        means "The lock file has no entry for an artifact, or one of another version."
        cause "The manifest was changed after the lock was written."
        fix "Install again, or correct `murmur.lock`.";
    ERun006 "E-RUN-006" "the driver or the harness was not found"
        means "`inference.driver` is not installed, or its program is not on this host."
        cause "An artifact that was never installed, or a program missing on `PATH`."
        fix "Install what the message names."
        absent "Artifacts are not installed or opened by this version, so nothing of their own manifests is read.";
    ERun007 "E-RUN-007" "the session's record could not be written"
        means "A session whose trace cannot be written is ended, since nobody could say what it did."
        cause "A full disk, or a records folder that may not be written."
        fix "Make room, or correct the folder's owner.";
    ERun008 "E-RUN-008" "an artifact is not installed"
        means "No store has an artifact that the manifest needs."
        cause "It was never installed on this host."
        fix "Run `mur install` in the project."
        absent "Artifacts are not installed or opened by this version, so nothing of their own manifests is read.";
    ERun009 "E-RUN-009" "the system prompt's file cannot be read"
        means "`inference.system_prompt_file` names a file that could not be read."
        cause "The path is relative to the manifest's folder, and there is no such file."
        fix "Correct the path."
        absent "Prompts are read by the agent loop, which is not part of this program.";
    ERun010 "E-RUN-010" "the door's port is in use"
        means "`network.internal_port` cannot be bound."
        cause "Another program listens there."
        fix "Choose another port."
        absent "There is no door; a capsule gets its task in a file and on its input.";
    ERun011 "E-RUN-011" "a command was ended by a resource limit"
        means "The kernel stopped a command; the message names the limit."
        cause "`cpu_seconds`, `max_file_size_bytes`, `cgroup_memory_bytes` or `cgroup_pids_max` was reached."
        fix "Raise that key in `capabilities.resources`, or do less.";
    ERun012 "E-RUN-012" "no cgroup scope could be made"
        means "Without a cgroup no limit holds over all processes together, so the capsule is not started."
        cause "The cgroup tree is not delegated to this user, or not mounted."
        fix "Start mur in a systemd user scope or as root, or drop what starts programs from the manifest.";
    ERun013 "E-RUN-013" "the work folder grew above its ceiling"
        means "Work, temporary and home folder together are above `workdir_max_bytes`; the session was ended."
        cause "The capsule wrote more than expected."
        fix "Raise `capabilities.resources.workdir_max_bytes`, or clean up.";
    ERun014 "E-RUN-014" "the capsule's root could not be built"
        means "The host was probed and found able, and yet a step of building the root failed. The message names step and error."
        cause "A missing `staged_runtime` tree above all, or a path that vanished meanwhile."
        fix "Restore the path that the message names.";
    ERun015 "E-RUN-015" "two ways to choose a conversation"
        means "`--resume` and `--context` exclude each other."
        cause "Both were given."
        fix "Give one of them."
        absent "Conversations belong to the agent loop, which is not part of this program.";
    ERun016 "E-RUN-016" "the session to resume has no conversation"
        means "Nothing was recorded that could be gone on with."
        cause "The session recorded none, or its record was removed."
        fix "Resume another session."
        absent "Conversations belong to the agent loop, which is not part of this program.";
    ERun017 "E-RUN-017" "the conversation belongs to another capsule"
        means "A record may be gone on with by the capsule that made it."
        cause "Another manifest than the one that recorded it."
        fix "Resume with the capsule that recorded it."
        absent "Conversations belong to the agent loop, which is not part of this program.";
    ERun018 "E-RUN-018" "the conversation's record cannot be read"
        means "The record is there, but damaged or of another format."
        cause "A crash while writing, or a newer version's record."
        fix "Forget the session, or use the version that wrote it."
        absent "Conversations belong to the agent loop, which is not part of this program.";
    ERun019 "E-RUN-019" "the session could not register for spawning"
        means "A session that may start others, or was started by one, needs the referee, and could not reach it."
        cause "No referee listens at `MURMUR_ROOST_URL`."
        fix "Start `mur roost`, or drop `capabilities.spawn`."
        absent "There is no referee in this version, so no session starts another.";
    ERun020 "E-RUN-020" "the spawner's handle cannot be read"
        means "The session was started by another one, but what ties it to that one is unreadable."
        cause "`MURMUR_SPAWNER` or its lifeline was changed or closed."
        fix "Start the session through its parent."
        absent "There is no referee in this version, so no session starts another.";
    ERun021 "E-RUN-021" "a tool is for another platform"
        means "The artifact's program cannot run on this machine."
        cause "It was built for another system or processor."
        fix "Install a build for this platform."
        absent "Artifacts are not installed or opened by this version, so nothing of their own manifests is read.";
    ERun022 "E-RUN-022" "no session has that address"
        means "An id, a suffix or `@N` names no session."
        cause "A mistyped id, or a session that has ended and was removed."
        fix "`mur ps` and `mur trace list` show those there are."
        absent "Sessions are not looked up, stopped or pruned by this version.";
    ERun023 "E-RUN-023" "the session gives no answer"
        means "The session's process is there, but what was asked of it was not answered."
        cause "A process that hangs, or was stopped."
        fix "End it with `mur stop`."
        absent "Sessions are not looked up, stopped or pruned by this version.";
    ERun024 "E-RUN-024" "the session could not be ended or is still running"
        means "Ending a session failed, or a record of a running one was to be removed."
        cause "The session is not this user's, or is still running."
        fix "Stop the session first, as the user who started it."
        absent "Sessions are not looked up, stopped or pruned by this version.";
    ERun025 "E-RUN-025" "an artifact does not say how its upstream wants the key"
        means "An entry has a `gateway`, but the artifact's own manifest has no usable block on authentication."
        cause "An artifact that was not made for a gateway."
        fix "Use an artifact that is, or drop the gateway."
        absent "Artifacts are not installed or opened by this version, so nothing of their own manifests is read.";
    ERun040 "E-RUN-040" "the task did not complete"
        means "The session ended without the task being done."
        cause "The agent gave up, ran out of turns or was cancelled."
        fix "The session's trace says what happened."
        absent "Tasks belong to the agent loop; a command's own exit code is returned here.";
    ERun043 "E-RUN-043" "an artifact pulled at run time has a role it may not have"
        means "What a session pulled itself may not become a hook, a driver, a system prompt or have a gateway."
        cause "The manifest names an artifact whose lock entry says `origin: runtime`."
        fix "Install it as the operator, which pins it anew.";
    ERun047 "E-RUN-047" "the capsule's bytes changed after admission"
        means "What would be started is not what the referee allowed."
        cause "The artifact was replaced meanwhile."
        fix "Ask for the spawn again."
        absent "There is no referee in this version, so no session starts another.";
    ERun050 "E-RUN-050" "a link or a wrong kind of file in the work folder"
        means "The runtime works in the work folder without following links, and met one."
        cause "The capsule, or its author, put a link where a file or folder is expected."
        fix "Replace the link that the message names."
        absent "What this version reads of a work folder are `scope` and `read_only`, whose links have codes of their own.";
    ERun051 "E-RUN-051" "the child's work folder is another one"
        means "The folder a delegated session was to work in is not the one its parent made."
        cause "It was removed and made again."
        fix "Delegate again."
        absent "There is no referee in this version, so no session starts another.";
    ERun053 "E-RUN-053" "the deadline was reached"
        means "The session was ended because its time was over."
        cause "`--deadline`, or the deadline of the session that started it."
        fix "Give it more time, or less to do."
        absent "Sessions have no deadline in this version.";
    ERun200 "E-RUN-200" "a step before the program's start failed"
        means "The container's first process could not be brought to the point where the program starts. The message names step and error; nothing is left behind."
        cause "The host refuses what the step needs."
        fix "`mur doctor` tries each mechanism and says what allows it.";
    ERun201 "E-RUN-201" "the program cannot be executed"
        means "Everything was ready, and the program itself could not be started."
        cause "It is missing in the container, is not executable, is for another platform, or its interpreter is missing."
        fix "Correct `process.args`, or grant what the program needs to start.";
    ERun202 "E-RUN-202" "the container id is not accepted"
        means "An id is made of letters, digits and `_+-.`, and is neither `.` nor `..`."
        cause "A blank, a slash or another character."
        fix "Choose another id.";
    ERun203 "E-RUN-203" "the container exists"
        means "A container of this id is known under this root."
        cause "It was not deleted, or two callers use one id."
        fix "Delete it, or choose another id.";
    ERun204 "E-RUN-204" "the container does not exist"
        means "No container of this id is known under this root."
        cause "It was deleted, or `--root` is another."
        fix "`mur list` shows those there are.";
    ERun205 "E-RUN-205" "the container is in another state"
        means "The command does not apply to a container in this state."
        cause "As starting a running container, or executing in a stopped one."
        fix "`mur state` shows the state it is in.";
    ERun206 "E-RUN-206" "the container's files under the root are damaged"
        means "What was written about the container cannot be read."
        cause "A crash, a full disk, or another version's file."
        fix "Remove the container with `mur delete --force`.";
    ERun207 "E-RUN-207" "the host lacks what `config.json` asks for"
        means "The bundle is valid, but needs a kernel feature or a right that is missing here."
        cause "An older kernel, a missing controller, or a caller without the right."
        fix "Drop the member that the message names, or use another host.";
    ERun208 "E-RUN-208" "checkpoints need `criu`"
        means "`checkpoint` and `restore` are carried out by criu, which was not found or refused."
        cause "criu is not installed, or lacks the right."
        fix "Install criu, and run as root.";
    ERun209 "E-RUN-209" "a hook of the bundle failed"
        means "A program that `config.json` names as a hook ended with an error or took too long."
        cause "The hook itself; its output is printed with the message."
        fix "Correct or drop the hook.";
    ERun210 "E-RUN-210" "a claim of the report does not hold"
        means "`mur prove` tried what the report calls closed, and it was open."
        cause "A defect of this program or of the kernel."
        fix "Do not run the capsule on this host; report the claim."
        absent "There is no `prove` in this version.";
    ERun211 "E-RUN-211" "the runtime found itself replaced"
        means "The binary that would confine a container is not the one that was called."
        cause "A container or a link in `/proc` replaced it."
        fix "Install mur again, and look for what replaced it."
        absent "This version has no check of its own binary.";
    ERun212 "E-RUN-212" "the lock file cannot be used"
        means "`murmur.lock` is no lock file of this version, so nothing says which bytes were installed."
        cause "A file edited by hand, or written by an older version; those are never migrated."
        fix "Remove the file and install again.";
    EShm200 "E-SHM-200" "a request of containerd cannot be carried out"
        means "The shim understood the request and could not do it."
        cause "What `mur` itself said is printed with the message."
        fix "Follow the cause that is printed with it."
        absent "The shim is not in this version.";
    EShm201 "E-SHM-201" "the shim did not find `mur`"
        means "The shim starts the `mur` binary for each verb, and there is none."
        cause "`mur` is neither beside the shim nor on `PATH`."
        fix "Install `mur` beside the shim, or name it in the runtime's options."
        absent "The shim is not in this version.";
    EShm202 "E-SHM-202" "the shim's socket cannot be used"
        means "containerd could not be answered, since the socket could not be made or taken over."
        cause "A stale socket of a shim that died, or a path that may not be written."
        fix "Delete the task with `ctr task delete --force`, and start it again."
        absent "The shim is not in this version.";
    WSec001 "W-SEC-001" "no kernel sandbox on this host"
        means "Programs run held by convention alone. This kind of host has no mechanism."
        cause "The host is not Linux."
        fix "Run on Linux.";
    WSec002 "W-SEC-002" "file and program scope are not enforced"
        means "Network, sockets, system calls and capabilities are held; which files and programs are reached is not."
        cause "The kernel has no usable Landlock."
        fix "`mur doctor` says what turns Landlock on.";
    WSec003 "W-SEC-003" "the shell's own connections are not bound"
        means "The allow list does not bind what `bash` opens itself."
        cause "The host is not Linux."
        fix "Run on Linux.";
    WSec004 "W-SEC-004" "a credential is written out in a manifest"
        means "A field that looks like a credential holds it literally."
        cause "The key was pasted instead of named."
        fix "Write `${NAME}` and keep the value in the operator's configuration."
        absent "It is said when an artifact is built.";
    WSec005 "W-SEC-005" "what the sandbox covers, and what not"
        means "The capsule runs programs; the text says what holds them and what they still reach."
        cause "`shell.allow` is not empty."
        fix "Nothing to fix; `mur explain` has the whole report.";
    WSec006 "W-SEC-006" "a grant has no effect on a hook"
        means "A hook's `capabilities` may hold only `network.allow`, `filesystem`, `state`, `task_io` and `conversation`."
        cause "`shell`, `spawn`, `env`, `limits` or another block stands there."
        fix "Drop the block.";
    WSec007 "W-SEC-007" "an artifact's network entry was dropped"
        means "A tool or driver reaches at most what its capsule reaches; entries beyond that are dropped."
        cause "No capsule-wide entry covers it."
        fix "Add it to the capsule's `network.allow`, or drop it from the artifact.";
    WSec008 "W-SEC-008" "a grant has no effect on a tool or driver"
        means "An artifact's `capabilities` narrow its network and its folder; other blocks do nothing there."
        cause "`shell`, `spawn`, `env`, `limits` or another block stands there."
        fix "Drop the block.";
    WSec009 "W-SEC-009" "an interpreter reaches host folders"
        means "The grant couples the capsule to the layout of this host."
        cause "`shell.interpreter_runtime`."
        fix "Use `staged_runtime` for a capsule that must run the same everywhere.";
    WSec010 "W-SEC-010" "nothing bounds all programs together"
        means "There is no bound on all processes of the capsule together."
        cause "The host is not Linux."
        fix "Run on Linux.";
    WSec011 "W-SEC-011" "files of the work folder may be executed"
        means "What the capsule writes it may run, so the class is `advisory` on every host."
        cause "`filesystem.workdir_exec: true`."
        fix "Turn it off.";
    WSec012 "W-SEC-012" "a compiler's helper may not be executed"
        means "The first real compile will fail; nothing is refused, since the check is a guess."
        cause "A helper of an allowed compiler has no execute grant."
        fix "Allow the helper that the message names."
        absent "The helpers of an allowed compiler are granted together with it.";
    WSec013 "W-SEC-013" "user namespaces are unrestricted for every program"
        means "A hardening of the host is off for everybody, not only for mur."
        cause "The AppArmor restriction was turned off host-wide."
        fix "Turn it on again and install the profile that `mur doctor` prints.";
    WSec014 "W-SEC-014" "a capsule-wide state store has no effect"
        means "A store belongs to an artifact; the capsule-wide block opens nothing."
        cause "`capabilities.state` at the top."
        fix "Declare it on the artifact's entry.";
    WSec015 "W-SEC-015" "a tool's `config` is not delivered"
        means "In the reference a native tool gets no configuration."
        cause "`config` on an artifact whose implementation is native."
        fix "Drop `config` from the entry."
        absent "Every tool of this program is native, and its `config` is delivered.";
    WSec016 "W-SEC-016" "a capsule-wide conversation grant has no effect"
        means "Reading the conversation is granted to a hook; the capsule-wide block does nothing."
        cause "`capabilities.conversation` at the top."
        fix "Declare it on the hook's entry.";
    WSec017 "W-SEC-017" "a read-only subtree is advisory against a program"
        means "The program can build a write that the check before a call does not see."
        cause "`read_only` together with an interpreter, on a host where mounts cannot hold the subtree."
        fix "Use a host with mount namespaces, or drop the interpreter.";
    WSec018 "W-SEC-018" "a tool's inputs are judged by their names"
        means "The tool does not mark which inputs are paths, so a write to a read-only subtree is guessed."
        cause "An input schema without the format annotations, on a host where mounts cannot hold the subtree."
        fix "Annotate the schema."
        absent "Tools are not called by this version, so no schema is read.";
    WSec019 "W-SEC-019" "a key is not known"
        means "The key was ignored."
        cause "A spelling mistake, or a key of a newer version."
        fix "Correct the spelling, or use a version that knows the key.";
    WSec021 "W-SEC-021" "disk traffic is not bounded"
        means "`io.max` could not be set; the other limits hold."
        cause "The io controller is not delegated, or the device does not support it."
        fix "Delegate the controller, or accept that disk traffic has no bound.";
    WSec023 "W-SEC-023" "the session cannot be found by its id"
        means "The record of the running session could not be written, so only its address reaches it."
        cause "The state folder may not be written."
        fix "Correct the folder's owner."
        absent "Sessions are not looked up, stopped or pruned by this version.";
    WSec024 "W-SEC-024" "the capsule holds a secret of the host"
        means "A variable that looks like a credential is passed to the capsule."
        cause "`env.allow` names it."
        fix "Use a gateway, which keeps the key outside.";
    WSec025 "W-SEC-025" "the upstream can be reached without the gateway"
        means "The capsule may open the gateway's host directly, beside the gateway."
        cause "`network.allow` names the same host."
        fix "Take the host off `network.allow`.";
    WSec027 "W-SEC-027" "a gateway's key is read once"
        means "A changed key is only seen by the next session."
        cause "The key comes from the environment."
        fix "Keep it in the operator's `credentials`."
        absent "Gateways are carried and reported; their keys are not read by this version.";
    WSec028 "W-SEC-028" "a file with secrets can be read by others"
        means "Other users of this machine may read it; the message has path and mode."
        cause "A file made with a wide mode."
        fix "Run the `chmod` that the message prints.";
    WSec029 "W-SEC-029" "a compiler could not be asked for its helpers"
        means "Whether its helpers may be executed is not known."
        cause "The compiler did not answer in time."
        fix "Try a compile, and allow the helper that fails."
        absent "A compiler that does not answer is granted without helpers, and its first compile says so.";
    WSec030 "W-SEC-030" "a gateway's use is not counted"
        means "Only the gateway of the inference driver is metered."
        cause "Another artifact has a `gateway`."
        fix "Nothing to fix; know that it is not counted.";
    WSec031 "W-SEC-031" "a harness's spend is not counted"
        means "The harness pays by use, and nothing here sees how much."
        cause "It says that it is not on a subscription."
        fix "Watch the spend at the provider."
        absent "Spend is counted by the agent loop, which is not part of this program.";
    WSec032 "W-SEC-032" "the door is open to everybody"
        means "Who reaches the port may drive the capsule."
        cause "The door is off loopback and has no authentication."
        fix "Add `network.authentication`, or bind to loopback."
        absent "There is no door; a capsule gets its task in a file and on its input.";
    WSec033 "W-SEC-033" "the runtime's folders lie in the work folder"
        means "The capsule could change them, so the class is capped."
        cause "`--workdir` is the home folder, or above `~/.murmur`."
        fix "Use another work folder.";
    WSec034 "W-SEC-034" "a route is not under the class"
        means "Something of the capsule runs under less than its class; the text names it."
        cause "A part that this host or this version holds in another way."
        fix "Drop what the text names, or accept it.";
    WSec200 "W-SEC-200" "the capsule is the host's root"
        means "No other id could be used, so the capsule is user 0 of the host, without a capability and with the control files of the kernel read-only."
        cause "Called by root in a root-owned work folder whose file system has no idmapped mounts."
        fix "Let another user own the work folder, or use a kernel from 5.12 and a file system with idmapped mounts.";
    WSec201 "W-SEC-201" "a host folder reaches credentials"
        means "A folder that the operator grants to every capsule holds, or lies in, a place where credentials are kept."
        cause "An entry of `host_paths` in `config.yaml`."
        fix "Grant a folder beside the credentials, or none.";
    WSec202 "W-SEC-202" "the session is unconfined"
        means "Nothing holds the capsule's programs: they may do whatever the user may."
        cause "`capabilities.containment: unconfined` and `--containment unconfined` were given together."
        fix "Take one of the two away.";
    WRun002 "W-RUN-002" "the harness's version is untested"
        means "It may work; nobody tried."
        cause "The installed harness is newer or older than those its driver names."
        fix "Install a version that the driver names."
        absent "Artifacts are not installed or opened by this version, so nothing of their own manifests is read.";
    WRun003 "W-RUN-003" "an alternate model has no credential"
        means "Switching to it will fail."
        cause "The variable of its gateway has no value."
        fix "Set the variable, or drop the alternate."
        absent "Models are called by the agent loop, which is not part of this program.";
    WRun004 "W-RUN-004" "a tool's schema is malformed"
        means "The model is shown the tool without its inputs."
        cause "The artifact's schema is no JSON schema."
        fix "Correct the artifact."
        absent "Tools are shown to a model by the agent loop, which is not part of this program.";
    WRun007 "W-RUN-007" "a member of a formation has no lifeline"
        means "It will not end with the formation."
        cause "Its lifecycle keeps it apart."
        fix "Correct the roster."
        absent "There are no formations in this program.";
    WRun008 "W-RUN-008" "a member of a formation reaches no door"
        means "It cannot call the other members."
        cause "Its `network.allow` names no loopback door."
        fix "Allow the doors it calls."
        absent "There are no formations in this program.";
    WRun009 "W-RUN-009" "output is capped without a known window"
        means "The cap is a guess."
        cause "`context.max_tokens` is not written."
        fix "Write it."
        absent "Models are called by the agent loop, which is not part of this program.";
    WRun200 "W-RUN-200" "native modules in a writable folder will not load"
        means "What is writable is not executable, so shared objects in the work folder are refused by the kernel."
        cause "Libraries or modules were installed into the work folder."
        fix "List their folder in `filesystem.read_only` and in an `interpreter_runtime`.";
    WRun201 "W-RUN-201" "the bundle carries no limits"
        means "The runtime it is made for refuses limits that its caller cannot set, so they were left out; nothing bounds memory, processes and processor time together."
        cause "`mur bundle --for runc` by an ordinary user without a control group of their own."
        fix "Give the user a delegated control group, or run the bundle with mur or crun.";
}
