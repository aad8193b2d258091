//! The ledger as a log for people: each entry with its time, its actor, its operation and what it is
//! about, filtered.
//!
//! An erased entry shows what its header says; an entry of a sealed person shows its facts only while
//! the person is unlocked.

use std::collections::{BTreeMap, BTreeSet};

use crate::codec::ContentAddress;
use crate::grain::{Grain, Time};
use crate::ledger::{self, EntryHeader, EntryId, Kind};
use crate::store::Error;
use crate::store::audit::Audit;
use crate::store::audit::describe::{describe, operation_of};
use crate::store::engine::Engine;
use crate::store::records::{ActorRecord, Record, SealedRecord};

/// One entry of the ledger, as an auditor reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// Its sequence.
    pub entry: EntryId,
    /// When it was written, by the store's clock.
    pub at: Time,
    /// The author of the handle that wrote it, empty for a handle without one; `None` for the store's
    /// owner.
    pub by: Option<String>,
    /// The person that the handle was confined to.
    pub user: Option<String>,
    /// The name of the token that the handle acted under.
    pub token: Option<String>,
    /// The operation: `store`, `supersede`, `deny`, `erase`, `import` and so on.
    pub operation: &'static str,
    /// The grains that it names; empty for one about the store, and for one that is erased or sealed.
    pub addresses: Vec<ContentAddress>,
    /// Its facts in words; `erased` for an erased entry, `sealed` for one of a person who is locked.
    pub detail: String,
}

/// Which entries of the ledger a log shows: those that pass all that is given.
///
/// ```
/// use grainstore::store::AuditFilter;
///
/// let denials = AuditFilter { operation: Some("deny".into()), ..AuditFilter::default() };
/// assert!(denials.person.is_none());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Written at this time or later.
    pub from: Option<Time>,
    /// Written at this time or before.
    pub to: Option<Time>,
    /// By this author, on behalf of this person or under the token of this name; the empty text for
    /// the store's owner.
    pub by: Option<String>,
    /// Of this operation.
    pub operation: Option<String>,
    /// About this grain, its erasure included.
    pub address: Option<ContentAddress>,
    /// About a grain with this `user_id`; without one, with this subject.
    pub person: Option<String>,
}

impl Audit<'_> {
    /// Returns the entries that pass a filter, oldest first, at most `limit` of them, after the entry
    /// `after`. The ledger is read from `after` on; from its beginning for a person.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn log(
        self,
        filter: &AuditFilter,
        after: Option<EntryId>,
        limit: usize,
    ) -> Result<Vec<AuditEntry>, Error> {
        let mut found = Vec::new();
        if limit == 0 {
            return Ok(found);
        }
        let start = after.map_or(EntryId::FIRST, EntryId::next);
        // Which grains are the person's is known from their own entries, which come first.
        let from = match filter.person {
            Some(_) => EntryId::FIRST,
            None => start,
        };
        let mut reader = LogReader::new(self.engine(), filter);
        for row in EntryId::all(&(from..EntryId::new(self.engine().ledger().len()))) {
            if let Some(entry) = reader.entry(row)?
                && row >= start
            {
                found.push(entry);
                if found.len() == limit {
                    break;
                }
            }
        }
        Ok(found)
    }

    /// Returns the entries that pass a filter, newest first, at most `limit` of them, before the entry
    /// `before`. The ledger is read backwards from there; from its beginning for a person or a grain.
    ///
    /// ```
    /// use grainstore::store::AuditFilter;
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// for text in ["one", "two", "three"] {
    ///     store.put(Draft::event(text))?;
    /// }
    /// let audit = store.maintenance()?.audit();
    /// let newest = audit.log_back(&AuditFilter::default(), None, 2)?;
    /// assert!(newest[0].entry > newest[1].entry);
    /// let rest = audit.log_back(&AuditFilter::default(), Some(newest[1].entry), 9)?;
    /// assert_eq!(rest.len(), 1);
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Audit::log`].
    pub fn log_back(
        self,
        filter: &AuditFilter,
        before: Option<EntryId>,
        limit: usize,
    ) -> Result<Vec<AuditEntry>, Error> {
        let end = EntryId::new(self.engine().ledger().len());
        let rows = EntryId::FIRST..before.map_or(end, |before| before.min(end));
        let mut reader = LogReader::new(self.engine(), filter);
        // Whether an entry is about a grain or a person is known from earlier ones.
        if filter.person.is_some() || filter.address.is_some() {
            let all = EntryId::all(&rows).filter_map(|row| reader.entry(row).transpose());
            let mut all = all.collect::<Result<Vec<_>, _>>()?;
            all.reverse();
            all.truncate(limit);
            return Ok(all);
        }
        let newest_first = EntryId::all(&rows).rev();
        let found = newest_first.filter_map(|row| reader.entry(row).transpose());
        found.take(limit).collect()
    }
}

/// Reads entries in the order of the ledger.
pub(super) struct LogReader<'a> {
    engine: &'a Engine,
    filter: &'a AuditFilter,
    actors: BTreeMap<EntryId, ActorRecord>,
    /// The grains of the person that were seen.
    of_person: BTreeSet<ContentAddress>,
    /// The marks by which an erasure names the grain that is asked for.
    marks: Vec<[u8; 32]>,
    /// The erasures of that grain.
    erasures: BTreeSet<EntryId>,
}

/// The body of an entry, as far as it can be read.
pub(super) enum Body {
    Grain(Box<Grain>),
    Record(Record),
    Erased,
    Sealed,
    Damaged,
}

impl Body {
    /// Returns the operation that an entry of a kind is of, and what it says of it.
    pub(super) fn described(&self, kind: Kind) -> (&'static str, String) {
        let plain = |detail: &str| (operation_of(kind), detail.to_owned());
        match self {
            Self::Grain(grain) => (operation_of(Kind::Grain), grain.type_().to_string()),
            Self::Record(record) => describe(record),
            Self::Erased => plain("erased"),
            Self::Sealed => plain("sealed"),
            Self::Damaged => plain("damaged"),
        }
    }
}

impl<'a> LogReader<'a> {
    pub(super) fn new(engine: &'a Engine, filter: &'a AuditFilter) -> Self {
        let marks = filter.address.iter().flat_map(|address| {
            let mark = engine.manifest().tombstone_key().of_address(address);
            engine.tombstones_for(mark, address.as_bytes())
        });
        Self {
            engine,
            filter,
            actors: BTreeMap::new(),
            of_person: BTreeSet::new(),
            marks: marks.collect(),
            erasures: BTreeSet::new(),
        }
    }

    /// Returns an entry; `None` if it does not pass the filter.
    ///
    /// # Errors
    /// Storage errors.
    pub(super) fn entry(&mut self, row: EntryId) -> Result<Option<AuditEntry>, Error> {
        let (header, body) = self.body(row)?;
        let (operation, detail) = body.described(header.kind);
        let addresses = match &body {
            Body::Grain(grain) => vec![grain.address()],
            Body::Record(record) => record.named(),
            Body::Erased | Body::Sealed | Body::Damaged => Vec::new(),
        };
        if !self.is_about(row, &body, &addresses) {
            return Ok(None);
        }
        let actor = self.actor(header.actor)?;
        let (user, token) = actor
            .as_ref()
            .map(|actor| (actor.user.clone(), actor.token.clone()))
            .unwrap_or_default();
        let entry = AuditEntry {
            entry: row,
            at: Time::from_ms(header.time_ms),
            by: actor.map(|actor| actor.did),
            user,
            token,
            operation,
            addresses,
            detail,
        };
        Ok(self.passes(&entry).then_some(entry))
    }

    /// Returns the body of an entry, and its header, which names the kind that a sealed entry would have
    /// in the clear as far as that is known.
    ///
    /// # Errors
    /// Storage errors.
    pub(super) fn body(&self, row: EntryId) -> Result<(EntryHeader, Body), Error> {
        let ledger = self.engine.ledger();
        let entry = match ledger.read(row) {
            Ok(entry) => entry,
            Err(ledger::Error::Erased { .. }) => return Ok((ledger.stated(row)?, Body::Erased)),
            Err(error) => {
                let damaged = ledger.damaged_grain(row)?;
                return Ok((damaged.ok_or(error)?, Body::Damaged));
            }
        };
        let (mut header, mut bytes) = (entry.header, entry.body.into_owned());
        if header.kind == Kind::SealedGrain {
            let Some(sealed) = SealedRecord::decode(&bytes) else {
                return Ok((header, Body::Record(Record::Unknown(header.kind, None))));
            };
            header.kind = sealed.card.kind;
            let Some(opened) = self.engine.keyring().open(&sealed) else {
                return Ok((header, Body::Sealed));
            };
            bytes = opened.body;
        }
        let malformed = || Error::malformed(row, header.kind);
        let body = match header.kind {
            Kind::Grain => Body::Grain(Box::new(
                Grain::from_proven(bytes).map_err(|_| malformed())?,
            )),
            kind => Body::Record(Record::decode(kind, &bytes).ok_or_else(malformed)?),
        };
        Ok((header, body))
    }

    /// Whether an entry is about the grain and the person that are asked for.
    fn is_about(&mut self, row: EntryId, body: &Body, addresses: &[ContentAddress]) -> bool {
        let is_about_person = match &self.filter.person {
            None => true,
            Some(person) => {
                if let Body::Grain(grain) = body
                    && is_of(grain, person)
                {
                    self.of_person.insert(grain.address());
                }
                addresses.iter().any(|of| self.of_person.contains(of))
            }
        };
        let is_about_grain = match (&self.filter.address, body) {
            (None, _) => true,
            (Some(_), Body::Record(Record::Erasing(erasing))) => {
                let erases = self
                    .marks
                    .iter()
                    .any(|mark| erasing.tombstones.contains(mark));
                erases && self.erasures.insert(row)
            }
            (Some(_), Body::Record(Record::Erased(erased))) => {
                self.erasures.contains(&erased.begun)
            }
            (Some(of), _) => addresses.contains(of),
        };
        is_about_person && is_about_grain
    }

    fn passes(&self, entry: &AuditEntry) -> bool {
        let AuditFilter {
            from,
            to,
            by,
            operation,
            ..
        } = self.filter;
        from.is_none_or(|from| entry.at >= from)
            && to.is_none_or(|to| entry.at <= to)
            && by.as_ref().is_none_or(|by| entry.is_by(by))
            && operation
                .as_ref()
                .is_none_or(|operation| entry.operation == operation)
    }

    fn actor(&mut self, actor: Option<EntryId>) -> Result<Option<ActorRecord>, Error> {
        let Some(row) = actor else { return Ok(None) };
        if let Some(known) = self.actors.get(&row) {
            return Ok(Some(known.clone()));
        }
        let actor = self.engine.actor_at(row)?.unwrap_or_default();
        self.actors.insert(row, actor.clone());
        Ok(Some(actor))
    }
}

impl AuditEntry {
    fn is_by(&self, name: &str) -> bool {
        let Some(by) = &self.by else {
            return name.is_empty();
        };
        let names = [Some(by), self.user.as_ref(), self.token.as_ref()];
        !name.is_empty() && names.into_iter().flatten().any(|one| one == name)
    }
}

/// Whether a grain is of a person: of its user, or of its subject where it has no user.
fn is_of(grain: &Grain, person: &str) -> bool {
    let user = grain.text("user_id").or_else(|| grain.text("subject"));
    user == Some(person)
}
