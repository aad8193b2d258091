//! Sealing what a person has in the clear: grains that were stored before the person was added.
//!
//! One frame has a sealed entry for each of them, with its time and its actor, and begins the erasure
//! of the entries in the clear. A crash leaves all of it or nothing.

use std::collections::BTreeSet;

use crate::codec::{ContentAddress, nfc};
use crate::grain::{Grain, Time};
use crate::index::{Family, Snapshot};
use crate::ledger::{EntryId, Kind, Ledger};
use crate::store::Error;
use crate::store::instance::{Inner, Writer};
use crate::store::keys::VaultAdmin;
use crate::store::records::{EntryBody, Frame, Record, Uid};
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
        let mut writer = inner.exclusive()?;
        inner.authorize_changes()?;
        inner.seal_plain(&mut writer, &nfc(user))
    }
}

impl Inner {
    fn seal_plain(&self, writer: &mut Writer, user: &str) -> Result<u64, Error> {
        self.resume_erasures_as(writer)?;
        let was_unlocked = self.keyring().uid_of(user).is_some();
        let uid = self.unlock_for_writer(user)?;
        let sealed = self.seal_plain_of(writer, user, uid);
        // The overlay of the person has the rows from before.
        self.lock_persons(&[uid])?;
        if was_unlocked {
            self.unlock_for_writer(user)?;
        }
        sealed
    }

    fn seal_plain_of(&self, writer: &mut Writer, user: &str, uid: Uid) -> Result<u64, Error> {
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
        let mut frame = Frame::default();
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
            add_sealed(self.ledger(), *row, uid, &mut frame)?;
        }
        self.erase_replaced(writer, frame, &rows.into_iter().collect::<Vec<_>>())?;
        Ok(grains.len() as u64)
    }

    /// Divides the reads of the grains, which list others too: the part about the grains is sealed.
    fn seal_reads(
        &self,
        snapshot: &Snapshot,
        grains: &BTreeSet<ContentAddress>,
        uid: Uid,
        frame: &mut Frame,
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

/// Adds the entry that stands for one in the clear.
fn add_sealed(ledger: &Ledger, row: EntryId, uid: Uid, frame: &mut Frame) -> Result<(), Error> {
    let entry = ledger.read(row)?;
    let (kind, actor) = (entry.header.kind, entry.header.actor);
    let since = Time::from_ms(entry.header.time_ms);
    let body = match kind {
        Kind::Grain => {
            let grain = Grain::from_proven(entry.body.into_owned())?;
            EntryBody::Grain(Box::new(grain), None)
        }
        Kind::Read => return Ok(()),
        kind => EntryBody::record(
            &Record::decode(kind, &entry.body).ok_or_else(|| Error::malformed(row, kind))?,
        )?,
    };
    frame.seal_anew(body, actor, uid, since);
    Ok(())
}
