//! Consent (OMS 8.10): the list of consents, and the consents that namespaces require.
//! Erasure after a withdrawal is in `erasure`.

mod list;
mod requirements;

pub(crate) use list::consents;
pub use list::{Consent, ConsentFilter};
pub(crate) use requirements::{
    deadline_ms, require_consent, required_consent, set_consent_deadline,
};
