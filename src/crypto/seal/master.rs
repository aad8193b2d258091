//! The master key of a store and all that is derived from it with an erasable salt (ruling S5).
//!
//! A key made of master key and user id alone could be made again after it was destroyed. Each
//! derivation here that leads to a person's data has a salt that the vault destroys.

use std::fmt;

use subtle::ConstantTimeEq;

use super::derive;
use super::secret::Secret;

/// The master key. The caller keeps it; a store never does.
pub struct MasterKey(Secret);

impl MasterKey {
    /// Wraps the key.
    pub const fn new(secret: Secret) -> Self {
        Self(secret)
    }

    /// Returns the value by which a store knows its key, without revealing it.
    pub fn check_value(&self, store: &[u8; 16]) -> [u8; 16] {
        let prk = derive::extract(store, self.0.expose());
        let mut check = [0; 16];
        derive::expand_to(&prk, &derive::info("mk-check", &[]), &mut check);
        check
    }

    /// Returns whether a store's check value is of this key, in constant time.
    pub fn is_of(&self, store: &[u8; 16], check: &[u8; 16]) -> bool {
        self.check_value(store).ct_eq(check).into()
    }

    /// Returns the key of the table of buckets under the root of an epoch.
    pub fn table_key(&self, root: &Secret, store: &[u8; 16], epoch: u64) -> Secret {
        let info = derive::info("bucket-table", &[store, &epoch.to_be_bytes()]);
        derive::hkdf(root.expose(), &self.0, &info)
    }

    /// Returns the hash of a user id whose first bits choose the bucket. It is stored nowhere.
    pub fn user_hash(&self, store: &[u8; 16], user: &str) -> [u8; 32] {
        let key = derive::hkdf(store, &self.0, &derive::info("vault-index", &[]));
        derive::mac(&key, &[user.as_bytes()])
    }

    /// Returns the name of a user's row in a bucket. It cannot be derived again once the bucket's
    /// key is destroyed, so a remnant of the row says nothing about its person.
    pub fn slot_name(&self, bucket: &Secret, store: &[u8; 16], user: &str) -> [u8; 16] {
        let key = derive::hkdf(
            bucket.expose(),
            &self.0,
            &derive::info("slot-name", &[store]),
        );
        let hash = derive::mac(&key, &[user.as_bytes()]);
        let mut name = [0; 16];
        name.copy_from_slice(hash.split_at(16).0);
        name
    }

    /// Returns the key that wraps a user's data key (OMS 20.3).
    pub fn user_key(&self, bucket: &Secret, store: &[u8; 16], user: &str) -> Secret {
        let info = derive::info("user-kek", &[store, user.as_bytes()]);
        derive::hkdf(bucket.expose(), &self.0, &info)
    }
}

impl fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MasterKey")
    }
}
