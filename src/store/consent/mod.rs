//! Consent (OMS 8.10): its rules, the consents that stand, and what namespaces demand.

mod list;
mod requirements;
mod rules;

pub use list::{Consent, ConsentFilter};
