//! The schemas of PAM as tables, and the rules that no schema expresses.

pub(super) mod settle;
pub(super) mod tables;
pub(super) mod validate;
