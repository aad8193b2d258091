//! The ledger as an audit trail: proofs, notes, what is recorded, and how it is read.

mod attacks;
mod proofs;
mod trail;
