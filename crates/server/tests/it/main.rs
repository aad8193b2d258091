//! Tests of the faces, each as a client sees it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(
    clippy::needless_pass_by_value,
    reason = "arguments are written where they are used"
)]

#[path = "../../../../tests/it/query/own_statistics.rs"]
mod own_statistics;
mod arguments;
mod client;
mod denials;
mod forget;
mod malformed;
mod memory;
mod prompts;
mod resources;
mod tools;
