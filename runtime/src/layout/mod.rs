//! Reads what a bundle's plan needs to know of the host's files: programs, libraries, links, owners.

mod cache;
mod cgroup;
mod child;
mod closed;
mod data;
mod derive;
mod elf;
mod error;
mod evidence;
#[cfg(test)]
mod fixture;
mod gather;
mod helper;
mod host;
mod identity;
mod idmap;
mod image;
mod loader;
mod program;
mod request;
mod script;
mod stand_in;
mod trust;
mod walk;
mod work;

use std::path::Path;

use mur_bundle::HostLayout;
use mur_policy::CapabilityPolicy;

use crate::layout::closed::closed_folders;
use crate::layout::gather::Surroundings;
use crate::layout::identity::{Accounts, Claim};

pub use cache::{Cache, Keeping};
pub use error::LayoutError;
pub use image::{ImageError, read_image};
pub use request::{IdentityChoice, LayoutRequest, Purpose, WorkdirState};

/// Reads the host as one capsule sees it. Nothing is changed; interpreters and compilers are asked for their paths
/// in plain children.
///
/// # Errors
/// The work folder, or something the policy cannot do without, is not usable. A program that is not there is no
/// error: its `path` is `None`.
pub fn read_layout(
    policy: &CapabilityPolicy,
    request: &LayoutRequest,
) -> Result<HostLayout, LayoutError> {
    let workdir = match request.workdir_state {
        WorkdirState::Existing => work::read_work_folder(&request.workdir, &policy.files)?,
        WorkdirState::New => {
            work::new_work_folder(&request.workdir, &policy.files, &request.caller)?
        }
    };
    // The file system that holds it, or will.
    let ground = workdir.path.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/"));
    let ground = ground.to_path_buf();
    let claim = Claim {
        caller: &request.caller,
        choice: request.identity,
        workdir: &workdir.path,
        owner: (workdir.uid, workdir.gid),
    };
    let identity =
        identity::choose(claim, &Accounts::read(), |mapping| idmap::attempt(&ground, mapping));
    let surroundings = Surroundings::new(policy, request, &workdir);
    let gathered = cache::gather(policy, &surroundings, request.cache.as_ref());
    let mut layout = HostLayout {
        root: host::root_entries()?,
        folders: request.folders.clone(),
        programs: gathered.programs,
        library_folders: gathered.library_folders,
        interpreter_imports: gathered.imports,
        trust_store: gathered.trust_store,
        etc: host::etc_entries(),
        libc_files: gathered.libc_files,
        links: gathered.links,
        grants: gathered.grants,
        closed_folders: Vec::new(),
        environment: host::environment(policy, request, &gathered.search_fronts),
        hard_limits: host::hard_limits(),
        no_limits_because: cgroup::no_limits_because(request),
        disk: match request.purpose {
            Purpose::Session => host::disk_of(&ground),
            Purpose::Bundle => None,
        },
        identity,
        workdir,
    };
    layout.closed_folders = closed_folders(&layout);
    Ok(layout)
}

#[cfg(test)]
mod tests;
