//! Writes the steps of a limit to the control files.

use std::io;
use std::path::{Path, PathBuf};

use super::error::ScopeError;
use super::limit::{FileWrite, Home, LimitError, Missing, Step};
use super::place::Placement;
use crate::kernel_file::{read_text, write_text};

/// Carries out `step` in the folders of `placement`.
pub(super) fn carry_out(step: &Step, placement: &Placement) -> Result<(), ScopeError> {
    let folder = folder_of(step, placement)?;
    if let Some((file, limit)) = step.usage {
        refuse_below_usage(step, &folder.join(file), limit)?;
    }
    let mut first = None;
    for writes in &step.tries {
        match write_all(step, folder, writes) {
            Ok(()) => return Ok(()),
            Err(error) => {
                first.get_or_insert(error);
            }
        }
    }
    match first {
        None => Ok(()),
        Some(ScopeError::Set { source, path, .. })
            if step.missing == Missing::Skip && source.kind() == io::ErrorKind::NotFound =>
        {
            tracing::debug!(path = %path.display(), "no such file, nothing to bound");
            Ok(())
        }
        Some(error) => Err(error),
    }
}

fn folder_of<'a>(step: &Step, placement: &'a Placement) -> Result<&'a Path, ScopeError> {
    let (folder, controller) = match step.home {
        Home::V1(controller) => {
            (placement.v1_of(controller.v1_name()), controller.v1_name().to_owned())
        }
        Home::V2 => (placement.v2.as_deref(), step.v2_controller().unwrap_or("cgroup").to_owned()),
    };
    folder.ok_or(ScopeError::Limit {
        source: LimitError::NoController { limit: step.limit, controller },
    })
}

fn write_all(step: &Step, folder: &Path, writes: &[FileWrite]) -> Result<(), ScopeError> {
    for FileWrite { file, value } in writes {
        let path = folder.join(file);
        write_text(&path, value).map_err(|source| ScopeError::Set {
            limit: step.limit,
            path,
            value: value.clone(),
            source,
        })?;
    }
    Ok(())
}

fn refuse_below_usage(step: &Step, file: &Path, limit: i64) -> Result<(), ScopeError> {
    let text =
        read_text(file).map_err(|source| ScopeError::Read { path: PathBuf::from(file), source })?;
    let used = text.trim().parse().unwrap_or(0);
    if used > limit {
        return Err(ScopeError::InUse { limit: step.limit, value: limit, used });
    }
    Ok(())
}
