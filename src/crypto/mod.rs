//! Randomness, identities, keys and signatures (OMS 9, 12.1, 20.1, 22.4, 23.2); later sealing.
//!
//! A signature here says who made it and nothing more: whether that signer may do what was asked
//! is for the policy to decide. Nothing in this room touches a network; who wants `did:web` hands
//! in a [`Resolver`]. Randomness is an argument everywhere, so that every test is repeatable; this
//! room owns the one source that is not.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod attest;
mod delivery;
mod did;
mod envelope;
mod item;
mod key;
mod random;
mod resolver;
mod sign1;
mod statement;
mod timestamp;
mod tombstone;

mod error;

pub use attest::{Checkpoint, Receipt};
#[cfg(feature = "interchange")]
pub(crate) use delivery::{ENVELOPE_LEN_MAX, is_wrapped};
pub use did::Did;
pub use envelope::Envelope;
pub use error::Error;
pub use key::{Algorithm, SigningKey, VerifyingKey};
pub use random::{OsRandom, Random};
pub use resolver::{Offline, Resolver, Signer};
pub use sign1::{Payload, Sign1};
pub use statement::{Signers, Statement};
pub use timestamp::Timestamp;
pub use tombstone::TombstoneKey;
