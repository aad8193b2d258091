//! The terms of words that were met before, in sets of a few places each.
//!
//! A word goes to the set of its hash and takes the place of another there: what a text of chosen
//! words can bring about is that they are analysed again, so the hash needs no key.

use std::rc::Rc;

/// Words with what is known of each, up to [`PLACES_MAX`].
#[derive(Debug)]
pub(super) struct WordCache<T> {
    /// Empty, or a power of two of sets.
    places: Vec<Option<Known<T>>>,
    len: usize,
    /// Which word of a full set is replaced next.
    turn: usize,
}

#[derive(Debug)]
struct Known<T> {
    hash: u64,
    written: Box<str>,
    terms: Rc<T>,
}

impl<T> Default for WordCache<T> {
    fn default() -> Self {
        Self {
            places: Vec::new(),
            len: 0,
            turn: 0,
        }
    }
}

impl<T> WordCache<T> {
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Returns the terms of a word, which `make` makes if they are not known.
    pub(super) fn get_or_insert_with(&mut self, written: &str, make: impl FnOnce() -> T) -> Rc<T> {
        let hash = hash_of(written);
        let set = self.places.get(self.set_of(hash)..).unwrap_or_default();
        let mut known = set.iter().take(WAYS).flatten();
        if let Some(known) = known.find(|it| it.hash == hash && *it.written == *written) {
            return Rc::clone(&known.terms);
        }
        let terms = Rc::new(make());
        if self.len >= self.places.len() / 2 && self.places.len() < PLACES_MAX {
            self.grow();
        }
        self.put(Known {
            hash,
            written: written.into(),
            terms: Rc::clone(&terms),
        });
        terms
    }

    /// Returns the first place of the set of a hash.
    fn set_of(&self, hash: u64) -> usize {
        let sets = (self.places.len() / WAYS) as u64;
        usize::try_from(hash & sets.saturating_sub(1)).unwrap_or(0) * WAYS
    }

    fn put(&mut self, known: Known<T>) {
        let from = self.set_of(known.hash);
        let set = self.places.get_mut(from..).unwrap_or_default();
        let free = set.iter().take(WAYS).position(Option::is_none);
        self.len += usize::from(free.is_some());
        self.turn += usize::from(free.is_none());
        let place = free.unwrap_or(self.turn % WAYS);
        if let Some(place) = set.get_mut(place) {
            *place = Some(known);
        }
    }

    fn grow(&mut self) {
        let len = (self.places.len() * 4).clamp(PLACES_MIN, PLACES_MAX);
        let old = std::mem::replace(&mut self.places, Vec::with_capacity(len));
        self.places.resize_with(len, || None);
        self.len = 0;
        for known in old.into_iter().flatten() {
            self.put(known);
        }
    }
}

/// Returns a hash of a word whose low bits depend on all of its bytes.
fn hash_of(word: &str) -> u64 {
    let mix = |hash: u64, part: u64| {
        let mixed = (hash ^ part).wrapping_mul(MULTIPLIER);
        mixed ^ (mixed >> 32)
    };
    let (parts, rest) = word.as_bytes().as_chunks::<8>();
    let hash = parts.iter().fold(word.len() as u64, |hash, part| {
        mix(hash, u64::from_le_bytes(*part))
    });
    let rest = rest.iter().rev();
    mix(
        hash,
        rest.fold(0, |part, byte| part << 8 | u64::from(*byte)),
    )
}

/// The places of a set.
const WAYS: usize = 4;

/// A question has few words.
const PLACES_MIN: usize = 64;

/// Some ten megabytes, where as many words are met: of English the words of all texts of a store.
const PLACES_MAX: usize = 65_536;

/// An odd number without a pattern.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_has_its_own_terms_however_many_came_between() {
        let mut cache = WordCache::default();
        let words: Vec<String> = (0..PLACES_MAX * 2).map(|word| format!("w{word}")).collect();
        for round in 0..2 {
            for word in &words {
                let known = cache.get_or_insert_with(word, || word.clone());
                assert_eq!(*known, *word, "{round}");
            }
        }
        assert_eq!(cache.places.len(), PLACES_MAX);
        assert!(cache.len > PLACES_MAX * 9 / 10);
    }

    #[test]
    fn the_words_of_a_text_are_made_once() {
        let mut cache = WordCache::default();
        let words: Vec<String> = (0..10_000).map(|word| format!("w{word}")).collect();
        let mut made = 0;
        for word in words.iter().chain(&words) {
            cache.get_or_insert_with(word, || {
                made += 1;
            });
        }
        assert!(made < 11_000, "{made}");
    }
}
