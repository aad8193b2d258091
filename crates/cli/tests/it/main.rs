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
#[cfg(unix)]
#[expect(
    dead_code,
    reason = "answers that may be old are for the tests of shared ledgers"
)]
#[path = "../../../shared/tests/linear/mod.rs"]
mod linear;
mod rules;
#[cfg(feature = "postgres")]
#[expect(dead_code, reason = "a line that is cut is for the tests of the crate")]
#[path = "../../../shared/tests/it/server.rs"]
mod server;
mod store;
mod usage;
