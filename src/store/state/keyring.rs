//! The keys of the persons who are unlocked in this process: what opens their sealed entries.
//!
//! Nothing here is state: the same ledger folds with any keys, and with none.

use std::collections::BTreeMap;

#[cfg(feature = "sealing")]
use zeroize::Zeroizing;

use crate::codec::ContentAddress;
use crate::ledger::{Entry, EntryHeader, Kind};
use crate::process::RwLock;
use crate::store::records::{SealedRecord, Uid};

#[cfg(feature = "sealing")]
use crate::crypto::Purpose;
#[cfg(feature = "sealing")]
use crate::vault::Unlocked;

/// The unlocked persons, by pseudonym.
#[derive(Debug, Default)]
pub(crate) struct Keyring(RwLock<BTreeMap<Uid, UnlockedPerson>>);

/// An unlocked person: the user id, in NFC, and the keys.
#[derive(Debug, Clone)]
pub(crate) struct UnlockedPerson {
    #[cfg_attr(
        not(feature = "sealing"),
        expect(dead_code, reason = "there are no persons")
    )]
    pub(crate) user: String,
    #[cfg(feature = "sealing")]
    pub(crate) keys: Unlocked,
}

/// An entry as it would be in the clear.
pub(crate) struct OpenedBody {
    pub(crate) kind: Kind,
    pub(crate) body: Vec<u8>,
}

impl OpenedBody {
    /// Returns the entry with a header as it would be in the clear.
    pub(crate) fn into_entry(self, header: EntryHeader) -> Entry<'static> {
        Entry {
            header: EntryHeader {
                kind: self.kind,
                ..header
            },
            hash: *ContentAddress::of(&self.body).as_bytes(),
            body: self.body.into(),
        }
    }
}

impl Keyring {
    /// Returns whether no person is unlocked.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.read().is_empty()
    }

    /// Returns whether a person is unlocked.
    pub(crate) fn has(&self, uid: &Uid) -> bool {
        self.0.read().contains_key(uid)
    }

    /// Opens a sealed entry; `None` while its person is locked, and for an envelope that their
    /// keys do not open.
    #[cfg(feature = "sealing")]
    pub(crate) fn open(&self, sealed: &SealedRecord) -> Option<OpenedBody> {
        let person = self.0.read().get(&sealed.card.uid).cloned()?;
        let kind = sealed.card.kind;
        let keys = person.keys.keys()?;
        let (purpose, row) = place_of(kind);
        let opened = keys.open(purpose, &row, &sealed.envelope);
        drop(keys);
        let mut body: Zeroizing<Vec<u8>> = opened
            .inspect_err(|error| tracing::warn!(%error, "a sealed entry stays closed"))
            .ok()?;
        let body = std::mem::take(&mut *body);
        Some(OpenedBody { kind, body })
    }

    #[cfg(not(feature = "sealing"))]
    pub(crate) const fn open(&self, _sealed: &SealedRecord) -> Option<OpenedBody> {
        None
    }
}

#[cfg(feature = "sealing")]
impl Keyring {
    pub(crate) fn insert(&self, uid: Uid, person: UnlockedPerson) {
        self.0.write().insert(uid, person);
    }

    pub(crate) fn remove(&self, uid: &Uid) {
        self.0.write().remove(uid);
    }

    /// Returns the pseudonym of an unlocked person.
    pub(crate) fn uid_of(&self, user: &str) -> Option<Uid> {
        let persons = self.0.read();
        let mut found = persons.iter().filter(|(_, person)| person.user == user);
        found.next().map(|(uid, _)| *uid)
    }

    pub(crate) fn get(&self, uid: &Uid) -> Option<UnlockedPerson> {
        self.0.read().get(uid).cloned()
    }

    /// Returns the pseudonyms of the unlocked persons.
    pub(crate) fn uids(&self) -> Vec<Uid> {
        self.0.read().keys().copied().collect()
    }
}

/// Returns the purpose of the envelope of an entry, and the row key that binds it (docs/format.md,
/// "Sealed entries").
#[cfg(feature = "sealing")]
pub(crate) fn place_of(kind: Kind) -> (Purpose, Vec<u8>) {
    match kind {
        Kind::Grain => (Purpose::Grain, Vec::new()),
        kind => (Purpose::Row, vec![kind.to_byte()]),
    }
}
