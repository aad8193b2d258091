//! The part of `doctor` that looks around a store: the process that keeps it, permissions, and the disk.

use std::fs;
use std::path::Path;

use indicatif::BinaryBytes;

use super::{Finding, Weight};

/// Adds what is found around the store.
pub(super) fn look(path: &Path, findings: &mut Vec<Finding>) {
    if let Some(keeper) = keeper(path) {
        let message = format!("{keeper} has the store open too, and keeps its index");
        findings.push(Finding::new("open-elsewhere", Weight::Note, message));
    }
    #[cfg(unix)]
    findings.extend(unix::access(path));
    findings.extend(room(path));
}

/// Returns whether the disk has too little room.
fn room(path: &Path) -> Option<Finding> {
    let free = disk_free(path)?;
    (free < ROOM).then(|| {
        let message = format!("{} are free on the disk", BinaryBytes(free));
        let finding = Finding::new("disk-low", Weight::Warning, message);
        finding.advising("free some: a deletion rewrites files of up to 96 MiB")
    })
}

/// A deletion has the old and the new text of a file of 96 MiB beside each other.
const ROOM: u64 = 256 << 20;

/// Returns the bytes that are free on the disk of a directory, where the system tells it.
#[cfg(unix)]
pub(crate) fn disk_free(path: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(path).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

#[cfg(not(unix))]
pub(crate) const fn disk_free(_: &Path) -> Option<u64> {
    None
}

/// Returns the other process that keeps the store, by the name that it wrote to the lock.
fn keeper(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path.join("LOCK")).ok()?;
    let line = text.lines().next()?;
    let (number, _) = line.strip_prefix("process ")?.split_once(' ')?;
    let number: u32 = number.parse().ok()?;
    // The file keeps the name of the last keeper when it has ended.
    let is_other = number != std::process::id() && is_running(number);
    is_other.then(|| line.to_owned())
}

#[cfg(unix)]
fn is_running(number: u32) -> bool {
    let number = i32::try_from(number).ok();
    let process = number.and_then(rustix::process::Pid::from_raw);
    let asked = process.map(rustix::process::test_kill_process);
    asked.is_some_and(|asked| asked.is_ok() || asked == Err(rustix::io::Errno::PERM))
}

#[cfg(not(unix))]
const fn is_running(_: u32) -> bool {
    true
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    use super::super::{Finding, Weight};

    /// Returns what is wrong with the owner and the permissions of the directory.
    pub(super) fn access(path: &Path) -> Vec<Finding> {
        let mut findings = Vec::new();
        let Ok(found) = path.metadata() else {
            return findings;
        };
        let shown = path.display();
        if found.mode() & 0o077 != 0 {
            let mode = found.mode() & 0o777;
            let message = format!("other users may look into {shown} (mode {mode:03o})");
            let finding = Finding::new("open-to-others", Weight::Warning, message);
            findings.push(finding.advising(format!("`chmod -R go= {shown}`")));
        }
        let me = rustix::process::geteuid().as_raw();
        if found.uid() != me {
            let message = format!("{shown} belongs to user {}, not to {me}", found.uid());
            findings.push(Finding::new("owner", Weight::Note, message));
        }
        if rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_err() {
            let message = format!("{shown} can only be read");
            findings.push(Finding::new("read-only", Weight::Note, message));
        }
        findings
    }
}
