//! The unlocked persons of a vault: at most 1,024, the one unlocked longest ago gives way, and each for
//! as long as the caller allows.

use std::time::Duration;

use super::unlocked::Unlocked;

/// Unlocked persons by user id, in the order of their unlocking.
#[derive(Debug, Default)]
pub(crate) struct KeyCache {
    persons: Vec<Cached>,
    /// The time last told, from any beginning.
    now: Duration,
}

#[derive(Debug)]
struct Cached {
    user: String,
    keys: Unlocked,
    since: Duration,
}

impl KeyCache {
    pub(crate) fn find(&self, user: &str) -> Option<Unlocked> {
        let found = self.persons.iter().find(|cached| cached.user == user);
        found.map(|cached| cached.keys.clone())
    }

    /// Adds a person and wipes the one who gives way.
    pub(crate) fn insert(&mut self, user: &str, keys: Unlocked) {
        self.remove(user);
        if self.persons.len() >= KEYS_MAX {
            self.persons.remove(0).keys.wipe();
        }
        self.persons.push(Cached {
            user: user.to_owned(),
            keys,
            since: self.now,
        });
    }

    /// Wipes the keys of a person.
    pub(crate) fn remove(&mut self, user: &str) {
        self.keep(|cached| cached.user != user);
    }

    /// Wipes all keys.
    pub(crate) fn clear(&mut self) {
        self.keep(|_| false);
    }

    /// Tells the time, and wipes the keys that were unlocked longer ago than `ttl`.
    pub(crate) fn expire(&mut self, now: Duration, ttl: Duration) {
        self.now = now;
        self.keep(|cached| now.saturating_sub(cached.since) < ttl);
    }

    fn keep(&mut self, is_kept: impl Fn(&Cached) -> bool) {
        self.persons.retain(|cached| {
            let is_kept = is_kept(cached);
            if !is_kept {
                cached.keys.wipe();
            }
            is_kept
        });
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
    use crate::crypto::{OsRandom, RetainedKeys};
    use crate::grain::Time;
    use crate::vault::file::slot::Slot;

    #[test]
    fn the_person_unlocked_longest_ago_gives_way() {
        let mut cache = KeyCache::default();
        let mut first = None;
        for n in 0..=KEYS_MAX {
            let user = n.to_string();
            let slot = Slot::draw(&OsRandom, &user, Time::from_ms(1)).unwrap();
            let keys = Unlocked::new([1; 16], &slot, RetainedKeys::default());
            first.get_or_insert_with(|| keys.clone());
            cache.insert(&user, keys);
        }
        assert!(first.unwrap().keys().is_none(), "its handle is locked");
        assert!(cache.find("0").is_none() && cache.find("1").is_some());
    }
}
