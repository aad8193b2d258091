//! The one place that decides which entries of a frame are sealed, and for whom: a grain of a
//! sealed person, and every record that names one (OMS 20.2).
//!
//! The decision rests on what the entry names and not on the operation that writes it, so no
//! operation can forget it.

use std::collections::HashMap;

use crate::codec::ContentAddress;
use crate::crypto::BlindKey;
use crate::grain::Grain;
use crate::index::Snapshot;
use crate::process::in_parallel;
use crate::process::parallel::*;
use crate::store::Error;
use crate::store::engine::{Engine, lock_wiped};
use crate::store::records::{
    BlindFields, BlindTokens, EndedGrain, EntryBody, Frame, FrameEntry, Record, SealedCard,
    SealedEntries, SealedRecord, Uid,
};
use crate::store::state::{UnlockedPerson, place_of};

/// Seals the entries of a frame that belong to sealed persons.
///
/// # Errors
/// `ERR_LOCKED` for an entry of a person who is locked; `ERR_NO_RANDOMNESS`; storage errors.
pub(crate) fn seal_frame(engine: &Engine, frame: &Frame) -> Result<SealedEntries, Error> {
    if engine.state().keys().persons() == 0 {
        return Ok(SealedEntries::default());
    }
    if engine.options().unlock_ttl.is_some() {
        lock_wiped(engine)?;
    }
    let (persons, in_frame) = persons_of(engine, frame)?;
    if persons.iter().all(Option::is_none) {
        return Ok(SealedEntries::default());
    }
    let mut keys: HashMap<Uid, UnlockedPerson> = HashMap::new();
    for uid in persons.iter().flatten() {
        keys.insert(*uid, engine.keyring().get(uid).ok_or(Error::Locked)?);
    }
    let fields = engine.state().keys().blind_fields();
    let snapshot = engine.snapshot();
    let seal = |(entry, person): (&FrameEntry, &Option<Uid>)| {
        let Some(person) = person.as_ref().and_then(|uid| keys.get(uid)) else {
            return Ok(None);
        };
        let mut card = SealedCard {
            uid: Uid::default(),
            kind: entry.kind(),
            tokens: BlindTokens::default(),
            ended: ended_by(engine, &snapshot, frame, &in_frame, entry)?,
            since: entry.since(),
        };
        let body = seal_entry(engine, &mut card, entry.body(), person, fields)?;
        Ok(Some((card, body)))
    };
    let entries = frame.entries();
    let sealed: Result<Vec<_>, Error> = if entries.len() < PARALLEL_MIN {
        entries.iter().zip(&persons).map(seal).collect()
    } else {
        in_parallel(|| {
            let entries = entries.par_iter().zip(&persons);
            entries.with_min_len(PARALLEL_MIN / 2).map(seal).collect()
        })
    };
    Ok(SealedEntries::new(sealed?))
}

/// Returns the person of each entry, and that of each sealed grain in the frame.
fn persons_of(engine: &Engine, frame: &Frame) -> Result<(Vec<Option<Uid>>, InFrame), Error> {
    let snapshot = engine.snapshot();
    let mut in_frame = InFrame::new();
    let mut persons = Vec::with_capacity(frame.len());
    for entry in frame.entries() {
        let person = match (entry.person(), entry.body()) {
            (person, EntryBody::Grain(grain, _)) => {
                let person = match person {
                    Some(person) => Some(person),
                    None => engine.person_of(grain)?,
                };
                in_frame.extend(person.map(|uid| (grain.address(), uid)));
                person
            }
            (Some(person), _) => Some(person),
            (None, EntryBody::Record(record, _)) => {
                engine.as_of(&snapshot).person_named_by(&in_frame, record)?
            }
        };
        persons.push(person);
    }
    Ok((persons, in_frame))
}

/// Returns the grain in the clear that a sealed entry ends. The card names it, else it would be
/// current again while the person is locked (docs/security.md).
fn ended_by(
    engine: &Engine,
    snapshot: &Snapshot,
    frame: &Frame,
    in_frame: &InFrame,
    entry: &FrameEntry,
) -> Result<Option<EndedGrain>, Error> {
    let EntryBody::Record(Record::Status(status), _) = entry.body() else {
        return Ok(None);
    };
    let (address, change) = (status.of, &status.change);
    if change.superseded_by.is_none() && change.system_valid_to.is_none()
        || in_frame.contains_key(&address)
    {
        return Ok(None);
    }
    let is_plain = match engine.as_of(snapshot).locate(&address)? {
        Some(row) => snapshot.overlay_of(row).is_none(),
        None => frame.find(&address).is_some(),
    };
    let end = change.system_valid_to;
    Ok(is_plain.then_some(EndedGrain { address, end }))
}

/// Seals the body of an entry, and completes its card.
fn seal_entry(
    engine: &Engine,
    card: &mut SealedCard,
    entry: &EntryBody,
    person: &UnlockedPerson,
    fields: BlindFields,
) -> Result<Vec<u8>, Error> {
    let keys = person.keys.keys().ok_or(Error::Locked)?;
    card.uid = *keys.uid();
    let body = match entry {
        EntryBody::Grain(grain, _) => {
            card.tokens = tokens_of(grain, keys.blind(), &person.user, fields);
            grain.blob()
        }
        EntryBody::Record(_, body) => body.as_slice(),
    };
    let (purpose, row) = place_of(card.kind);
    let envelope = keys.seal(engine.random(), purpose, &row, body)?;
    let card = card.clone();
    Ok(SealedRecord { card, envelope }.encode()?)
}

/// The person of each sealed grain of a frame.
type InFrame = HashMap<ContentAddress, Uid>;

/// Returns the blind tokens of a grain.
fn tokens_of(grain: &Grain, key: &BlindKey, user: &str, fields: BlindFields) -> BlindTokens {
    let short = |label, field| grain.text(field).map(|text| key.short_token(label, text));
    let mut tokens = BlindTokens::default();
    if fields != BlindFields::None {
        tokens.user = Some(key.token(USER_LABEL, user));
        tokens.session = short(SESSION_LABEL, "session_id");
    }
    if fields == BlindFields::Spo {
        tokens.statement = STATEMENT_LABELS.map(|(label, field)| short(label, field));
    }
    tokens
}

/// The labels of blind tokens name the normal form of the text, with its version.
const USER_LABEL: &str = "user_id/nfc1";
const SESSION_LABEL: &str = "session_id/nfc1";
const STATEMENT_LABELS: [(&str, &str); 3] = [
    ("subject/nfc1", "subject"),
    ("relation/nfc1", "relation"),
    ("object/nfc1", "object"),
];

/// From this many entries on, several threads seal a frame.
const PARALLEL_MIN: usize = 64;
