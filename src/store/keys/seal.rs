//! Sealing what a person has in the clear: grains that were stored before the person was added.
//!
//! One frame has a sealed entry for each of them, with its time and its actor, and begins the erasure
//! of the entries in the clear. A crash leaves all of it or nothing.

use std::collections::BTreeSet;

use crate::codec::{ContentAddress, nfc};
use crate::grain::{Grain, Time};
use crate::index::{Family, Snapshot};
use crate::ledger::{EntryId, Kind};
use crate::store::Error;
use crate::store::instance::{Caller, Inner};
use crate::store::keys::VaultAdmin;
use crate::store::records::{Record, Uid};
use crate::store::txn::{AdmittedFrame, Transaction};
use crate::store::view::sealable_ids;

impl VaultAdmin<'_> {
    /// Seals the grains of a person that are in the clear, with every entry about them, and returns
    /// their number: those that were stored before the person was added. Their bytes, keys and words
    /// are gone from the store's files when this returns, as with
    /// [`Admin::delete`](crate::store::Admin::delete); the grains have the times and the actors that
    /// they had. Consents and delegations stay in the clear, since the store enforces them while the
    /// person is locked. Backups and exports made before keep their copies.
    ///
    /// # Errors
    /// `ERR_USER_UNKNOWN` for a person without a key; `ERR_UNSUPPORTED` for more than one frame of the
    /// ledger holds, 1 GiB; as [`VaultAdmin::list`].
    pub fn seal(self, user: &str) -> Result<u64, Error> {
        let inner = self.0;
        let mut txn = Transaction::begin(inner, Caller::default())?;
        inner.authorize_changes()?;
        inner.seal_plain(&mut txn, &nfc(user))
    }
}

impl Inner {
    fn seal_plain(&self, txn: &mut Transaction<'_>, user: &str) -> Result<u64, Error> {
        self.resume_erasures_as(txn)?;
        let was_unlocked = self.keyring().uid_of(user).is_some();
        let uid = self.unlock_for_writer(user)?;
        let sealed = self.seal_plain_of(txn, user, uid);
        // The overlay of the person has the rows from before.
        self.lock_persons(&[uid])?;
        if was_unlocked {
            self.unlock_for_writer(user)?;
        }
        sealed
    }

    fn seal_plain_of(&self, txn: &mut Transaction<'_>, user: &str, uid: Uid) -> Result<u64, Error> {
        let snapshot = self.snapshot();
        let mut rows = BTreeSet::new();
        let mut grains = BTreeSet::new();
        // Every grain in the clear: no key of the index tells the subject of a foreign record.
        for row in snapshot.grains().iter() {
            let entry = self.ledger().read(row)?;
            if entry.header.kind != Kind::Grain {
                continue;
            }
            let grain = Grain::from_proven(entry.body.into_owned())?;
            if sealable_ids(&grain).iter().any(|id| id == user) {
                rows.insert(row);
                grains.insert(grain.address());
            }
        }
        if grains.is_empty() {
            return Ok(0);
        }
        let mut frame = AdmittedFrame::default();
        self.seal_reads(&snapshot, &grains, uid, &mut frame, &mut rows)?;
        for address in &grains {
            for row in snapshot
                .pointing_at(Family::Mentions, address)
                .rows()?
                .iter()
            {
                let named = self.record_at(row)?.named();
                // A record of another person's is sealed already.
                let is_plain = self.ledger().read(row)?.header.kind != Kind::SealedGrain;
                if is_plain && named.contains(address) {
                    rows.insert(row);
                }
            }
        }
        for row in &rows {
            frame.seal_anew(self.ledger(), *row, uid)?;
        }
        self.erase_replaced(txn, frame, &rows.into_iter().collect::<Vec<_>>())?;
        Ok(grains.len() as u64)
    }

    /// Divides the reads of the grains, which list others too: the part about the grains is sealed.
    fn seal_reads(
        &self,
        snapshot: &Snapshot,
        grains: &BTreeSet<ContentAddress>,
        uid: Uid,
        frame: &mut AdmittedFrame,
        rows: &mut BTreeSet<EntryId>,
    ) -> Result<(), Error> {
        for row in self.forget_reads(snapshot, grains, frame)? {
            let Record::Read(mut read) = self.record_at(row)? else {
                continue;
            };
            let header = self.ledger().read(row)?.header;
            let first = (row, Time::from_ms(header.time_ms));
            read.addresses.retain(|address| grains.contains(address));
            read.replaces = read.replaces.or(Some(first));
            frame.record_about(&Record::Read(read), header.actor, Some(uid))?;
            rows.insert(row);
        }
        Ok(())
    }
}
