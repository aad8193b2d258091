//! Tests through the public face, in one binary.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod ledger;
