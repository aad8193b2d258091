//! The formats, a folder each.

pub mod aimem;
pub mod jsonl;
pub mod mg;
pub mod omi;
pub mod pam;
pub mod provider;
