//! Settings about consent: the namespaces that require one, and the deadline for executing a
//! withdrawal.

use crate::policy::Authorization;
use crate::store::engine::Engine;
use crate::store::governance::set;
use crate::store::records::{PolicyRecord, RequiredConsent};
use crate::store::{Error, Owner};

/// See [`Admin::require_consent`](crate::Admin::require_consent).
pub(crate) fn require_consent(
    owner: Owner<'_>,
    namespace: &str,
    required: RequiredConsent,
    authorization: Authorization<'_>,
) -> Result<(), Error> {
    if namespace.is_empty() {
        let field = "namespace".into();
        return Err(crate::grain::Error::Empty { field }.into());
    }
    set(owner, authorization, |authorization| {
        PolicyRecord::ConsentRequired {
            namespace: namespace.to_owned(),
            required,
            authorization,
        }
    })
}

/// See [`Admin::required_consent`](crate::Admin::required_consent).
pub(crate) fn required_consent(owner: Owner<'_>) -> Vec<(String, RequiredConsent)> {
    let state = owner.engine().state();
    let required = state.consents().required().iter();
    required.map(|(name, what)| (name.clone(), *what)).collect()
}

/// See [`Admin::set_consent_deadline`](crate::Admin::set_consent_deadline).
pub(crate) fn set_consent_deadline(
    owner: Owner<'_>,
    hours: u32,
    authorization: Authorization<'_>,
) -> Result<(), Error> {
    if hours > DEADLINE_MAX_HOURS {
        return Err(Error::Deadline { hours });
    }
    let ms = i64::from(hours).saturating_mul(HOUR_MS);
    set(owner, authorization, |authorization| {
        PolicyRecord::ConsentDeadline { ms, authorization }
    })
}

/// Returns the deadline for executing a withdrawal, in milliseconds.
pub(crate) fn deadline_ms(engine: &Engine) -> i64 {
    let said = engine.state().consents().deadline_ms();
    let longest = i64::from(DEADLINE_MAX_HOURS) * HOUR_MS;
    said.unwrap_or(24 * HOUR_MS).clamp(0, longest)
}

/// OMS 23.2: one month, taken as 30 days.
const DEADLINE_MAX_HOURS: u32 = 30 * 24;

const HOUR_MS: i64 = 60 * 60 * 1000;
