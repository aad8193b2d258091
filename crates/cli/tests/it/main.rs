//! Tests of the command as a process: arguments in; stdout, stderr and an exit code out.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(
    clippy::print_stdout,
    reason = "a test says what it skipped and what it saw"
)]

mod admin;
#[path = "../../../../tests/attempts/mod.rs"]
mod attempts;
#[path = "../../../../tests/attempts/statements.rs"]
mod statements;
mod browse;
mod change;
mod command;
mod databases;
mod faces;
mod faults;
mod foreign;
mod rules;
mod store;
mod usage;
