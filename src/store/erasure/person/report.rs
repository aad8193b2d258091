//! The report on a person (GDPR Art. 15): the grains about them, those that mention them, and what
//! the ledger keeps besides.

use std::collections::BTreeSet;

use crate::codec::{ContentAddress, nfc};
use crate::grain::{Draft, ForeignId, Status, Verification};
use crate::index::{Family, Snapshot};
use crate::ledger::EntryId;
use crate::policy::{Authorization, Rule};
use crate::store::commit::put_one;
use crate::store::engine::Engine;
use crate::store::erasure::delete::kept_from_deletion;
use crate::store::erasure::person::identity::Person;
use crate::store::erasure::person::scope::{Found, Selection};
use crate::store::governance::{recorded, set_verification};
use crate::store::read;
use crate::store::records::Record;
use crate::store::{Admin, Error, Store};

/// A grain that names a person, with the facts that the store holds about it.
#[derive(Debug, Clone, PartialEq)]
pub struct PersonGrain {
    /// The grain.
    pub address: ContentAddress,
    /// The fields by which it was found: a path such as `subject` or `context.customer`,
    /// `foreign_id.scope`, `_elided.user_id` for a view whose hash is that of the person, and
    /// `derived_from` for one that is derived from a grain about the person.
    pub found_by: Vec<String>,
    /// The rule that keeps it from being erased now; `None` if none does.
    pub kept: Option<Rule>,
    /// Its status.
    pub status: Status,
    /// Its foreign identifiers.
    pub foreign_ids: Vec<ForeignId>,
    /// The models for which it has an embedding.
    pub embeddings: Vec<String>,
    /// The number of recorded reads of it.
    pub reads: u64,
}

/// Everything that the store holds about a person, as [`Admin::person_report`] finds it.
#[derive(Debug, Clone, PartialEq)]
pub struct PersonReport {
    /// The grains about the person: those with one of the identifiers as `user_id`, or without
    /// another `user_id` and with one as `subject`, `subject_did` or owner of a foreign name.
    /// [`Admin::erase_person`] erases them.
    pub about: Vec<PersonGrain>,
    /// The other grains that name the person: of other users, or in other fields. They are erased
    /// on request only.
    pub mentions: Vec<PersonGrain>,
    /// The entries that name the person and that no erasure removes, each with its kind: actors,
    /// trust rules, authorities.
    pub records: Vec<(EntryId, String)>,
    /// The number of entries written in the person's name.
    pub written: u64,
    /// The number of tombstones in the store, of all persons: keyed hashes, which name none.
    pub tombstones: u64,
    /// The number of ledger entries that were searched: all of them.
    pub entries: u64,
    /// The number of other sealed persons who are locked: their grains may mention this one, and were
    /// not looked into.
    pub locked_persons: u64,
}

impl Admin<'_> {
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
        self.authorize_whole()?;
        let said = recorded(authorization)?;
        let (one, other) = (nfc(one), nfc(other));
        if one.is_empty() || other.is_empty() {
            return Err(Error::Filter {
                filter: "person",
                reason: "has an empty identifier",
            });
        }
        let (engine, caller) = (self.engine(), self.caller()?);
        let known = read::united(engine, &engine.snapshot(), vec![one.clone().into_owned()])?;
        if known.iter().any(|id| *id == *other) {
            return Ok(Vec::new());
        }
        let reason = format!("{} ({})", said.reason, said.authority);
        let mut stated = Vec::new();
        // Each under the key of its user, so that either leads to the other while that one is locked.
        for (user, of) in [(&*one, &*other), (&*other, &*one)] {
            let belief = Draft::belief(user, read::SAME_PERSON, of)
                .confidence(1.0)
                .user(user);
            let belief = belief.source("user_explicit");
            stated.push(put_one(engine, belief.into(), caller)?);
        }
        // They count from here on, once both are stored.
        for address in &stated {
            let reason = Some(&*reason).into();
            set_verification(engine, address, Verification::Verified, reason, caller)?;
        }
        Ok(stated)
    }

    /// Returns the persons of the oldest and the newest grains, a few of each, in order: of one person's
    /// users the first by name. It tells a store of one person from others, and reads no more.
    ///
    /// # Errors
    /// Storage errors.
    pub fn persons_seen(self) -> Result<Vec<String>, Error> {
        self.authorize_whole()?;
        let engine = self.engine();
        let snapshot = engine.snapshot();
        let rows = snapshot.grains();
        let len = usize::try_from(rows.len()).unwrap_or(usize::MAX);
        let oldest = rows.iter().take(SEEN);
        let newest = rows.iter().skip(len.saturating_sub(SEEN).max(SEEN));
        let mut persons = BTreeSet::new();
        for row in oldest.chain(newest) {
            let version = engine.as_of(&snapshot).version_at(row)?;
            if let Some(user) = version.grain.text("user_id") {
                persons.insert(read::person_of_user(engine, &snapshot, user)?);
            }
        }
        Ok(persons.into_iter().collect())
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
        self.authorize_person(person)?;
        let engine = self.engine();
        let person = &person.whole(engine)?;
        let mut selection = Selection::of(engine, person)?;
        selection.read_on()?;
        // No frame is half applied while no other thread writes.
        let (snapshot, entries) = {
            let _writer = engine.exclusive()?;
            selection.read_on()?;
            (engine.snapshot(), engine.ledger().len())
        };
        let (written, tombstones) = (selection.written, selection.tombstones);
        let chosen = selection.finish(&snapshot, false)?;
        let (mut about, mut mentions) = (Vec::new(), Vec::new());
        for found in chosen.grains {
            let is_about = found.is_about;
            let grain = person_grain(engine, &snapshot, found, REPORTED)?;
            if is_about {
                about.push(grain);
            } else {
                mentions.push(grain);
            }
        }
        let records = chosen.records.into_iter();
        let records = records.map(|(row, kind)| (row, format!("{kind:?}").to_lowercase()));
        if !self.is_whole() {
            // Grains without a user that have the person as subject may be another's.
            return Ok(PersonReport {
                about: self.reached(about, |found| found.address)?,
                mentions: Vec::new(),
                records: Vec::new(),
                written,
                tombstones: 0,
                entries: 0,
                locked_persons: 0,
            });
        }
        Ok(PersonReport {
            about,
            mentions,
            records: records.collect(),
            written,
            tombstones,
            entries,
            locked_persons: chosen.locked_persons,
        })
    }

    /// Judges whether everything about a person may be asked for: a handle of a person asks for that
    /// one, and what is about a person may be in any namespace.
    ///
    /// # Errors
    /// `ERR_ACCESS_DENIED`.
    pub(super) fn authorize_person(self, person: &Person) -> Result<(), Error> {
        let capability = self.within().and_then(Store::capability);
        let Some(capability) = capability.filter(|it| it.is_confined()) else {
            return Ok(());
        };
        let is_own = person
            .ids()
            .iter()
            .all(|id| capability.user() == Some(id.as_str()));
        let rule = match (capability.namespaces(), is_own) {
            (None, true) => return Ok(()),
            (Some(_), _) => Rule::Namespace,
            (None, false) => Rule::User,
        };
        Err(Error::Refused { rule })
    }
}

/// Returns a grain that names a person, with its facts.
///
/// # Errors
/// Storage errors.
pub(super) fn person_grain(
    engine: &Engine,
    snapshot: &Snapshot,
    found: Found,
    authorization: Authorization<'_>,
) -> Result<PersonGrain, Error> {
    let Found { row, address, .. } = found;
    let mut grain = PersonGrain {
        address,
        found_by: found.fields,
        kept: kept_from_deletion(engine, snapshot, row, &address, authorization)?,
        status: engine.as_of(snapshot).status_at(row)?,
        foreign_ids: Vec::new(),
        embeddings: Vec::new(),
        reads: 0,
    };
    let mentions = snapshot.pointing_at(Family::Mentions, &address).rows()?;
    for entry in mentions.iter() {
        match engine.record_at(entry)? {
            Record::Alias(alias) if alias.of == address => grain.foreign_ids.push(alias.id),
            Record::Embedding(embedding) if embedding.of == address => {
                grain.embeddings.push(embedding.model);
            }
            _ => {}
        }
    }
    for entry in snapshot.pointing_at(Family::Read, &address).rows()?.iter() {
        if let Record::Read(read) = engine.record_at(entry)? {
            grain.reads += u64::from(read.addresses.contains(&address));
        }
    }
    Ok(grain)
}

/// The authorization with which the decision is asked for the rules that keep a grain.
const REPORTED: Authorization<'static> = Authorization {
    reason: "a report",
    authority: "a report",
};

/// How many of the oldest and of the newest grains tell whose store it is.
const SEEN: usize = 64;
