//! Whether a grain may leave the store (OMS A.2, A.3, A.6).

use crate::codec::{ContentAddress, Value};
use crate::grain::Grain;

use super::Rule;

/// The purpose of an export.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Purpose {
    /// Another system of the same holder, or the person that the grains are about.
    #[default]
    Transfer,
    /// A sale, or a data broker.
    Sale,
}

/// Judges whether a grain may leave the store (OMS A.2, A.3, A.6).
///
/// # Errors
/// The rule that keeps it here.
pub(crate) fn may_leave(grain: &Grain, is_on_hold: bool, purpose: Purpose) -> Result<(), Rule> {
    let privilege = profile_field(grain, "legal:privilege");
    // A claim that is not understood is privileged: only `none` is not.
    if privilege.is_some_and(|claim| claim.as_text() != Some("none")) && !is_on_hold {
        return Err(Rule::Privilege);
    }
    let is_personal = grain.text("user_id").is_some_and(|user| !user.is_empty())
        || tags(grain).any(|tag| tag.starts_with("pii:"));
    let rests_on = |words: &[&str]| {
        let basis = grain.text("processing_basis");
        basis.is_some_and(|basis| {
            // Ruling T8: an address is a Consent grain, anything else a word.
            ContentAddress::from_reference(basis).is_ok() || words.contains(&basis)
        })
    };
    let declares = |profile: &str| tags(grain).any(|tag| tag == profile);
    if is_personal && declares("profile:finance") && !rests_on(AGREED) {
        return Err(Rule::FinanceBasis);
    }
    if is_personal && declares("profile:consumer") && !rests_on(LAWFUL) {
        return Err(Rule::ConsumerBasis);
    }
    let opted_out = profile_field(grain, "con:ccpa_opted_out").and_then(Value::as_bool);
    if purpose == Purpose::Sale && opted_out == Some(true) {
        return Err(Rule::OptedOut);
    }
    Ok(())
}

/// Returns a profile's field, in the context or beside it.
pub(super) fn profile_field<'a>(grain: &'a Grain, name: &str) -> Option<&'a Value> {
    let context = grain.field("context").and_then(Value::as_map);
    let inside = context.and_then(|context| context.get(name));
    inside.or_else(|| grain.field(name))
}

pub(super) fn tags(grain: &Grain) -> impl Iterator<Item = &str> {
    let tags = grain.field("structural_tags");
    tags.into_iter().flat_map(Value::texts)
}

/// OMS A.3: "applicable consent or contractual basis".
const AGREED: &[&str] = &["consent", "explicit_consent", "contract"];

/// GDPR Art. 6 (1), in the spellings of OMS 8.10 and Appendix F.
const LAWFUL: &[&str] = &[
    "consent",
    "explicit_consent",
    "contract",
    "legal_obligation",
    "vital_interests",
    "public_task",
    "legitimate_interest",
    "legitimate_interests",
];
