//! Commands of the auditor: notes of the ledger, proofs, the log, the export, and their verification.
//!
//! The proofs are the library's; `tools/verify_audit.py` checks an export without it.

mod audit_tool;
mod export;
mod head;
mod log;
mod notes;
mod prove;
mod reasoned;
mod verify;
mod why;

pub(crate) use audit_tool::AuditTool;
pub(crate) use notes::read_note;
