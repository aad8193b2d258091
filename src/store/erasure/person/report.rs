//! The report on a person (GDPR Art. 15): the grains about them, those that mention them, and what
//! the ledger keeps besides.

use crate::codec::ContentAddress;
use crate::grain::{ForeignId, Status};
use crate::index::{Family, Snapshot};
use crate::ledger::EntryId;
use crate::policy::Rule;
use crate::store::erasure::person::identity::Person;
use crate::store::erasure::person::scope::{Found, Selection};
use crate::store::instance::Inner;
use crate::store::records::{Authorization, Record};
use crate::store::{Admin, Error};

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
}

impl Admin<'_> {
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
    /// `ERR_STORAGE_DAMAGED` and `ERR_SCOPE_INCOMPLETE` if an entry cannot be read, since it may
    /// name the person; `ERR_FILTER` for an empty identifier; storage errors.
    pub fn person_report(self, person: &Person) -> Result<PersonReport, Error> {
        let inner = self.inner();
        let mut selection = Selection::of(inner, person)?;
        selection.read_on()?;
        // No frame is half applied while no other thread writes.
        let (snapshot, entries) = {
            let _writer = inner.exclusive()?;
            selection.read_on()?;
            (inner.snapshot(), inner.ledger().len())
        };
        let (written, tombstones) = (selection.written, selection.tombstones);
        let chosen = selection.finish(&snapshot, true)?;
        let (mut about, mut mentions) = (Vec::new(), Vec::new());
        for found in chosen.grains {
            let is_about = found.is_about;
            let grain = inner.person_grain(&snapshot, found, REPORTED)?;
            if is_about {
                about.push(grain);
            } else {
                mentions.push(grain);
            }
        }
        let records = chosen.records.into_iter();
        let records = records.map(|(row, kind)| (row, format!("{kind:?}").to_lowercase()));
        Ok(PersonReport {
            about,
            mentions,
            records: records.collect(),
            written,
            tombstones,
            entries,
        })
    }
}

impl Inner {
    /// Returns a grain that names a person, with its facts.
    ///
    /// # Errors
    /// Storage errors.
    pub(super) fn person_grain(
        &self,
        snapshot: &Snapshot,
        found: Found,
        authorization: Authorization<'_>,
    ) -> Result<PersonGrain, Error> {
        let Found { row, address, .. } = found;
        let mut grain = PersonGrain {
            address,
            found_by: found.fields,
            kept: self.kept_from_deletion(snapshot, row, &address, authorization)?,
            status: self.as_of(snapshot).status_at(row)?,
            foreign_ids: Vec::new(),
            embeddings: Vec::new(),
            reads: 0,
        };
        let mentions = snapshot.pointing_at(Family::Mentions, &address).rows()?;
        for entry in mentions.iter() {
            match self.record_at(entry)? {
                Record::Alias(alias) if alias.of == address => grain.foreign_ids.push(alias.id),
                Record::Embedding(embedding) if embedding.of == address => {
                    grain.embeddings.push(embedding.model);
                }
                _ => {}
            }
        }
        for entry in snapshot.pointing_at(Family::Read, &address).rows()?.iter() {
            if let Record::Read(read) = self.record_at(entry)? {
                grain.reads += u64::from(read.addresses.contains(&address));
            }
        }
        Ok(grain)
    }
}

/// The authorization with which the decision is asked for the rules that keep a grain.
const REPORTED: Authorization<'static> = Authorization {
    reason: "a report",
    authority: "a report",
};
