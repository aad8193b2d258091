//! The report on a person (GDPR Art. 15): the grains about them, those that mention them, and what
//! the ledger keeps besides.

use std::collections::BTreeSet;

use crate::codec::{ContentAddress, nfc};
use crate::grain::{Draft, ForeignId, Status, Verification};
use crate::index::{Family, Snapshot};
use crate::ledger::EntryId;
use crate::policy::{Authorization, Rule};
use crate::store::commit::put_one;
use crate::store::engine::{Engine, Reach};
use crate::store::erasure::delete::kept_from_deletion;
use crate::store::erasure::person::identity::Person;
use crate::store::erasure::person::scope::{Found, Selection};
use crate::store::governance::{recorded, set_verification_by};
use crate::store::read;
use crate::store::read::reached;
use crate::store::records::Record;
use crate::store::{Access, Error, Owner};

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

/// Everything that the store holds about a person, as [`Admin::person_report`](crate::Admin::person_report) finds it.
#[derive(Debug, Clone, PartialEq)]
pub struct PersonReport {
    /// The grains about the person: those with one of the identifiers as `user_id`, or without
    /// another `user_id` and with one as `subject`, `subject_did` or owner of a foreign name.
    /// [`Admin::erase_person`](crate::Admin::erase_person) erases them.
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

/// See [`Admin::unite_users`](crate::Admin::unite_users).
pub(crate) fn unite_users(
    owner: Owner<'_>,
    one: &str,
    other: &str,
    authorization: Authorization<'_>,
) -> Result<Vec<ContentAddress>, Error> {
    owner.authorize_whole()?;
    let said = recorded(authorization)?;
    let (one, other) = (nfc(one), nfc(other));
    if one.is_empty() || other.is_empty() {
        return Err(Error::Filter {
            filter: "person",
            reason: "has an empty identifier",
        });
    }
    let (engine, caller) = (owner.engine(), owner.caller()?);
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
        stated.push(put_one(engine, belief.into(), caller)?.address);
    }
    // They count from here on, once both are stored.
    for address in &stated {
        let reason = Some(&*reason).into();
        set_verification_by(engine, address, Verification::Verified, reason, caller)?;
    }
    Ok(stated)
}

/// See [`Admin::persons_seen`](crate::Admin::persons_seen).
pub(crate) fn persons_seen(owner: Owner<'_>) -> Result<Vec<String>, Error> {
    owner.authorize_whole()?;
    let engine = owner.engine();
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

/// See [`Admin::person_report`](crate::Admin::person_report).
pub(crate) fn person_report(owner: Owner<'_>, person: &Person) -> Result<PersonReport, Error> {
    authorize_person(owner, person)?;
    let engine = owner.engine();
    let person = &person.whole(engine)?;
    let mut selection = Selection::of(engine, person)?;
    selection.read_on()?;
    // No frame is half applied while no other thread writes.
    let (snapshot, entries) = {
        let _writer = engine.exclusive(Reach::Here)?;
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
    if !owner.is_whole() {
        // Grains without a user that have the person as subject may be another's.
        return Ok(PersonReport {
            about: reached(owner, about, |found| found.address)?,
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
pub(super) fn authorize_person(owner: Owner<'_>, person: &Person) -> Result<(), Error> {
    let capability = owner.within().and_then(Access::capability);
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
