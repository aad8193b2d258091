//! The owner's operations on policy, consent, holds, reviews, trust and the clock.

use crate::codec::ContentAddress;
#[cfg(feature = "signatures")]
use crate::crypto::Did;
use crate::ledger::EntryId;
#[cfg(feature = "signatures")]
use crate::policy::TrustRule;
use crate::policy::{Actor, Authorization, Regime, Regimes};
use crate::store::{
    Asked, AuditedRead, ClockState, Consent, ConsentFilter, Error, Explanation, Heads, Hold, Owner,
    PolicyReport, RequiredConsent, Review, consent, governance, lineage, read,
};

use super::Store;

/// Owner-only operations on policy, trust, consent, holds, deletion, import and export: see
/// [`Store::admin`].
#[derive(Clone, Copy, Debug)]
pub struct Admin<'a>(pub(super) Owner<'a>);

impl<'a> Admin<'a> {
    /// Acts on behalf of a narrowed handle, and within it: the ledger names its actor in each entry,
    /// and a grain that the handle does not see is as one that is not stored. For a handle of a person
    /// or of namespaces, what concerns the whole store is refused with `ERR_ACCESS_DENIED`, and so are
    /// the report and the erasure of another person.
    ///
    /// ```
    /// use grainstore::store::{AuditFilter, Authorization};
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// let address = store.put(Draft::event("hello"))?;
    /// let clerk = store.as_actor(&"did:web:clerk.example".parse()?);
    /// let asked = Authorization { reason: "request 9", authority: "the clerk" };
    /// store.admin()?.on_behalf_of(&clerk).delete(&address, asked)?;
    /// let by = AuditFilter { by: Some("did:web:clerk.example".into()), ..AuditFilter::default() };
    /// let log = store.maintenance()?.audit().log(&by, None, 9)?;
    /// assert_eq!(log[0].operation, "erase");
    ///
    /// let bobs = store.put(Draft::event("hello").user("bob"))?;
    /// let mira = store.of_user("mira");
    /// let refused = store.admin()?.on_behalf_of(&mira).delete(&bobs, asked).unwrap_err();
    /// assert_eq!(refused.code(), "ERR_NOT_FOUND");
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    #[must_use]
    pub const fn on_behalf_of(self, handle: &'a Store) -> Self {
        Self(self.0.on_behalf_of(&handle.0))
    }
}

impl Admin<'_> {
    /// Returns the decision about an operation and its reason, without performing it or writing an
    /// entry. Signers in `actor` are assumed to have signed.
    ///
    /// ```
    /// use grainstore::policy::{Actor, Operation};
    /// use grainstore::store::Asked;
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// let json = r#"{"type":"event","content":"the deed","created_at":1,
    ///     "invalidation_policy":{"mode":"locked","scope":"subtree"}}"#;
    /// let deed = store.put(Draft::from_json(json)?)?;
    /// let note = store.put(Draft::event("a note on it").derived_from(deed))?;
    /// let asked = Asked::Change(Operation::Contradict);
    /// let answer = store.admin()?.explain_policy(&note, asked, &Actor::default())?;
    /// assert_eq!((answer.is_allowed, answer.protected_by), (false, Some(deed)));
    /// assert_eq!(answer.stands_in.as_deref(), Some("OMS 23.2"));
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`; storage errors.
    pub fn explain_policy(
        self,
        address: &ContentAddress,
        asked: Asked,
        actor: &Actor<'_>,
    ) -> Result<Explanation, Error> {
        governance::explain_policy(self.0, address, asked, actor)
    }

    /// Returns consents: grants and withdrawals, including those that have ended, in the order in
    /// which they were stored.
    ///
    /// ```
    /// use grainstore::store::ConsentFilter;
    /// use grainstore::{Draft, Options, Store, Time};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// let json = r#"{"type":"consent","subject_did":"did:web:ada","grantee_did":"did:web:shop",
    ///     "scope":["store","share"],"purpose":"delivery","is_withdrawal":false,"created_at":1}"#;
    /// store.put(Draft::from_json(json)?)?;
    /// let filter = ConsentFilter {
    ///     subject: Some("did:web:ada"),
    ///     scope: Some("share"),
    ///     at: Some(Time::from_ms(2)),
    ///     ..ConsentFilter::default()
    /// };
    /// assert_eq!(store.admin()?.consents(&filter)?.len(), 1);
    /// let other = ConsentFilter { purpose: Some("advertising"), ..filter };
    /// assert!(store.admin()?.consents(&other)?.is_empty());
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`, `ERR_INDEX_DAMAGED`.
    pub fn consents(self, filter: &ConsentFilter<'_>) -> Result<Vec<Consent>, Error> {
        consent::consents(self.0, filter)
    }

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
        consent::require_consent(self.0, namespace, required, authorization)
    }

    /// Returns the namespaces that require consent, or did before.
    pub fn required_consent(self) -> Vec<(String, RequiredConsent)> {
        consent::required_consent(self.0)
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
        consent::set_consent_deadline(self.0, hours, authorization)
    }

    /// Returns the state of the trusted clock.
    pub fn clock_state(self) -> ClockState {
        governance::clock_state(self.0)
    }

    /// Accepts the time of the clock after a leap, so that it applies to `timed` grains again
    /// (ruling I21). The ledger entry names the authority and the reason.
    ///
    /// # Errors
    /// `ERR_AUTHORITY` without a reason or an authority; storage errors.
    pub fn accept_clock(self, authorization: Authorization<'_>) -> Result<(), Error> {
        governance::accept_clock(self.0, authorization)
    }

    /// Dates later entries by the clock, also where earlier ones are dated ahead of it: they were
    /// written while it was wrong, and keep their times. The clock is accepted too. The ledger entry
    /// names the authority and the reason.
    ///
    /// # Errors
    /// `ERR_AUTHORITY` without a reason or an authority; storage errors.
    pub fn repair_clock(self, authorization: Authorization<'_>) -> Result<(), Error> {
        governance::repair_clock(self.0, authorization)
    }

    /// Places a legal hold: from now on the grain is not replaced, contradicted, verified, deleted
    /// or erased, whatever else permits it (OMS 23.2, ruling I12).
    ///
    /// ```
    /// use grainstore::store::Authorization;
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// let address = store.put(Draft::event("the contract was signed"))?;
    /// store.admin()?.place_hold(&address, Authorization { reason: "Doe v. Acme", authority: "legal" })?;
    /// let office = Authorization { reason: "asked", authority: "the office" };
    /// assert_eq!(store.admin()?.delete(&address, office).unwrap_err().code(), "ERR_INVALIDATION_DENIED");
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`; `ERR_AUTHORITY` without a reason or an authority; storage errors.
    pub fn place_hold(
        self,
        address: &ContentAddress,
        authorization: Authorization<'_>,
    ) -> Result<(), Error> {
        governance::place_hold(self.0, address, authorization)
    }

    /// Lifts every legal hold on a grain, and the mode `hold` of its own policy (ruling I19), with the
    /// hold on those that name it in `legal:hold_ref` (OMS A.2). Returns whether there was anything to
    /// lift.
    ///
    /// # Errors
    /// As [`Admin::place_hold`](crate::Admin::place_hold).
    pub fn lift_hold(
        self,
        address: &ContentAddress,
        authorization: Authorization<'_>,
    ) -> Result<bool, Error> {
        governance::lift_hold(self.0, address, authorization)
    }

    /// Returns the legal holds in force, by the address of the grain.
    pub fn holds(self) -> Vec<Hold> {
        governance::holds(self.0)
    }

    /// Sets the regimes in force, in place of those before; an empty list lifts them. The documents
    /// and the reason go into the ledger. Grains stored before stay as they are.
    ///
    /// # Errors
    /// `ERR_AUTHORITY` without a reason and an authority; storage errors.
    pub fn set_regimes(
        self,
        regimes: Vec<Regime>,
        authorization: Authorization<'_>,
    ) -> Result<(), Error> {
        governance::set_regimes(self.0, regimes, authorization)
    }

    /// Returns the regimes in force.
    pub fn regimes(self) -> Regimes {
        governance::regimes(self.0)
    }

    /// Counts the contents of the store and reports the coverage of the laws of OMS Appendix D.
    /// Reads every grain.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn policy_report(self) -> Result<PolicyReport, Error> {
        governance::policy_report(self.0)
    }

    /// Returns the reviews, oldest first, with their results.
    ///
    /// ```
    /// use grainstore::store::Authorization;
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// let json = r#"{"type":"reasoning","conclusion":"deny the loan","created_at":1,
    ///     "requires_human_review":true}"#;
    /// let address = store.put(Draft::from_json(json)?)?;
    /// let review = store.admin()?.reviews()?.remove(0);
    /// assert_eq!((review.address, review.operation.as_str()), (address, "rely"));
    /// assert!(store.admin()?.awaits_review(&address)?);
    /// store.admin()?.clear_review(review.id, Authorization { reason: "it is right", authority: "Ada" })?;
    /// assert!(!store.admin()?.awaits_review(&address)?);
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn reviews(self) -> Result<Vec<Review>, Error> {
        governance::reviews(self.0)
    }

    /// Records the result of a review. Returns whether it was still open.
    ///
    /// # Errors
    /// `ERR_REVIEW` for an entry that opened no review; `ERR_AUTHORITY` without a reason or an
    /// authority; storage errors.
    pub fn clear_review(
        self,
        id: EntryId,
        authorization: Authorization<'_>,
    ) -> Result<bool, Error> {
        governance::clear_review(self.0, id, authorization)
    }

    /// Returns whether a grain must not drive an automated decision: it requires human review and
    /// has not been cleared (OMS 6.1, 8.8).
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`, `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn awaits_review(self, address: &ContentAddress) -> Result<bool, Error> {
        governance::awaits_review(self.0, address)
    }

    /// Adds a trust rule for a signer; the reason goes into the ledger. Adding the same rule again
    /// changes nothing. The rule also applies to grains stored before.
    ///
    /// ```
    /// use grainstore::crypto::{self, Algorithm, OsRandom, SigningKey};
    /// use grainstore::policy::{Trust, TrustRule};
    /// use grainstore::{Draft, Options, Store, grain::Time};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// let key = SigningKey::generate(Algorithm::Ed25519, &OsRandom)?;
    /// let draft = Draft::event("hello").created_at(Time::from_ms(1)).to_be_signed();
    /// let address = store.put(crypto::sign(draft.finish(Default::default())?, &key, &key.did(), None)?)?;
    /// let trust = || store.signature(&address).map(|found| found.map(|it| it.trust));
    /// assert_ne!(trust()?, Some(Trust::Verified));
    /// store.admin()?.trust(TrustRule::new(key.did()), "our own agent")?;
    /// assert_eq!(trust()?, Some(Trust::Verified));
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_TRUST` for an exclusive rule without a namespace, which would exclude all other
    /// writers; storage errors.
    #[cfg(feature = "signatures")]
    pub fn trust(self, rule: TrustRule, reason: &str) -> Result<(), Error> {
        governance::trust(self.0, rule, reason)
    }

    /// Removes all trust rules of a signer. Returns whether there were any.
    ///
    /// # Errors
    /// Storage errors.
    #[cfg(feature = "signatures")]
    pub fn distrust(self, signer: &Did, reason: &str) -> Result<bool, Error> {
        governance::distrust(self.0, signer, reason)
    }

    /// Returns the trust rules, oldest first.
    #[cfg(feature = "signatures")]
    pub fn trusted(self) -> Vec<TrustRule> {
        governance::trusted(self.0)
    }

    /// Returns the heads of the lineage that a grain belongs to: the one in force, and those of
    /// forks that imports brought.
    ///
    /// A supersession made in this store takes precedence over one from an import. Among imports it
    /// is the newest by `created_at`, then by address, whose supersession policy would have
    /// permitted. The same grains give the same answer, in any order of arrival.
    ///
    /// ```
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// let tea = store.put(Draft::belief("user", "likes", "tea").confidence(0.9))?;
    /// let milk = Draft::belief("user", "likes", "milk").confidence(0.9);
    /// let milk = store.supersede(&tea, milk, None)?;
    /// let heads = store.admin()?.heads(&tea)?;
    /// assert_eq!((heads.winner, heads.others.len()), (milk, 0));
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`, `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn heads(self, address: &ContentAddress) -> Result<Heads, Error> {
        lineage::heads(self.0, address)
    }

    /// Returns the recorded reads, oldest first, at most `limit` of them, after the entry `after`:
    /// those of one grain, with the backups made since it was stored, or all.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn reads(
        self,
        of: Option<&ContentAddress>,
        after: Option<EntryId>,
        limit: usize,
    ) -> Result<Vec<AuditedRead>, Error> {
        read::reads(self.0, of, after, limit)
    }
}
