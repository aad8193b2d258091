//! Sealing: values under keys that can be destroyed (OMS 20.2, 20.3; ruling S5).
//!
//! Suite 1: HKDF-SHA256, HMAC-SHA256 and AES-256-GCM. A master key, which the caller keeps, and a
//! random salt, which can be destroyed, give the key that wraps the data key of a person; the data
//! key seals their values. Where keys are kept, and how they are destroyed, is in `vault`.
//! docs/format.md has the bytes.

mod blind;
mod context;
mod derive;
mod envelope;
mod key_source;
mod master;
mod passphrase;
mod retained;
mod secret;

#[cfg(test)]
mod tests;

pub use blind::BlindKey;
pub use context::{Context, Purpose};
pub use envelope::SealingKey;
pub use key_source::KeySource;
pub use master::MasterKey;
pub(crate) use passphrase::PassphraseParams;
pub use retained::RetainedKeys;
pub use secret::Secret;
pub(crate) use secret::scrub_stack;
