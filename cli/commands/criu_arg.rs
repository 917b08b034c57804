//! The arguments that `checkpoint` and `restore` share: what criu is told.

use std::path::PathBuf;

use mur_runtime::verb::CriuOptions;

use crate::context::absolute;

/// What criu is told.
#[derive(Debug, clap::Args)]
#[group(skip)]
#[expect(clippy::struct_excessive_bools, reason = "one bool a flag")]
pub(super) struct CriuArgs {
    /// Folder of the images
    #[arg(long, value_name = "DIR", default_value = "checkpoint")]
    image_path: PathBuf,

    /// Folder for criu's logs [default: that of the images]
    #[arg(long, value_name = "DIR")]
    work_path: Option<PathBuf>,

    /// Allow open TCP connections
    #[arg(long)]
    tcp_established: bool,

    /// Leave out TCP connections that are being made
    #[arg(long)]
    tcp_skip_in_flight: bool,

    /// Allow unix sockets whose other end is outside
    #[arg(long)]
    ext_unix_sk: bool,

    /// Allow a terminal of the caller
    #[arg(long)]
    shell_job: bool,

    /// Allow file locks
    #[arg(long)]
    file_locks: bool,

    /// Allow files that were removed while open
    #[arg(long)]
    link_remap: bool,

    /// Move memory later, over a page server
    #[arg(long)]
    lazy_pages: bool,

    /// Do not keep memory that an earlier dump has
    #[arg(long)]
    auto_dedup: bool,

    /// How control groups are treated
    #[arg(long, value_name = "MODE")]
    manage_cgroups_mode: Option<String>,

    /// Accepted for runc's sake; only `network` has a meaning to criu
    #[arg(long, value_name = "NAMESPACE")]
    empty_ns: Vec<String>,
}

impl CriuArgs {
    /// The library's form of them.
    pub(super) fn options(&self) -> anyhow::Result<CriuOptions> {
        let mut flags = Vec::new();
        for (set, flag) in [
            (self.tcp_established, "--tcp-established"),
            (self.tcp_skip_in_flight, "--skip-in-flight"),
            (self.ext_unix_sk, "--ext-unix-sk"),
            (self.shell_job, "--shell-job"),
            (self.file_locks, "--file-locks"),
            (self.link_remap, "--link-remap"),
            (self.lazy_pages, "--lazy-pages"),
            (self.auto_dedup, "--auto-dedup"),
        ] {
            if set {
                flags.push(flag);
            }
        }
        for namespace in &self.empty_ns {
            match namespace.as_str() {
                "network" => flags.extend(["--empty-ns", "net"]),
                other => anyhow::bail!("`--empty-ns`: `{other}` cannot be left empty"),
            }
        }
        Ok(CriuOptions {
            images: absolute(&self.image_path)?,
            work: self.work_path.as_deref().map(absolute).transpose()?,
            flags,
            manage_cgroups: self.manage_cgroups_mode.clone(),
            ..CriuOptions::default()
        })
    }
}
