//! The groups of measurements; each prints its tables.

pub mod ingest;
pub mod single;
pub mod read;
pub mod questions;
pub mod large;
pub mod reopen;
pub mod latency;
pub mod answers;
pub mod sealed;
pub mod several;
pub mod ten_million;
pub mod exports;

use std::path::Path;
use std::process::{Command, Stdio};

use crate::Result;
use crate::report::Report;
use crate::setup::Settings;

/// A group: what it prints is what it returns.
type Run = fn(&Settings, &mut Report) -> Result<()>;

/// The groups by name, in the order in which they run.
pub const GROUPS: [(&str, Run); 14] = [
    ("ingest", ingest::by_thousands),
    ("ingest100", ingest::by_hundreds),
    ("text", ingest::with_text),
    ("messages", ingest::messages),
    ("single", single::run),
    ("read", read::with_all),
    ("million", read::at_a_million),
    ("scale", large::run),
    ("reopen", reopen::run),
    ("latency", latency::run),
    ("answers", answers::run),
    ("sealed", sealed::run),
    ("several", several::run),
    ("exports", exports::run),
];

/// The groups that run only where they are asked for: they take long, or measure their own process.
pub const ALONE: [(&str, Run); 1] = [("ten-million", ten_million::run)];

/// Returns the number that a process of its own prints, which does something with a folder.
fn number_of(what: &str, folder: &Path) -> Result<f64> {
    let output = Command::new(std::env::current_exe()?)
        .args(["--child", what, "0"])
        .arg(folder)
        .stderr(Stdio::inherit())
        .output()?;
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}
