//! The tables and their sealed rows: buckets under the root, slots under their bucket.

use std::ops::RangeInclusive;

use redb::{
    Database, ReadTransaction, ReadableDatabase, ReadableTable, TableDefinition, TableError,
    WriteTransaction,
};
use zeroize::Zeroizing;

use crate::crypto::{Context, MasterKey, Purpose, Random, SealingKey, Secret};
use crate::vault::error::{OrFail, damaged};
use crate::vault::{Error, Root};

use super::meta::Meta;
use super::slot::Slot;

/// The row about the vault.
pub(crate) const META: TableDefinition<'_, u8, &[u8]> = TableDefinition::new("meta");
/// The key of each bucket, sealed under the root.
pub(crate) const BUCKETS: TableDefinition<'_, u32, &[u8]> = TableDefinition::new("buckets");
/// The keys of each person, sealed under a key of their own: bucket and name to slot.
pub(crate) const SLOTS: TableDefinition<'_, SlotKey, &[u8]> = TableDefinition::new("slots");
/// The pseudonyms of erased persons, and what their receipts say.
pub(crate) const ERASED: TableDefinition<'_, [u8; 16], &[u8]> = TableDefinition::new("erased");

/// The retained keys of persons, sealed under the newest data key of each: pseudonym and part.
pub(crate) const RETAINED: TableDefinition<'_, RetainedAt, &[u8]> =
    TableDefinition::new("retained");

/// The number of changes, by which a database is known to be older than its copy.
const CHANGES: TableDefinition<'_, u8, u64> = TableDefinition::new("changes");

pub(crate) type SlotKey = (u32, [u8; 16]);
pub(crate) type RetainedAt = ([u8; 16], u32);

/// Reads the row about the vault.
pub(crate) fn read_meta(txn: &ReadTransaction) -> Result<Meta, Error> {
    let table = txn.open_table(META).or_fail()?;
    let row = table.get(0).or_fail()?;
    let row = row.ok_or(damaged("it has no row about itself"))?;
    Meta::decode(row.value()).ok_or(damaged("the row about itself is not what was written"))
}

pub(crate) fn write_meta(txn: &WriteTransaction, meta: &Meta) -> Result<(), Error> {
    let mut table = txn.open_table(META).or_fail()?;
    table.insert(0, &*meta.encode()).or_fail()?;
    Ok(())
}

/// Returns the number of changes of a database; of one from before they were counted, 0.
pub(crate) fn changes(database: &Database) -> Result<u64, Error> {
    let txn = database.begin_read().or_fail()?;
    match txn.open_table(CHANGES) {
        Err(TableError::TableDoesNotExist(_)) => Ok(0),
        table => {
            let row = table.or_fail()?.get(0).or_fail()?;
            Ok(row.map_or(0, |row| row.value()))
        }
    }
}

/// Counts a change, in the transaction that makes it.
pub(crate) fn count_change(txn: &WriteTransaction) -> Result<(), Error> {
    let mut table = txn.open_table(CHANGES).or_fail()?;
    let before = table.get(0).or_fail()?.map_or(0, |row| row.value());
    table.insert(0, before.saturating_add(1)).or_fail()?;
    Ok(())
}

/// Returns whether a root opens the rows.
#[cfg(feature = "interchange")]
pub(crate) fn opens(
    database: &Database,
    master: &MasterKey,
    root: &Root,
    meta: &Meta,
) -> Result<bool, Error> {
    let txn = database.begin_read().or_fail()?;
    let buckets = txn.open_table(BUCKETS).or_fail()?;
    let row = buckets.get(0).or_fail()?;
    let keys = Keys::new(master, root, meta);
    Ok(row.is_some_and(|row| keys.open_bucket(0, row.value()).is_ok()))
}

/// The slots of a bucket.
pub(crate) const fn of_bucket(bucket: u32) -> RangeInclusive<SlotKey> {
    (bucket, [0; 16])..=(bucket, [u8::MAX; 16])
}

/// The keys that open the rows: derived from master key and root for one operation.
pub(crate) struct Keys<'a> {
    pub(crate) master: &'a MasterKey,
    pub(crate) store: [u8; 16],
    table: SealingKey,
    bits: u8,
}

impl<'a> Keys<'a> {
    pub(crate) fn new(master: &'a MasterKey, root: &Root, meta: &Meta) -> Self {
        let table = master.table_key(&root.secret, &meta.store, root.epoch);
        Self {
            master,
            store: meta.store,
            table: SealingKey::new(&meta.store, &table),
            bits: meta.bits,
        }
    }

    /// Returns the bucket of a user.
    pub(crate) fn bucket_of(&self, user: &str) -> u32 {
        let [a, b, c, d, ..] = self.master.user_hash(&self.store, user);
        let bits = u32::from_be_bytes([a, b, c, d]);
        bits.checked_shr(32 - u32::from(self.bits)).unwrap_or(0)
    }

    pub(crate) fn slot_key(&self, bucket: u32, key: &Secret, user: &str) -> SlotKey {
        (bucket, self.master.slot_name(key, &self.store, user))
    }

    pub(crate) fn seal_bucket(
        &self,
        random: &dyn Random,
        bucket: u32,
        key: &Secret,
    ) -> Result<Vec<u8>, Error> {
        let row = bucket.to_be_bytes();
        let context = self.context(Purpose::Bucket, &row);
        Ok(self.table.seal(random, &context, key.expose())?)
    }

    pub(crate) fn open_bucket(&self, bucket: u32, sealed: &[u8]) -> Result<Secret, Error> {
        let row = bucket.to_be_bytes();
        let context = self.context(Purpose::Bucket, &row);
        let key = self.table.open(&context, sealed).ok();
        let key = key.and_then(|key| Secret::copied(&key));
        // The master key is the right one here: the row about the vault has said so.
        key.ok_or(damaged("the key of a bucket does not open"))
    }

    pub(crate) fn seal_slot(
        &self,
        random: &dyn Random,
        at: SlotKey,
        bucket: &Secret,
        slot: &Slot,
    ) -> Result<Vec<u8>, Error> {
        let row = row_of(at);
        let key = self.wrapping(bucket, &slot.user);
        let context = self.context(Purpose::Slot, &row);
        // The user id stands in front, sealed under the bucket: the wrapping key needs it.
        let user = SealingKey::new(&self.store, bucket);
        let user = user.seal(random, &context, slot.user.as_bytes())?;
        let keys = key.seal(random, &context, &slot.encode())?;
        let len = u32::try_from(user.len()).map_err(|_| damaged("a user id without end"))?;
        Ok([&len.to_be_bytes()[..], &user, &keys].concat())
    }

    pub(crate) fn open_slot(
        &self,
        at: SlotKey,
        bucket: &Secret,
        sealed: &[u8],
    ) -> Result<Slot, Error> {
        let open = || {
            let (len, rest) = sealed.split_first_chunk()?;
            let len = usize::try_from(u32::from_be_bytes(*len)).ok()?;
            let (user, keys) = rest.split_at_checked(len)?;
            let row = row_of(at);
            let context = self.context(Purpose::Slot, &row);
            let opened = SealingKey::new(&self.store, bucket).open(&context, user);
            let user: Zeroizing<Vec<u8>> = opened.ok()?;
            let user = std::str::from_utf8(&user).ok()?;
            let bytes = self.wrapping(bucket, user).open(&context, keys).ok()?;
            Slot::decode(&bytes).filter(|slot| slot.user == user && !slot.keys.is_empty())
        };
        open().ok_or(damaged("the keys of a user do not open"))
    }

    fn wrapping(&self, bucket: &Secret, user: &str) -> SealingKey {
        let key = self.master.user_key(bucket, &self.store, user);
        SealingKey::new(&self.store, &key)
    }

    const fn context<'r>(&self, purpose: Purpose, row: &'r [u8]) -> Context<'r> {
        Context {
            store: self.store,
            purpose,
            uid: [0; 16],
            generation: 0,
            row,
        }
    }
}

fn row_of((bucket, name): SlotKey) -> Vec<u8> {
    [&bucket.to_be_bytes()[..], &name].concat()
}
