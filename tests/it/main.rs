//! The integration tests, in one binary so that the full-text engine is linked once.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "a test says what it counted")]

mod access;
mod aimem;
#[path = "../attempts/mod.rs"]
mod attempts;
mod audit;
mod chains;
mod changes;
mod codec;
mod codes;
mod conformance_rules;
mod consolidate;
mod copies;
mod coset;
mod did;
mod disclosure;
mod embedder;
mod embedding;
mod everyday;
mod exports;
mod followers;
mod foreign;
mod grain;
mod grain_rules;
mod hostile;
mod index;
mod interchange_vectors;
mod interop;
mod jq;
mod jsonl;
mod kept_right;
mod languages;
mod ledger;
mod lifecycle;
mod limits;
mod markdown;
mod merge;
mod mg;
mod model;
mod omi;
mod one_fold;
mod pam;
mod person;
mod policy;
mod profiles;
mod provider;
mod query;
mod random;
mod recall;
mod regimes;
mod revisions;
mod sample;
mod schemas;
#[cfg(feature = "sealing")]
mod sealing;
mod several_writers;
mod signature_suites;
mod signed;
mod signing;
mod statement;
mod store;
mod streams;
mod streams_pam;
mod suites;
mod system_calls;
mod text;
mod tidy;
mod timestamp;
#[cfg(feature = "sealing")]
mod vault;
mod vectors;
mod vouched;
mod whole;
