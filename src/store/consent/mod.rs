//! Consent (OMS 8.10): its rules, the list of consents, and the consents that namespaces require.
//! Erasure after a withdrawal is in `erasure`.

mod demand;
mod list;
mod requirements;
mod rules;

pub use list::{Consent, ConsentFilter};
pub(crate) use requirements::deadline_ms;
