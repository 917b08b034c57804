//! Writes the processes of a container to disk.

use std::fs;

use super::option::{AfterDump, CriuOptions};
use super::{CriuError, DESCRIPTORS, LANDLOCK, make_folder, run};
use crate::id::ContainerId;
use crate::state::Status;
use crate::store::Store;

const LOG: &str = "dump.log";

/// Dumps the running container `id` to the images of `options`.
///
/// Unless they run on, its processes have ended afterwards and it is stopped.
pub fn checkpoint(
    store: &Store,
    id: &ContainerId,
    options: &CriuOptions,
    after: AfterDump,
) -> Result<(), CriuError> {
    let (container, _lock) = store.load_locked(id).map_err(CriuError::Store)?;
    let status = container.status();
    let init = container.record().init.filter(|_| status == Status::Running);
    let Some(init) = init else { return Err(CriuError::NotRunning { id: id.clone(), status }) };
    if container.record().annotations.contains_key(LANDLOCK) {
        let reason = "criu does not keep its Landlock domain, and it would come back unconfined";
        return Err(CriuError::Lossy { id: id.clone(), action: "checkpointed", reason });
    }
    make_folder(&options.images)?;
    make_folder(options.work())?;
    let links: Vec<String> = (0..3)
        .map(|number| fs::read_link(format!("/proc/{}/fd/{number}", init.pid)))
        .map(|link| link.map(|path| path.display().to_string()).unwrap_or_default())
        .collect();
    let path = options.images.join(DESCRIPTORS);
    let text = serde_json::Value::from(links).to_string();
    fs::write(&path, text).map_err(|source| CriuError::File { action: "write", path, source })?;
    run(id, "checkpoint", &options.dump(init.pid, after, LOG), options.work(), LOG)
}
