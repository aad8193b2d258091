//! Authorization of writes and changes: by the handle, the author's delegations, the trust rules
//! and the regimes. Refusals are recorded.

use crate::grain::Grain;
use crate::index::Snapshot;
use crate::policy::{DelegatedOperation, Operation, Violation};
use crate::store::Error;
use crate::store::instance::{Caller, Inner, Writer};
use crate::store::records::DenialRecord;

impl Inner {
    /// Refuses a new grain that a handle must not write, and records the attempt.
    ///
    /// # Errors
    /// `ERR_ACCESS_DENIED`; storage errors.
    pub(crate) fn authorize_put(&self, caller: Caller<'_>, grain: &Grain) -> Result<(), Error> {
        caller.admits(grain).or_else(|rule| {
            let denial = DenialRecord::new(None, "put", rule.name());
            self.record_denial(&mut *self.exclusive()?, caller.actor, denial)?;
            Err(Error::Refused { rule })
        })
    }

    /// Refuses a change to a stored grain where the caller only reads or the author's delegations
    /// do not cover the grain; the refusal is recorded.
    ///
    /// # Errors
    /// `ERR_ACCESS_DENIED`; storage errors.
    pub(crate) fn authorize_change(
        &self,
        writer: &mut Writer,
        snapshot: &Snapshot,
        caller: Caller<'_>,
        author: Option<&str>,
        target: &Grain,
    ) -> Result<(), Error> {
        let judged = match (caller.may_write(), author.or(caller.author())) {
            (Ok(()), Some(author)) => {
                let deed = DelegatedOperation::touch(target);
                self.authority(snapshot, author, &deed, self.entry_time())?
            }
            (judged, _) => judged,
        };
        judged.or_else(|rule| {
            let denial = DenialRecord::new(None, "change", rule.name());
            self.record_denial(writer, caller.actor, denial)?;
            Err(Error::Refused { rule })
        })
    }

    /// Returns a decision about a new grain, and records it if it is a refusal.
    ///
    /// # Errors
    /// As the decision; storage errors.
    pub(crate) fn recorded(
        &self,
        writer: &mut Writer,
        caller: Caller<'_>,
        judged: Result<(), Error>,
    ) -> Result<(), Error> {
        if let Err(error) = &judged
            && let Some(denial) = error.denial("put")
        {
            self.record_denial(writer, caller.actor, denial)?;
        }
        judged
    }

    /// Refuses a grain that its signer may not write here, or that must be signed; its signature
    /// has been checked.
    ///
    /// # Errors
    /// `ERR_UNTRUSTED`.
    pub(crate) fn authorize_signer(&self, grain: &Grain) -> Result<(), Error> {
        let signer = match grain.is_signed() {
            true => Some(grain.kid()?),
            false => None,
        };
        let admitted = self
            .state()
            .trust()
            .all()
            .authorize_put(signer.as_ref(), grain);
        admitted.map_err(|reason| Error::Untrusted {
            address: grain.address(),
            reason,
        })
    }

    /// Refuses a change to a stored grain that none of its signers may write there.
    ///
    /// # Errors
    /// `ERR_UNTRUSTED`.
    pub(crate) fn authorize_signers(
        &self,
        signers: &[Vec<String>],
        target: &Grain,
    ) -> Result<(), Error> {
        let state = self.state();
        let admitted = state.trust().all().authorize_change(signers, target);
        admitted.map_err(|reason| Error::Untrusted {
            address: target.address(),
            reason,
        })
    }

    /// Refuses a successor of a stored grain whose signer may not replace it.
    ///
    /// # Errors
    /// `ERR_UNTRUSTED`; as [`Grain::kid`].
    pub(crate) fn authorize_successor(
        &self,
        agreed: &[Vec<String>],
        new: &Grain,
        target: &Grain,
    ) -> Result<(), Error> {
        let signer = new.envelope().map(|_| new.kid()).transpose()?;
        let signer = signer.map(|signer| vec![signer.as_str().to_owned()]);
        let signers: Vec<_> = signer.into_iter().chain(agreed.iter().cloned()).collect();
        self.authorize_signers(&signers, target)
    }

    /// Refuses a new grain that a regime forbids to store.
    ///
    /// # Errors
    /// `ERR_POLICY_DENIED`.
    pub(crate) fn authorize_by_regimes(&self, grain: &Grain) -> Result<(), Error> {
        let sealing = {
            let state = self.state();
            let regimes = state.regimes().all();
            if let Some(broken) = regimes.refuses(grain) {
                return Err(Error::Violation(Violation::of(broken)));
            }
            regimes.seals(grain).map(Violation::of)
        };
        match sealing {
            Some(violation) if self.person_of(grain)?.is_none() => Err(Error::Violation(violation)),
            _ => Ok(()),
        }
    }

    /// Refuses a change without a reason where a regime asks for one. Returns whether a person
    /// reviews the change afterwards.
    ///
    /// # Errors
    /// `ERR_POLICY_DENIED`.
    pub(crate) fn required_reason(
        &self,
        target: &Grain,
        reasons: &[Option<&str>],
    ) -> Result<bool, Error> {
        let mut reasons = reasons.iter().flatten();
        let has_reason = reasons.any(|text| !text.trim().is_empty());
        let state = self.state();
        let regimes = state.regimes().all();
        match regimes.asks_why(target).filter(|_| !has_reason) {
            Some(broken) => Err(Error::Violation(Violation::of(broken))),
            None => Ok(regimes.reviews(target)),
        }
    }

    /// As [`Inner::required_reason`], and records the refusal.
    ///
    /// # Errors
    /// `ERR_POLICY_DENIED`; storage errors.
    pub(crate) fn authorize_reason(
        &self,
        writer: &mut Writer,
        caller: Caller<'_>,
        operation: Operation,
        target: &Grain,
        reasons: [Option<&str>; 2],
    ) -> Result<bool, Error> {
        let asked = self.required_reason(target, &reasons);
        if let Err(Error::Violation(violation)) = &asked {
            let (of, operation) = (Some(target.address()), operation.name());
            let denial = DenialRecord::new(of, operation, &violation.name());
            self.record_denial(writer, caller.actor, denial)?;
        }
        asked
    }

    /// Returns the clause that keeps a grain in the store.
    pub(crate) fn kept_by(&self, grain: &Grain) -> Option<Violation> {
        let state = self.state();
        state.regimes().all().keeps(grain).map(Violation::of)
    }
}

impl Error {
    /// Returns the record of a refusal, of the kinds that the ledger records.
    pub(crate) fn denial(&self, operation: &str) -> Option<DenialRecord> {
        Some(match self {
            Self::Denied { address, rule } => {
                DenialRecord::new(Some(*address), operation, rule.name())
            }
            Self::Refused { rule } => DenialRecord::new(None, operation, rule.name()),
            Self::Violation(violation) => DenialRecord::new(None, operation, &violation.name()),
            Self::Untrusted { .. } => DenialRecord::new(None, operation, "untrusted"),
            Self::ImplicitSupersession { address } => {
                DenialRecord::new(Some(*address), operation, "implied_supersession")
            }
            _ => return None,
        })
    }
}
