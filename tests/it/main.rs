//! The integration tests, in one binary so that the dependencies link once.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod text;
