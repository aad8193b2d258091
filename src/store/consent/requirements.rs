//! Settings about consent: the namespaces that require one, and the deadline for executing a
//! withdrawal.

use crate::policy::Authorization;
use crate::store::engine::Engine;
use crate::store::records::{PolicyRecord, RequiredConsent};
use crate::store::{Admin, Error};

impl Admin<'_> {
    /// Sets whether grains of a namespace, and of those inside it, are stored and read only under a
    /// consent that permits it. It is an entry of the ledger, so it applies to every later opening.
    ///
    /// # Errors
    /// `ERR_AUTHORITY` without a reason or an authority; `ERR_EMPTY` for no namespace; storage
    /// errors.
    pub fn require_consent(
        self,
        namespace: &str,
        required: RequiredConsent,
        authorization: Authorization<'_>,
    ) -> Result<(), Error> {
        if namespace.is_empty() {
            let field = "namespace".into();
            return Err(crate::grain::Error::Empty { field }.into());
        }
        self.set(authorization, |authorization| {
            PolicyRecord::ConsentRequired {
                namespace: namespace.to_owned(),
                required,
                authorization,
            }
        })
    }

    /// Returns the namespaces that require consent, or did before.
    pub fn required_consent(self) -> Vec<(String, RequiredConsent)> {
        let state = self.engine().state();
        let required = state.consents().required().iter();
        required.map(|(name, what)| (name.clone(), *what)).collect()
    }

    /// Sets the deadline, in hours after a withdrawal, for erasing the grains that rest on it: 24
    /// by default, and 720 at most (OMS 23.2, ruling I13).
    ///
    /// # Errors
    /// `ERR_RANGE` beyond 720 hours; `ERR_AUTHORITY` without a reason or an authority; storage
    /// errors.
    pub fn set_consent_deadline(
        self,
        hours: u32,
        authorization: Authorization<'_>,
    ) -> Result<(), Error> {
        if hours > DEADLINE_MAX_HOURS {
            return Err(Error::Deadline { hours });
        }
        let ms = i64::from(hours).saturating_mul(HOUR_MS);
        self.set(authorization, |authorization| {
            PolicyRecord::ConsentDeadline { ms, authorization }
        })
    }
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
