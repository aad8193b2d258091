//! Consolidation after a session: a command of its own, which the agent does not wait for.

use std::process::{Command, Stdio};

use super::log;
use crate::session::Session;

/// Starts `grainstore consolidate` for the turns of a namespace. Its messages go to the log of the hooks.
///
/// # Errors
/// `ERR_STORAGE_IO` if it does not start.
pub(super) fn start(
    program: &str,
    namespace: &str,
    user: Option<&str>,
    session: &Session,
) -> anyhow::Result<()> {
    let mut command = Command::new(crate::program()?);
    let store = std::path::absolute(session.store_path())?;
    command.arg("--store").arg(store).arg("--quiet");
    command.args(["consolidate", "--with", program]);
    command.args(["--namespace", namespace]);
    if let Some(user) = user {
        command.args(["--user", user]);
    }
    let log = log::open().map_or_else(Stdio::null, Stdio::from);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log);
    // An agent ends the processes of its own group with itself.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn()?;
    Ok(())
}
