//! Warnings about valid grains that need the store: a put and an import give the same ones
//! (ruling P17).

use crate::codec::ContentAddress;
use crate::crypto::Did;
use crate::grain::{Grain, Warning};
use crate::policy::{Delegation, is_withdrawal};
use crate::store::{Access, Error};

use super::get::peek;
use super::held::locked_persons;

/// See [`Store::warnings`](crate::Store::warnings).
pub(crate) fn warnings(store: &Access, grain: &Grain) -> Result<Vec<Warning>, Error> {
    let mut warnings = grain.warnings();
    let named = match named_by(grain) {
        Some(named) => peek(store, &named)?,
        None => None,
    };
    warnings.extend(beside(grain, named.as_ref()));
    // A narrowed handle is not told who else there is.
    if is_withdrawal(grain) && store.capability().is_none() && locked_persons(store) > 0 {
        warnings.push(Warning {
            field: "prior_consent".into(),
            message:
                "what locked persons have sealed was not looked into: the pending erasures name \
                      them (OMS 23.2)"
                    .into(),
        });
    }
    Ok(warnings)
}

/// Returns the grain that a warning about a grain depends on: the parent of a message, or the grant
/// of a withdrawal.
pub(crate) fn named_by(grain: &Grain) -> Option<ContentAddress> {
    match is_withdrawal(grain) {
        true => grain.link("prior_consent"),
        false => grain.link("parent_message_id"),
    }
}

/// Returns the warnings about a grain beside the stored ones; `named` is the grain of [`named_by`],
/// or `None` if it is not here.
pub(crate) fn beside(grain: &Grain, named: Option<&Grain>) -> Option<Warning> {
    let warning = |field: &str, message: &'static str| Warning {
        field: field.into(),
        message: message.into(),
    };
    let subject = |grain: &Grain| {
        grain
            .text("subject_did")
            .map(|did| Did::bare(did).to_owned())
    };
    if is_withdrawal(grain) {
        grain.link("prior_consent")?;
        // Ruling P6: a withdrawal that has no effect yet says so.
        let message = match named {
            None => "the consent is not here: the withdrawal waits for it (OMS 8.10)",
            Some(grant) if subject(grant) != subject(grain) => {
                "the consent is of another subject: the withdrawal has no effect (OMS 8.10)"
            }
            Some(_) => return None,
        };
        return Some(warning("prior_consent", message));
    }
    if let Some(parent) = named
        && parent.text("session_id") != grain.text("session_id")
    {
        // OMS 28.6: all messages of a conversation share their session.
        let message = "the parent message is of another session (OMS 28.6)";
        return Some(warning("parent_message_id", message));
    }
    let delegates = grain.text("relation") == Some(Delegation::RELATION);
    (delegates && Delegation::of(grain).is_none()).then(|| {
        let message = "opens nothing: a delegation is written by its delegator (OMS 28.7)";
        warning("author_did", message)
    })
}
