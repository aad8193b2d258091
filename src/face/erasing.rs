//! Deletion, and all that concerns one person: the report, the erasure, its receipt.

use std::collections::BTreeMap;

use crate::codec::ContentAddress;
use crate::crypto::ErasureReceipt;
#[cfg(feature = "signatures")]
use crate::crypto::{Did, SigningKey};
use crate::policy::Authorization;
use crate::store::{
    ErasureReport, ErasureScope, Error, PendingErasure, Person, PersonErasure, PersonReport,
    erasure,
};
#[cfg(feature = "sealing")]
use crate::store::{VaultAdmin, keys};

use super::Admin;

impl<'a> Admin<'a> {
    /// Deletes a grain for compliance (OMS 28.4): its bytes, every entry that names it, its keys
    /// and its words are gone from the store's files when this returns. An entry remains with the
    /// reason, the authority, and a tombstone by which the grain is recognised if it is stored
    /// again.
    ///
    /// It cannot be undone. Backups and exports made before keep their copies. A grain whose bytes
    /// are damaged can be deleted too; of its protection only a hold is known then.
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`; `ERR_INVALIDATION_DENIED` for a grain that a hold or its retention keeps,
    /// without a reason and an authority, and under one that does not name what the grain's
    /// `deletion_requires` asks for (OMS 6.1); the refusal is recorded. Storage errors: from the
    /// first entry on the grain is invisible, and the next open completes the erasure.
    pub fn delete(
        self,
        address: &ContentAddress,
        authorization: Authorization<'_>,
    ) -> Result<(), Error> {
        erasure::delete(self.0, address, authorization)
    }

    /// Deletes grains as [`Admin::delete`] does one, and rewrites the files once for a thousand of
    /// them. Returns the outcome of each, in their order.
    ///
    /// ```
    /// use grainstore::store::Authorization;
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// let grains = ["one", "two"].map(Draft::event);
    /// let stored = store.put_batch(grains)?;
    /// let addresses: Vec<_> = stored.iter().map(|put| put.address).collect();
    /// let office = Authorization { reason: "asked for", authority: "the office" };
    /// let outcomes = store.admin()?.delete_batch(&addresses, office)?;
    /// assert!(outcomes.iter().all(Result::is_ok));
    /// assert_eq!(store.get(&addresses[1])?, None);
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// Storage errors; the outcome of each grain has the codes of [`Admin::delete`].
    pub fn delete_batch(
        self,
        addresses: &[ContentAddress],
        authorization: Authorization<'_>,
    ) -> Result<Vec<Result<(), Error>>, Error> {
        erasure::delete_batch(self.0, addresses, authorization)
    }

    /// Erases a person (GDPR Art. 17): their grains, with every entry, key, word and vector of
    /// them, are gone from the store's files when this returns, as with [`Admin::delete`]. The grains
    /// are those that [`Admin::person_report`] lists as `about`.
    ///
    /// The ledger records the reason, the authority and tombstones, and not the person. Repeated,
    /// it erases what was stored since. A crash leaves all or nothing of it, and the next open
    /// completes it.
    ///
    /// ```
    /// use grainstore::store::{Authorization, ErasureScope, Person};
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// let note = store.put(Draft::event("likes tea").user("alice"))?;
    /// let asked = Authorization { reason: "request 17", authority: "the DPO" };
    /// let alice = Person::new("alice");
    /// let done = store.admin()?.erase_person(&alice, ErasureScope::default(), asked)?;
    /// assert_eq!(done.erased, [note]);
    /// assert!(store.admin()?.person_report(&alice)?.about.is_empty());
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_INVALIDATION_DENIED` for the first grain that a hold, its retention or its role as
    /// evidence keeps, unless the scope excepts or reseals them; nothing is erased then, and each refusal is
    /// recorded. With a damaged vault the grains in the clear are erased
    /// ([`PersonErasure::is_vault_damaged`]). `ERR_AUTHORITY` without a reason or an authority; as [`Admin::person_report`].
    /// Storage errors: from the first entry on the grains are invisible, and the next open
    /// completes the erasure.
    pub fn erase_person(
        self,
        person: &Person,
        scope: ErasureScope,
        authorization: Authorization<'_>,
    ) -> Result<PersonErasure, Error> {
        erasure::erase_person(self.0, person, scope, authorization)
    }

    /// Signs a receipt for the erasure of a person, and returns the message, which is for the
    /// person and the operator. The store keeps no copy: the nonce in it names the person.
    ///
    /// # Errors
    /// `ERR_KEY`; `ERR_NO_RANDOMNESS`.
    #[cfg(feature = "signatures")]
    pub fn erasure_receipt(
        self,
        erasure: &PersonErasure,
        key: &SigningKey,
        did: &Did,
    ) -> Result<Vec<u8>, Error> {
        erasure::erasure_receipt(self.0, erasure, key, did)
    }

    /// Returns whether a receipt is of this store, is proven in itself, and the store's ledger begins with the entries that
    /// the receipt states, the erasures among them. Every byte of the ledger is read and verified.
    ///
    /// # Errors
    /// `ERR_STORAGE_IO`.
    pub fn agrees_with(self, receipt: &ErasureReceipt) -> Result<bool, Error> {
        erasure::agrees_with(self.0, receipt)
    }

    /// States that two user ids are one person, and returns the grains that say so; none if that is
    /// known. From then on questions about one user, reports, keys and erasures find the other.
    ///
    /// A Belief `same_person_as` of each user says it, which the owner verified: it is in the audit log,
    /// in backups and in every copy, and ends as any Belief does. A handle that is narrowed to one user
    /// stays with that one.
    ///
    /// ```
    /// use grainstore::store::Authorization;
    /// use grainstore::{Draft, Filter, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// store.put(Draft::event("likes tea").user("user-7f3a"))?;
    /// let asked = Authorization { reason: "her account", authority: "mira" };
    /// store.admin()?.unite_users("mira", "user-7f3a", asked)?;
    /// // The note, and the two grains that say so.
    /// assert_eq!(store.query(&Filter::new().user("mira"), 9, None)?.total, 3);
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_FILTER` for an empty id; `ERR_AUTHORITY` without a reason or an authority; as
    /// [`Store::put`](crate::Store::put).
    pub fn unite_users(
        self,
        one: &str,
        other: &str,
        authorization: Authorization<'_>,
    ) -> Result<Vec<ContentAddress>, Error> {
        erasure::unite_users(self.0, one, other, authorization)
    }

    /// Returns the persons of the oldest and the newest grains, a few of each, in order: of one person's
    /// users the first by name. It tells a store of one person from others, and reads no more.
    ///
    /// # Errors
    /// Storage errors.
    pub fn persons_seen(self) -> Result<Vec<String>, Error> {
        erasure::persons_seen(self.0)
    }

    /// Returns everything that the store holds about a person (GDPR Art. 15). Every entry of the
    /// ledger is read; versions that were replaced, expired grains and grains that await review
    /// are included.
    ///
    /// ```
    /// use grainstore::store::Person;
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// let note = store.put(Draft::event("likes tea").user("alice"))?;
    /// let other = Draft::belief("bob", "knows", "alice").confidence(0.9).user("bob");
    /// let other = store.put(other)?;
    ///
    /// let report = store.admin()?.person_report(&Person::new("alice"))?;
    /// assert_eq!((report.about[0].address, &*report.about[0].found_by[0]), (note, "user_id"));
    /// assert_eq!((report.mentions[0].address, &*report.mentions[0].found_by[0]), (other, "object"));
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED` and `ERR_SCOPE_INCOMPLETE` if an entry cannot be read that may be about
    /// the person, as where they are locked; `ERR_FILTER` for an empty identifier; storage errors.
    pub fn person_report(self, person: &Person) -> Result<PersonReport, Error> {
        erasure::person_report(self.0, person)
    }

    /// Returns the grains that rest on a grain, before it is deleted: those derived from it, those
    /// with it as their `processing_basis`, and those that it replaced or that replaced it.
    ///
    /// ```
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// let letter = store.put(Draft::event("a letter"))?;
    /// let summary = store.put(Draft::event("what it says").derived_from(letter))?;
    /// assert_eq!(store.admin()?.resting_on(&letter)?, [summary]);
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`; storage errors.
    pub fn resting_on(self, address: &ContentAddress) -> Result<Vec<ContentAddress>, Error> {
        erasure::resting_on(self.0, address)
    }

    /// Returns the grains that a grain protects, by its own policy (OMS 23.6). When it is deleted
    /// they keep its rule, which stays as a tombstone.
    ///
    /// # Errors
    /// As [`Admin::resting_on`](crate::Admin::resting_on).
    pub fn protected_by(self, address: &ContentAddress) -> Result<Vec<ContentAddress>, Error> {
        erasure::protected_by(self.0, address)
    }

    /// Returns the erasures pending because of withdrawn consents, the oldest withdrawal first,
    /// with the holds and retention that prevent them (ruling I12). Grains whose bytes are damaged
    /// are left out.
    ///
    /// ```
    /// use grainstore::{Draft, Options, Store};
    /// use grainstore::store::Authorization;
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// let consent = |more: &str| Draft::from_json(&format!(
    ///     r#"{{"type":"consent","subject_did":"did:web:a","grantee_did":"did:web:b",
    ///     "scope":["store"],"created_at":1{more}}}"#));
    /// let grant = store.put(consent(r#","is_withdrawal":false"#)?)?;
    /// let fact = Draft::belief("a", "likes", "tea").confidence(0.9);
    /// let fact = store.put(fact.set("processing_basis", grant.to_string()))?;
    /// store.put(consent(&format!(r#","is_withdrawal":true,"prior_consent":"{grant}""#))?)?;
    ///
    /// assert_eq!(store.admin()?.pending_erasures()?[0].address, fact);
    /// let done = store.admin()?.run_consent_erasures(Authorization { reason: "withdrawn", authority: "the office" })?;
    /// assert_eq!(done.erased, [fact]);
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn pending_erasures(self) -> Result<Vec<PendingErasure>, Error> {
        erasure::pending_erasures(self.0)
    }

    /// Returns the persons who are locked and of whom grains may rest on a withdrawn consent, by
    /// pseudonym. With the master key they are looked into: those of whom some do are named, with the
    /// number of these grains, and else everyone, with `None`.
    ///
    /// # Errors
    /// Storage errors.
    pub fn waiting_persons(self) -> Result<BTreeMap<[u8; 16], Option<u64>>, Error> {
        erasure::waiting_persons(self.0)
    }

    /// Executes all pending erasures, before their deadlines too, as
    /// [`Admin::delete`](crate::Admin::delete) would, under the given authorization. Grains
    /// that a hold or their retention keeps stay and are reported; each of those refusals is
    /// recorded.
    ///
    /// Sealed persons of whom grains are due are unlocked for it, one at a time, if the master key is
    /// here. For those who cannot be, the run is recorded, and carried out at their next unlocking.
    ///
    /// # Errors
    /// `ERR_AUTHORITY` without a reason or an authority; as [`Admin::delete`](crate::Admin::delete).
    pub fn run_consent_erasures(
        self,
        authorization: Authorization<'_>,
    ) -> Result<ErasureReport, Error> {
        erasure::run_consent_erasures(self.0, authorization)
    }

    /// Unlocks a sealed person in this process: from here on their grains are in every answer, and new
    /// ones can be stored, as those of any other person. It takes time in proportion to what is
    /// stored of them. A person who is unlocked stays so, until another process erases them. A key whose
    /// renewal is overdue is renewed ([`Options::rekey_within`](crate::Options::rekey_within)). Erasures
    /// after a withdrawn consent that waited for the person are carried out
    /// ([`Admin::run_consent_erasures`](crate::Admin::run_consent_erasures)).
    ///
    /// # Errors
    /// `ERR_ACCESS_DENIED` on behalf of a handle of a part; `ERR_USER_UNKNOWN` for a person without a key;
    /// `ERR_MASTER_KEY`, `ERR_KEY`, `ERR_ROOT_MISSING`; storage errors.
    #[cfg(feature = "sealing")]
    pub fn unlock(self, user: &str) -> Result<(), Error> {
        erasure::unlock(self.0, user)
    }

    /// Locks a person in this process: their keys are wiped, and nothing of them is in any answer. Of
    /// a person who is not unlocked it does nothing.
    ///
    /// # Errors
    /// `ERR_ACCESS_DENIED` on behalf of a handle of a part; storage errors, after which the person is
    /// locked.
    #[cfg(feature = "sealing")]
    pub fn lock(self, user: &str) -> Result<(), Error> {
        erasure::lock(self.0, user)
    }

    /// Returns whether a person is unlocked in this process.
    #[cfg(feature = "sealing")]
    pub fn is_unlocked(self, user: &str) -> bool {
        erasure::is_unlocked(self.0, user)
    }

    /// Returns the operations on the keys of sealed persons.
    #[cfg(feature = "sealing")]
    pub fn vault(self) -> VaultAdmin<'a> {
        keys::vault(self.0)
    }
}
