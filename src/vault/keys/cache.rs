//! The unlocked persons of a vault: at most 1,024, the one unlocked longest ago gives way.

use super::unlocked::Unlocked;

/// Unlocked persons by user id, in the order of their unlocking.
#[derive(Debug, Default)]
pub(crate) struct KeyCache(Vec<(String, Unlocked)>);

impl KeyCache {
    pub(crate) fn find(&self, user: &str) -> Option<Unlocked> {
        let found = self.0.iter().find(|(name, _)| name == user);
        found.map(|(_, keys)| keys.clone())
    }

    /// Adds a person and wipes the one who gives way.
    pub(crate) fn insert(&mut self, user: &str, keys: Unlocked) {
        self.remove(user);
        if self.0.len() >= KEYS_MAX {
            self.0.remove(0).1.wipe();
        }
        self.0.push((user.to_owned(), keys));
    }

    /// Wipes the keys of a person.
    pub(crate) fn remove(&mut self, user: &str) {
        self.0.retain(|(name, keys)| {
            let is_other = name != user;
            if !is_other {
                keys.wipe();
            }
            is_other
        });
    }

    /// Wipes all keys.
    pub(crate) fn clear(&mut self) {
        for (_, keys) in self.0.drain(..) {
            keys.wipe();
        }
    }
}

impl Drop for KeyCache {
    fn drop(&mut self) {
        self.clear();
    }
}

const KEYS_MAX: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crypto::OsRandom;
    use crate::grain::Time;
    use crate::vault::file::slot::Slot;

    #[test]
    fn the_person_unlocked_longest_ago_gives_way() {
        let mut cache = KeyCache::default();
        let mut first = None;
        for n in 0..=KEYS_MAX {
            let user = n.to_string();
            let slot = Slot::draw(&OsRandom, &user, Time::from_ms(1)).unwrap();
            let keys = Unlocked::new([1; 16], &slot);
            first.get_or_insert_with(|| keys.clone());
            cache.insert(&user, keys);
        }
        assert!(first.unwrap().keys().is_none(), "its handle is locked");
        assert!(cache.find("0").is_none() && cache.find("1").is_some());
    }
}
