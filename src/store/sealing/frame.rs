//! The one place that decides which entries of a frame are sealed, and for whom: a grain of a
//! sealed person, and every record that names one (OMS 20.2).
//!
//! The decision rests on what the entry names and not on the operation that writes it, so no
//! operation can forget it.

use std::collections::HashMap;

use rayon::prelude::*;

use crate::codec::ContentAddress;
use crate::ledger::Kind;
use crate::store::Error;
use crate::store::instance::Inner;
use crate::store::records::{
    BlindTokens, EntryBody, Frame, SealedCard, SealedEntries, SealedRecord, Uid,
};
use crate::store::state::{UnlockedPerson, place_of};

impl Inner {
    /// Seals the entries of a frame that belong to sealed persons.
    ///
    /// # Errors
    /// `ERR_LOCKED` for an entry of a person who is locked; `ERR_NO_RANDOMNESS`; storage errors.
    pub(crate) fn seal_frame(&self, frame: &Frame) -> Result<SealedEntries, Error> {
        if self.state().keys().persons() == 0 {
            return Ok(SealedEntries::default());
        }
        if self.options().unlock_ttl.is_some() {
            self.lock_wiped()?;
        }
        let persons = self.persons_of(frame)?;
        if persons.iter().all(Option::is_none) {
            return Ok(SealedEntries::default());
        }
        let mut keys: HashMap<Uid, UnlockedPerson> = HashMap::new();
        for uid in persons.iter().flatten() {
            keys.insert(*uid, self.keyring().get(uid).ok_or(Error::Locked)?);
        }
        let seal = |(entry, person): (&EntryBody, &Option<Uid>)| {
            let person = person.as_ref().and_then(|uid| keys.get(uid));
            person
                .map(|person| self.seal_entry(entry, person))
                .transpose()
        };
        let mut bodies = Vec::with_capacity(frame.len());
        for entry in frame.entries() {
            bodies.push(entry.body());
        }
        let sealed: Result<Vec<_>, Error> = if bodies.len() < PARALLEL_MIN {
            bodies.into_iter().zip(&persons).map(seal).collect()
        } else {
            let entries = bodies.into_par_iter().zip(&persons);
            entries.with_min_len(PARALLEL_MIN / 2).map(seal).collect()
        };
        Ok(SealedEntries::new(sealed?))
    }

    /// Returns the person of each entry.
    fn persons_of(&self, frame: &Frame) -> Result<Vec<Option<Uid>>, Error> {
        let snapshot = self.snapshot();
        let mut in_frame: HashMap<ContentAddress, Uid> = HashMap::new();
        let mut persons = Vec::with_capacity(frame.len());
        for entry in frame.entries() {
            let person = match (entry.person(), entry.body()) {
                (Some(person), _) => Some(person),
                (None, EntryBody::Grain(grain, _)) => {
                    let person = self.person_of(grain)?;
                    in_frame.extend(person.map(|uid| (grain.address(), uid)));
                    person
                }
                (None, EntryBody::Record(record, _)) => {
                    self.person_named_by(&snapshot, &in_frame, record)?
                }
            };
            persons.push(person);
        }
        Ok(persons)
    }

    fn seal_entry(
        &self,
        entry: &EntryBody,
        person: &UnlockedPerson,
    ) -> Result<(SealedCard, Vec<u8>), Error> {
        let keys = person.keys.keys().ok_or(Error::Locked)?;
        let (kind, body, tokens) = match entry {
            EntryBody::Grain(grain, _) => {
                let blind = keys.blind();
                let session = grain.text("session_id");
                let tokens = BlindTokens {
                    user: Some(blind.token(USER_LABEL, &person.user)),
                    session: session.map(|text| blind.short_token(SESSION_LABEL, text)),
                };
                (Kind::Grain, grain.blob(), tokens)
            }
            EntryBody::Record(record, body) => {
                (record.kind(), body.as_slice(), BlindTokens::default())
            }
        };
        let card = SealedCard {
            uid: *keys.uid(),
            kind,
            tokens,
        };
        let (purpose, row) = place_of(kind);
        let envelope = keys.seal(self.random(), purpose, &row, body)?;
        let sealed = SealedRecord { card, envelope };
        let body = sealed.encode()?;
        Ok((sealed.card, body))
    }
}

/// The labels of blind tokens name the normal form of the text, with its version.
const USER_LABEL: &str = "user_id/nfc1";
const SESSION_LABEL: &str = "session_id/nfc1";

/// From this many entries on, several threads seal a frame.
const PARALLEL_MIN: usize = 64;
