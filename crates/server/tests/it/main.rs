//! Tests of the faces, each as a client sees it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(
    clippy::needless_pass_by_value,
    reason = "arguments are written where they are used"
)]

mod arguments;
#[path = "../../../../tests/attempts/mod.rs"]
mod attempts;
mod client;
mod denials;
mod doors;
mod forget;
mod malformed;
mod memory;
mod prompts;
mod resources;
#[path = "../../../../tests/attempts/statements.rs"]
mod statements;
mod tools;
