//! Randomness, identities, keys, signatures (OMS 9, 12.1, 20.1, 22.4, 23.2) and sealing (20.2, 20.3).
//!
//! A signature here says who made it and nothing more: whether that signer may do what was asked
//! is for the policy to decide. Nothing in this room touches a network; who wants `did:web` hands
//! in a [`Resolver`]. Randomness is an argument everywhere, so that every test is repeatable; this
//! room owns the one source that is not.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod attest;
mod delivery;
mod did;
#[cfg(feature = "signatures")]
mod did_documents;
mod envelope;
mod item;
mod key;
mod note;
mod random;
mod resolver;
#[cfg(feature = "sealing")]
mod seal;
#[cfg(feature = "signatures")]
mod sign;
mod sign1;
mod statement;
#[cfg(feature = "signatures")]
mod timestamp;
mod tombstone;

mod error;

pub use attest::{Checkpoint, ErasureReceipt, Receipt};
#[cfg(feature = "interchange")]
pub(crate) use delivery::{ENVELOPE_LEN_MAX, is_wrapped};
pub use delivery::{delivery_len, from_delivery, kid, to_delivery, verify_signature};
pub use did::Did;
#[cfg(feature = "signatures")]
pub use did_documents::DidDocuments;
pub use envelope::Envelope;
pub use error::Error;
#[cfg(feature = "signatures")]
pub use key::SigningKey;
pub use key::{Algorithm, VerifyingKey};
pub use note::{Note, NoteKey};
pub use random::{OsRandom, Random};
pub use resolver::{Offline, Resolver, Signer};
#[cfg(feature = "sealing")]
pub use seal::KeySource;
pub use statement::{Signers, Statement};
#[cfg(feature = "signatures")]
pub use timestamp::{Timestamp, timestamp_imprint, trusted_timestamp};
pub(crate) use tombstone::TombstoneKey;

// Internal, without a promise: for the tests, simulator, fuzz targets and benches of this crate.
#[cfg(feature = "sealing")]
#[doc(hidden)]
pub use seal::{BlindKey, Context, MasterKey, Purpose, RetainedKeys, SealingKey, Secret};
#[cfg(feature = "sealing")]
pub(crate) use seal::{PassphraseParams, scrub_stack};
#[cfg(feature = "signatures")]
#[doc(hidden)]
pub use sign::{Payload, sign};
#[doc(hidden)]
pub use sign1::Sign1;
