//! The integration tests, in one binary so that the full-text engine is linked once.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod codec;
mod grain;
mod sample;
mod ledger;
mod mg;
mod text;
mod jsonl;
mod ledger;
mod pam;
mod sample;
mod text;
mod tidy;
mod vectors;
