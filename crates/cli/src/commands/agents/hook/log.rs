//! The log of hooks that failed: an agent shows what a hook writes to stderr to few of its users.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;

use grainstore::store::{Clock as _, SystemClock};

use super::Agent;
use super::event::Moment;
use crate::error::CliError;

/// Appends a line about a failure. Where that fails too there is no place left to tell it.
pub(super) fn failure(agent: Agent, moment: Option<Moment>, error: &CliError) {
    let moment = moment.map_or("event", Moment::name);
    let now = SystemClock.now();
    let message = error.to_string().replace(['\n', '\r'], " ");
    if let Some(mut file) = open() {
        drop(writeln!(file, "{now} {} {moment}: {message}", agent.name()));
    }
}

/// Opens the log to append to it.
pub(super) fn open() -> Option<File> {
    let path = path()?;
    if let Some(folder) = path.parent() {
        drop(fs::create_dir_all(folder));
    }
    let is_long = fs::metadata(&path).is_ok_and(|file| file.len() > LEN_MAX);
    if is_long {
        drop(fs::rename(&path, path.with_extension("log.old")));
    }
    OpenOptions::new()
        .create(true)
        .append(true)
        .open(&path)
        .ok()
}

/// Returns the path of the log: `grainstore/hook.log` in the folder for the state of programs.
fn path() -> Option<PathBuf> {
    let named = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let folder = named.filter(|folder| folder.is_absolute()).or_else(|| {
        let home = std::env::home_dir().filter(|home| home.is_absolute())?;
        Some(home.join(".local/state"))
    })?;
    Some(folder.join("grainstore/hook.log"))
}

/// The length from which on a new log is begun, in bytes.
const LEN_MAX: u64 = 1 << 20;
