//! Unlocking a person: their entries are opened and folded as any other, into an overlay of the index
//! that no file ever holds. Locking drops it, and wipes the keys.

use std::collections::HashMap;

use crate::codec::{ContentAddress, nfc};
use crate::index::{Batch, Index, RowSet, Snapshot};
use crate::ledger::{self, EntryId};
use crate::store::Error;
use crate::store::instance::{Caller, Inner};
use crate::store::records::Uid;
use crate::store::state::{Body, DecodedEntry, State, UnlockedPerson, index_entry};
use crate::store::txn::Transaction;
use crate::vault;

impl Inner {
    /// Unlocks a person.
    ///
    /// # Errors
    /// As [`Store::unlock`].
    pub(crate) fn unlock_person(&self, user: &str) -> Result<Uid, Error> {
        let mut txn = Transaction::begin(self, Caller::default())?;
        let uid = self.unlock_for_writer(&nfc(user))?;
        // A process that only reads has no turn: another may have erased the person meanwhile, and
        // what it said of it was applied before the keys were here (threat T28).
        let is_hold = user == vault::hold_name(&uid);
        if !self.state().keys().has_key(&uid, is_hold) {
            self.applying(|| self.lock_persons(&[uid]))?;
            return Err(vault::Error::UnknownUser.into());
        }
        let now = self.now();
        let mut ends = self.rekey_ends().into_iter();
        let is_due = ends.any(|(of, end)| of == uid && end <= now);
        if is_due && self.authorize_changes().is_ok() {
            // A person is not kept from their grains by what is due.
            if let Err(error) = self.rekey_as(&mut txn, user) {
                tracing::warn!(%error, "the key of a person is not renewed, which is overdue");
            }
        }
        Ok(uid)
    }

    /// Unlocks a person for the thread that writes, and returns the pseudonym.
    ///
    /// # Errors
    /// As [`Store::unlock`].
    pub(crate) fn unlock_for_writer(&self, user: &str) -> Result<Uid, Error> {
        self.lock_wiped()?;
        if let Some(uid) = self.keyring().uid_of(user) {
            return Ok(uid);
        }
        let vault = self.vault()?.ok_or(vault::Error::UnknownUser)?;
        let keys = vault.unlock(&self.master_key()?, user)?;
        // The one unlocked longest ago may have given way.
        self.lock_wiped()?;
        let uid = keys.keys().map(|keys| *keys.uid()).ok_or(Error::Locked)?;
        let person = UnlockedPerson {
            user: user.to_owned(),
            keys,
        };
        // Entries of others that are applied from here on are opened.
        self.applying(|| {
            self.keyring().insert(uid, person);
            let folded = self.fold_person(&uid);
            if folded.is_err() {
                self.lock_persons(&[uid])?;
            }
            folded.map(|()| uid)
        })
    }

    /// Takes the renewed keys of a person who is unlocked.
    ///
    /// # Errors
    /// As [`Store::unlock`].
    pub(crate) fn renew_unlocked(&self, user: &str) -> Result<(), Error> {
        let user = &*nfc(user);
        let found = (self.keyring().uid_of(user), self.vault_as_applied()?);
        let (Some(uid), Some(vault)) = found else {
            return Ok(());
        };
        let master = vault.master_key(self.key_source()?)?;
        let keys = vault.unlock(&master, user)?;
        let user = user.to_owned();
        self.keyring().insert(uid, UnlockedPerson { user, keys });
        Ok(())
    }

    /// Locks persons, for the thread that writes or applies entries.
    ///
    /// # Errors
    /// Storage errors, after which they are locked.
    pub(crate) fn lock_persons(&self, uids: &[Uid]) -> Result<(), Error> {
        if uids.is_empty() {
            return Ok(());
        }
        let vault = self.vault_cell().lock().clone();
        for uid in uids {
            // First, so that a query that is under way reads nothing more.
            if let (Some(person), Some(vault)) = (self.keyring().get(uid), &vault) {
                vault.lock(&person.user);
            }
            self.keyring().remove(uid);
            self.index().drop_overlay(uid);
            self.drop_text_of(uid);
        }
        let (snapshot, mut rows) = (self.index().snapshot(), Vec::new());
        for uid in uids {
            rows.extend(snapshot.sealed_for(uid).rows()?.iter());
        }
        self.caches().forget(&rows);
        self.recover_state()
    }

    /// Locks the persons whose keys the vault has wiped: they were renewed, erased, or gave way.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn lock_wiped(&self) -> Result<(), Error> {
        self.lock_persons(&self.wiped())
    }

    /// Hides the grains of persons whose keys have expired from a snapshot: the next change locks
    /// them.
    pub(crate) fn without_expired(&self, snapshot: Snapshot) -> Snapshot {
        // Asking for the vault wipes what has expired.
        drop(self.vault());
        let wiped = self.wiped();
        match wiped.is_empty() {
            true => snapshot,
            false => snapshot.without_overlays(&wiped),
        }
    }

    /// Returns the unlocked persons whose keys were wiped.
    fn wiped(&self) -> Vec<Uid> {
        let mut wiped = self.keyring().uids();
        wiped.retain(|uid| {
            let person = self.keyring().get(uid);
            person.is_none_or(|person| person.keys.keys().is_none())
        });
        wiped
    }

    /// Folds the entries of an unlocked person into an overlay, and recovers the state with them.
    fn fold_person(&self, uid: &Uid) -> Result<(), Error> {
        let index = self.index();
        let rows = index.snapshot().sealed_for(uid).set()?;
        let batch = self.open_rows(&index, uid, &rows)?;
        {
            // A reader that sees the grains waits for the state in which they are.
            let mut state = self.state_cell().write();
            index.publish_overlay(*uid, batch);
            *state = State::recover(self.ledger(), &index.snapshot(), self.keyring())?;
        }
        self.caches().reveal(&rows);
        if self.is_keeper() {
            self.embeddings().add(&rows);
        }
        Ok(())
    }

    /// Opens entries of an unlocked person, for an overlay of the index.
    pub(super) fn open_rows(
        &self,
        index: &Index,
        uid: &Uid,
        rows: &RowSet,
    ) -> Result<Batch, Error> {
        let snapshot = index.snapshot();
        let mut batch = index.batch();
        let mut own: HashMap<ContentAddress, EntryId> = HashMap::new();
        for row in rows.iter() {
            let decoded = match self.ledger().read(row) {
                Err(ledger::Error::Erased { .. }) => continue,
                entry => DecodedEntry::opened(entry?, self.keyring())?,
            };
            let entry = decoded.as_entry();
            // The index holds a hash of the pseudonym.
            if entry.card.is_none_or(|card| card.uid != *uid) {
                continue;
            }
            if let Body::Grain(grain) = entry.body {
                own.insert(grain.address(), row);
            }
            if !matches!(entry.body, Body::Locked) {
                let mut resolve = |_: &Batch, address: &ContentAddress| match own.get(address) {
                    Some(row) => Ok(Some(*row)),
                    None => self.as_of(&snapshot).locate(address),
                };
                index_entry(&mut batch, &entry, &mut resolve)?;
                self.feed_text_of(&entry)?;
            }
        }
        Ok(batch)
    }
}
