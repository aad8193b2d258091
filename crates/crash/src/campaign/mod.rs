//! The campaigns: a crash after every operation, a failure of every operation, seeded faults that
//! must be found, and every bit of a small store flipped.

pub(crate) mod crash;
pub(crate) mod crash_states;
pub(crate) mod sweep;
pub(crate) mod backups;
mod frames;
pub(crate) mod person_erasure;
pub(crate) mod persons;
pub(crate) mod seeded_faults;
pub(crate) mod bit_flips;
pub(crate) mod recover;
#[cfg(unix)]
pub(crate) mod planted;
pub(crate) mod key_erasure;
pub(crate) mod interleaving;
