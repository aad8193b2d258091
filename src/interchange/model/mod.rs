//! The types that all formats share: records, and everything that is said about them. No file is
//! opened here.

pub(super) mod compact_table;
pub(super) mod diagnostics;
pub(super) mod embedded_grain;
pub(super) mod link;
pub(super) mod loss;
pub(super) mod normalize;
pub(super) mod record;
mod of_user;
pub(super) mod record_set;
pub(super) mod redaction;
pub(super) mod rfc3339;
pub(super) mod signature;
pub(super) mod status;
pub(super) mod vector;
