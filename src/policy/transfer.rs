//! Whether a grain may leave the store (OMS A.2, A.3, A.6).

use crate::codec::{ContentAddress, Value};
use crate::grain::{Grain, Type};

use super::{Rule, person_of};

/// The purpose of an export.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Purpose {
    /// Another system of the same holder, or the person that the grains are about.
    #[default]
    Transfer,
    /// A sale, or a data broker.
    Sale,
}

/// Judges whether a grain may leave the store (OMS A.2, A.3, A.6). `is_documented` says whether the
/// Consent of an address, which the grain rests on, is stored and applies to it.
///
/// # Errors
/// The rule that keeps it here.
pub(crate) fn may_leave(
    grain: &Grain,
    is_on_hold: bool,
    purpose: Purpose,
    is_documented: impl Fn(&ContentAddress) -> bool,
) -> Result<(), Rule> {
    // A claim that is not understood is privileged: only `none` is not.
    let mut privilege = profile_fields(grain, "legal:privilege");
    if privilege.any(|claim| claim.as_text() != Some("none")) && !is_on_hold {
        return Err(Rule::Privilege);
    }
    // Ruling P3: two values of which neither is stricter came in a file; a put refuses them.
    if grain.conflicting_profile_field().is_some() {
        return Err(Rule::ProfileConflict);
    }
    let is_personal = is_personal(grain);
    let rests_on = |words: &[&str]| {
        let basis = grain.text("processing_basis");
        // Ruling T8: an address is a Consent grain, anything else a word.
        basis.is_some_and(|basis| match ContentAddress::from_reference(basis) {
            Ok(consent) => is_documented(&consent),
            Err(_) => words.contains(&basis),
        })
    };
    let declares = |profile: &str| tags(grain).any(|tag| tag == profile);
    if is_personal && declares("profile:finance") && !rests_on(AGREED) {
        return Err(Rule::FinanceBasis);
    }
    if is_personal && declares("profile:consumer") && !rests_on(LAWFUL) {
        return Err(Rule::ConsumerBasis);
    }
    if purpose == Purpose::Sale && is_opted_out(grain) {
        return Err(Rule::OptedOut);
    }
    Ok(())
}

/// Returns whether a grain has `user_id` or any direct identifier (OMS A.3, A.6): the person that it
/// is about, or a tag of personal data. Each of the `phi:` tags names one (OMS 27.4).
fn is_personal(grain: &Grain) -> bool {
    let names_person = || grain.type_() != Type::Consent && person_of(grain).is_some();
    grain.text("user_id").is_some_and(|user| !user.is_empty())
        || tags(grain).any(|tag| tag.starts_with("pii:") || tag.starts_with("phi:"))
        || names_person()
}

/// Returns whether a consumer opted out of the sale of a grain (OMS A.6). A claim that is not
/// understood is one: only `false` is not.
pub(crate) fn is_opted_out(grain: &Grain) -> bool {
    let mut claims = profile_fields(grain, "con:ccpa_opted_out");
    claims.any(|claim| claim.as_bool() != Some(false))
}

/// Returns the values of a profile's field, at the top level and in `context`: each question of
/// policy is asked of both, and the stricter counts (ruling P3).
pub(crate) fn profile_fields<'a>(
    grain: &'a Grain,
    name: &str,
) -> impl Iterator<Item = &'a Value> + use<'a> {
    let context = grain.field("context").and_then(Value::as_map);
    let inside = context.and_then(|context| context.get(name));
    inside.into_iter().chain(grain.field(name))
}

/// Returns the grains that place a hold on a grain, as it says (OMS A.2, `legal:hold_ref`); `None` for a
/// name that is no address.
pub(crate) fn hold_refs(grain: &Grain) -> impl Iterator<Item = Option<ContentAddress>> {
    let said = profile_fields(grain, "legal:hold_ref").filter_map(Value::as_text);
    let said = said.filter(|name| !name.trim().is_empty());
    said.map(|name| ContentAddress::from_reference(name).ok())
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
