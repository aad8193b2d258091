//! Tests of the command as a process: arguments in; stdout, stderr and an exit code out.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(
    clippy::print_stdout,
    reason = "a test says what it skipped and what it saw"
)]

mod access;
mod audit;
#[cfg(target_os = "linux")]
mod bombs;
mod browse;
mod care;
mod change;
mod command;
mod delete;
mod demo;
mod doctor;
mod failures;
mod files;
mod foreign;
mod forms;
mod grains;
mod keys;
#[cfg(unix)]
mod inspector;
mod kill;
#[cfg(unix)]
mod load;
mod mcp;
#[cfg(unix)]
mod mcp_inspector;
mod mistakes;
#[cfg(unix)]
mod models;
#[cfg(unix)]
mod outputs;
#[cfg(target_os = "linux")]
mod pipes;
mod protection;
mod put;
mod questions;
#[cfg(unix)]
mod readme;
mod recover;
mod regimes;
#[cfg(unix)]
mod serve;
mod settings;
mod several;
mod signing;
mod status;
#[cfg(target_os = "linux")]
mod system_calls;
mod tail;
#[cfg(target_os = "linux")]
mod terminal;
mod tool;
mod trust;
mod user;
mod vault;
