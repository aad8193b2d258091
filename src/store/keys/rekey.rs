//! The renewal of a person's data key: what is stored of them keeps its message keys, and what was
//! deleted is opened by nothing (docs/security.md, "The vault in practice").
//!
//! Blanking an entry does not reach the copies that a disk keeps of it. The renewal does, so the
//! deletion of a sealed grain makes one due.

use std::collections::BTreeSet;

use crate::codec::nfc;
use crate::crypto::{MasterKey, RetainedKeys};
use crate::grain::Time;
use crate::ledger::{self, EntryId};
use crate::store::instance::{Caller, Inner};
use crate::store::records::{KeyEventRecord, SealedRecord, Uid};
use crate::store::txn::Transaction;
use crate::store::{Error, keys::VaultAdmin};
use crate::vault::{self, Unlocked, User, Vault};

impl VaultAdmin<'_> {
    /// Gives a person a key of the next generation, and destroys the earlier ones. Stored grains
    /// stay readable; of a deleted grain nothing opens what a disk or a backup may still have. It
    /// takes time and 108 bytes of the vault for each entry of the person.
    ///
    /// # Errors
    /// `ERR_USER_UNKNOWN`; `ERR_STORAGE_DAMAGED` for an entry that cannot be read or opened, and the
    /// keys stay as they are; as [`VaultAdmin::list`].
    pub fn rekey(self, user: &str) -> Result<User, Error> {
        let mut txn = Transaction::begin(self.0, Caller::default())?;
        self.0.authorize_changes()?;
        self.0.rekey_as(&mut txn, user)
    }

    /// Renews the key of every person of whom a grain was deleted since it was last renewed
    /// ([`VaultStatus::due`](crate::store::VaultStatus::due)), and returns them. Compaction of a store
    /// that has the master key does so too, and the unlocking of a person whose time is over.
    ///
    /// # Errors
    /// As [`VaultAdmin::rekey`]; the persons before the one that fails have their new keys.
    pub fn rekey_due(self) -> Result<Vec<User>, Error> {
        self.0.authorize_changes()?;
        self.0.rekey_due()
    }
}

impl Inner {
    /// Renews the key of every person who is due.
    ///
    /// # Errors
    /// As [`VaultAdmin::rekey`].
    pub(crate) fn rekey_due(&self) -> Result<Vec<User>, Error> {
        let due: Vec<Uid> = self.state().keys().due().map(|(uid, _)| *uid).collect();
        let Some(vault) = self.vault()?.filter(|_| !due.is_empty()) else {
            return Ok(Vec::new());
        };
        let mut users = vault.list(&self.master_key()?)?;
        users.retain(|user| due.contains(&user.uid));
        let mut txn = Transaction::begin(self, Caller::default())?;
        let renewed = users.iter();
        let renewed = renewed.map(|user| self.rekey_as(&mut txn, &user.user));
        renewed.collect()
    }

    /// Renews the keys of those who are due where the master key is known.
    ///
    /// # Errors
    /// As [`VaultAdmin::rekey`].
    pub(crate) fn rekey_due_in_passing(&self) -> Result<(), Error> {
        match self.options().master_key {
            Some(_) => self.rekey_due().map(drop),
            None => Ok(()),
        }
    }

    /// Returns when the key of each person who is due is to be renewed.
    pub(crate) fn rekey_ends(&self) -> Vec<(Uid, Time)> {
        let within = i64::try_from(self.options().rekey_within.as_millis()).unwrap_or(i64::MAX);
        let state = self.state();
        let due = state.keys().due();
        due.map(|(uid, since)| (*uid, Time::from_ms(since.ms().saturating_add(within))))
            .collect()
    }

    /// Renews the key of a person for the thread that writes.
    ///
    /// # Errors
    /// As [`VaultAdmin::rekey`].
    pub(crate) fn rekey_as(&self, txn: &mut Transaction<'_>, user: &str) -> Result<User, Error> {
        let vault = self.vault()?.ok_or(vault::Error::NoVault)?;
        let master = self.master_key()?;
        self.tell_missed_swap(txn, &vault)?;
        // An entry that is being erased keeps no key.
        self.resume_erasures_as(txn)?;
        let user = &*nfc(user);
        let keys = vault.unlock(&master, user)?;
        let uid = keys
            .keys()
            .map(|keys| *keys.uid())
            .ok_or(vault::Error::UnknownUser)?;
        let retained = self.retained_keys(&uid, &keys, &BTreeSet::new())?;
        if retained.is_empty() && self.state().keys().is_hold(&uid) {
            return self.end_hold(txn, &vault, &master, user);
        }
        let renewed = vault.rekey(&master, user, &retained)?;
        self.renew_unlocked(user)?;
        let event = KeyEventRecord::Rekeyed {
            uid,
            generation: u64::from(renewed.generation),
            epoch: vault.epoch()?,
        };
        self.tell(txn, event)?;
        Ok(renewed)
    }

    /// Destroys a hold key that opens nothing any more.
    fn end_hold(
        &self,
        txn: &mut Transaction<'_>,
        vault: &Vault,
        master: &MasterKey,
        name: &str,
    ) -> Result<User, Error> {
        let mut users = vault.list(master)?;
        users.retain(|user| user.user == name);
        let ended = users.pop().ok_or(vault::Error::UnknownUser)?;
        for key in vault.erase(master, &[name])? {
            let event = KeyEventRecord::Erased {
                uid: key.uid,
                key_check: key.key_check,
                epoch: key.to,
                is_held: false,
            };
            self.tell(txn, event)?;
        }
        self.lock_wiped()?;
        Ok(ended)
    }

    /// Returns the keys of the messages of every entry that is stored of a person, but for those
    /// that go.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`; storage errors.
    pub(crate) fn retained_keys(
        &self,
        uid: &Uid,
        keys: &Unlocked,
        gone: &BTreeSet<EntryId>,
    ) -> Result<RetainedKeys, Error> {
        let mut headers = Vec::new();
        for row in self.snapshot().sealed_for(uid).rows()?.iter() {
            if gone.contains(&row) {
                continue;
            }
            let entry = match self.ledger().read(row) {
                Err(ledger::Error::Erased { .. }) => continue,
                entry => entry?,
            };
            let Some(mut sealed) = SealedRecord::decode(&entry.body) else {
                continue;
            };
            // The index holds a hash of the pseudonym.
            if sealed.card.uid == *uid {
                sealed.envelope.truncate(RetainedKeys::HEADER_LEN);
                sealed.envelope.shrink_to_fit();
                headers.push(sealed.envelope);
            }
        }
        let keys = keys.keys().ok_or(Error::Locked)?;
        let retained = keys.retain(&headers);
        Ok(retained.map_err(|_| vault::Error::Damaged {
            reason: "an entry that its person does not open",
        })?)
    }
}
