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
use crate::store::engine::{Caller, Engine, lock_persons, master_key, unlock_for_writer, vault_of};
use crate::store::erasure::{erase_replaced, resume_erasures_as};
use crate::store::keys::VaultAdmin;
use crate::store::read::forget_reads;
use crate::store::records::{KeyEventRecord, Record, Uid};
use crate::store::txn::{AdmittedFrame, Transaction};
use crate::store::view::sealable_ids;
use crate::vault;

use super::events::tell;

impl VaultAdmin<'_> {
    /// Seals the grains of a person that are in the clear, with every entry about them, and returns
    /// their number: those that were stored before the person was added. Their bytes, keys and words
    /// are gone from the store's files when this returns, as with
    /// [`Admin::delete`](crate::Admin::delete); the grains have the times and the actors that
    /// they had. Consents and delegations stay in the clear, since the store enforces them while the
    /// person is locked. Backups and exports made before keep their copies.
    ///
    /// # Errors
    /// `ERR_USER_UNKNOWN` for a person without a key; `ERR_UNSUPPORTED` for more than one frame of the
    /// ledger holds, 1 GiB; as [`VaultAdmin::list`].
    pub fn seal(self, user: &str) -> Result<u64, Error> {
        let engine = self.0;
        let mut txn = Transaction::begin(engine, Caller::default())?;
        engine.authorize_changes()?;
        seal_plain(engine, &mut txn, &nfc(user))
    }
}

/// Completes the sealing of persons who were added, which a crash or an error interrupted: with the
/// master key. A store opens all the same without it, and a check names them.
pub(crate) fn seal_unsealed(engine: &Engine) {
    if engine.state().keys().unsealed().is_empty()
        || engine.options().master_key.is_none()
        || engine.authorize_changes().is_err()
    {
        return;
    }
    if let Err(error) = seal_all_unsealed(engine) {
        tracing::warn!(%error, "the sealing of persons who were added waits");
    }
}

fn seal_all_unsealed(engine: &Engine) -> Result<(), Error> {
    let vault = vault_of(engine)?.ok_or(vault::Error::NoVault)?;
    let users = vault.list(&master_key(engine)?)?;
    let mut txn = Transaction::begin(engine, Caller::default())?;
    let waiting = engine.state().keys().unsealed().clone();
    for uid in waiting {
        match users.iter().find(|user| user.uid == uid) {
            Some(user) => drop(seal_plain(engine, &mut txn, &user.user)?),
            // The vault never got the person: nothing is to be sealed for a key that is nowhere.
            None => tell_sealed(engine, &mut txn, uid)?,
        }
    }
    Ok(())
}

fn tell_sealed(engine: &Engine, txn: &mut Transaction<'_>, uid: Uid) -> Result<(), Error> {
    let epoch = engine.state().keys().epoch();
    let uids = vec![uid];
    tell(txn, KeyEventRecord::Sealed { uids, epoch })
}

fn seal_plain(engine: &Engine, txn: &mut Transaction<'_>, user: &str) -> Result<u64, Error> {
    resume_erasures_as(engine, txn)?;
    let was_unlocked = engine.keyring().uid_of(user).is_some();
    let uid = unlock_for_writer(engine, user)?;
    let sealed = seal_plain_of(engine, txn, user, uid);
    // The overlay of the person has the rows from before.
    lock_persons(engine, &[uid])?;
    if was_unlocked {
        unlock_for_writer(engine, user)?;
    }
    let sealed = sealed?;
    if engine.state().keys().unsealed().contains(&uid) {
        tell_sealed(engine, txn, uid)?;
    }
    Ok(sealed)
}

fn seal_plain_of(
    engine: &Engine,
    txn: &mut Transaction<'_>,
    user: &str,
    uid: Uid,
) -> Result<u64, Error> {
    let snapshot = engine.snapshot();
    let mut rows = BTreeSet::new();
    let mut grains = BTreeSet::new();
    // Every grain in the clear: no key of the index tells the subject of a foreign record.
    for row in snapshot.grains().iter() {
        let entry = engine.ledger().read(row)?;
        if entry.header.kind != Kind::Grain {
            continue;
        }
        let address = ContentAddress::new(entry.hash);
        let grain = Grain::from_verified(entry.body.into_owned(), address)?;
        if sealable_ids(&grain).iter().any(|id| id == user) {
            rows.insert(row);
            grains.insert(grain.address());
        }
    }
    if grains.is_empty() {
        return Ok(0);
    }
    let mut frame = AdmittedFrame::default();
    seal_reads(engine, &snapshot, &grains, uid, (&mut frame, &mut rows))?;
    for address in &grains {
        for row in snapshot
            .pointing_at(Family::Mentions, address)
            .rows()?
            .iter()
        {
            let named = engine.record_at(row)?.named();
            // A record of another person's is sealed already.
            let is_plain = engine.ledger().read(row)?.header.kind != Kind::SealedGrain;
            if is_plain && named.contains(address) {
                rows.insert(row);
            }
        }
    }
    for row in &rows {
        frame.seal_anew(engine.ledger(), *row, uid)?;
    }
    erase_replaced(engine, txn, frame, &rows.into_iter().collect::<Vec<_>>())?;
    Ok(grains.len() as u64)
}

/// Divides the reads of the grains, which list others too: the part about the grains is sealed.
fn seal_reads(
    engine: &Engine,
    snapshot: &Snapshot,
    grains: &BTreeSet<ContentAddress>,
    uid: Uid,
    (frame, rows): (&mut AdmittedFrame, &mut BTreeSet<EntryId>),
) -> Result<(), Error> {
    for row in forget_reads(engine, snapshot, grains, frame)? {
        let Record::Read(mut read) = engine.record_at(row)? else {
            continue;
        };
        let header = engine.ledger().read(row)?.header;
        let first = (row, Time::from_ms(header.time_ms));
        read.addresses.retain(|address| grains.contains(address));
        read.replaces = read.replaces.or(Some(first));
        frame.record_about(&Record::Read(read), header.actor, Some(uid))?;
        rows.insert(row);
    }
    Ok(())
}
