//! A cache of the users who have no key: asking the vault takes the master key, which a passphrase
//! makes slowly.

use std::collections::HashSet;

use crate::process::Mutex;

/// Users who are not sealed. Forgotten at each event in the life of a key.
#[derive(Debug, Default)]
pub(crate) struct PlainUsers(Mutex<HashSet<String>>);

impl PlainUsers {
    pub(crate) fn knows(&self, user: &str) -> bool {
        self.0.lock().contains(user)
    }

    pub(crate) fn learn(&self, user: &str) {
        let mut known = self.0.lock();
        if known.len() >= REMEMBERED_MAX {
            known.clear();
        }
        known.insert(user.to_owned());
    }

    pub(crate) fn forget(&self) {
        self.0.lock().clear();
    }
}

/// A bound of some megabytes; others are asked for again.
const REMEMBERED_MAX: usize = 1 << 16;
