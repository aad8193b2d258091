//! Grains made up from a number: the same numbers give the same grains on every machine.
//!
//! `just cost` and the programs in `benches/` measure on them. Blobs are about 335 bytes with about
//! 161 characters of content; 30 % are derived from an earlier grain; subjects are skewed, there are
//! 200 relations, and half of the objects are shared.

use std::collections::VecDeque;

use grainstore::codec::Profile;
use grainstore::{ContentAddress, Draft, Time, Type};

use crate::Result;

/// Makes the grains of one corpus in order.
#[derive(Debug)]
pub struct Generator {
    corpus: Corpus,
    next: u64,
    /// Addresses of the latest grains, for those derived from them; memory stays flat.
    recent: VecDeque<ContentAddress>,
}

/// The contents of every grain of a corpus, as pure functions, so that a query can be made for any
/// of them.
#[derive(Debug, Clone, Copy)]
pub struct Corpus {
    seed: u64,
    subjects: u64,
}

/// A chunk of a corpus: the drafts, and what storing them must give.
#[derive(Debug, Default)]
pub struct Chunk {
    /// The drafts, in order.
    pub drafts: Vec<Draft>,
    /// The addresses of their grains.
    pub addresses: Vec<ContentAddress>,
    /// Their blobs.
    pub blobs: Vec<Vec<u8>>,
}

impl Chunk {
    /// Returns drafts with what storing them must give.
    ///
    /// # Errors
    /// A draft that is no grain.
    pub fn of(drafts: Vec<Draft>) -> Result<Self> {
        let mut chunk = Self::default();
        for draft in drafts {
            chunk.add(draft)?;
        }
        Ok(chunk)
    }

    fn add(&mut self, draft: Draft) -> Result<ContentAddress> {
        let grain = draft.clone().finish(Profile::Extended)?;
        let address = grain.address();
        self.drafts.push(draft);
        self.addresses.push(address);
        self.blobs.push(grain.into_blob());
        Ok(address)
    }

    /// Returns the length of the blobs together.
    pub fn blob_bytes(&self) -> u64 {
        self.blobs.iter().map(|blob| blob.len() as u64).sum()
    }

    /// Returns copies of the drafts in batches: each consumer takes its own.
    pub fn batches(&self, len: usize) -> Vec<Vec<Draft>> {
        self.drafts.chunks(len).map(<[Draft]>::to_vec).collect()
    }
}

impl Generator {
    /// Starts a corpus that will have `grains` grains: the more, the more subjects.
    pub fn new(seed: u64, grains: u64) -> Self {
        Self {
            corpus: Corpus {
                seed,
                subjects: (grains / 4).clamp(20_000, 250_000),
            },
            next: 0,
            recent: VecDeque::new(),
        }
    }

    /// Returns what the grains are made from.
    pub const fn corpus(&self) -> Corpus {
        self.corpus
    }

    /// Makes the next `len` grains.
    pub fn chunk(&mut self, len: usize) -> Result<Chunk> {
        let mut chunk = Chunk::default();
        for _ in 0..len {
            let draft = self.corpus.draft(self.next, &self.recent);
            let address = chunk.add(draft)?;
            self.next += 1;
            self.recent.push_front(address);
            self.recent.truncate(DERIVED_WITHIN);
        }
        Ok(chunk)
    }
}

/// The statement of one grain.
#[derive(Debug, Clone)]
pub struct Statement {
    /// Its subject.
    pub subject: String,
    /// Its relation.
    pub relation: String,
    /// Its object.
    pub object: String,
}

impl Corpus {
    /// Returns the statement of a grain.
    pub fn statement(&self, number: u64) -> Statement {
        let mut dice = self.dice(number, 1);
        let subject = dice.skewed(self.subjects);
        let relation = dice.skewed(RELATIONS);
        let object = if dice.one_in(2) {
            format!("thing {}", dice.skewed(SHARED_OBJECTS))
        } else {
            format!("item {number}")
        };
        Statement {
            subject: format!("person {subject}"),
            relation: format!("rel_{relation:03}"),
            object,
        }
    }

    /// Returns the words of a grain's content.
    pub fn words(&self, number: u64) -> Vec<String> {
        let mut dice = self.dice(number, 2);
        let len = 14 + dice.below(23);
        (0..len)
            .map(|_| word(dice.skewed_more(VOCABULARY)))
            .collect()
    }

    /// Returns when a grain was created: the numbers are in the order of time.
    pub fn created_at_ms(&self, number: u64) -> i64 {
        let jitter = self.dice(number, 3).below(1_000);
        START_MS + i64::try_from(number * 1_000 + jitter).unwrap_or(i64::MAX)
    }

    /// Returns the moment at which the second of a grain begins: `n` grains later, `n` more are in.
    pub fn second_ms(number: u64) -> i64 {
        START_MS + i64::try_from(number * 1_000).unwrap_or(i64::MAX)
    }

    fn draft(&self, number: u64, recent: &VecDeque<ContentAddress>) -> Draft {
        let mut dice = self.dice(number, 4);
        // The speakers and the place do not change within a session.
        let session = number / 40;
        let mut of_session = self.dice(session, 5);
        let of = match dice.below(10) {
            0 => Type::Observation,
            1 | 2 => Type::Event,
            _ => Type::Belief,
        };
        let statement = self.statement(number);
        let mut draft = Draft::new(of)
            .set("subject", statement.subject)
            .set("relation", statement.relation)
            .set("object", statement.object)
            .set("content", self.words(number).join(" "))
            .created_at(Time::from_ms(self.created_at_ms(number)))
            .namespace(format!("org:team{}", of_session.below(20)))
            .user(format!("user-{:04}", of_session.skewed(500)))
            .session(format!("s-{session:06}"))
            .tag(format!("tag{}", dice.skewed(100)));
        draft = if of == Type::Observation {
            draft
                .set("observer_id", format!("sensor-{}", dice.below(50)))
                .set("observer_type", "detector")
        } else {
            draft.confidence(dice.unit())
        };
        if dice.one_in(4) {
            draft = draft.set("run_id", format!("run-{:05}", number / 500));
        }
        if dice.one_in(4) {
            draft = draft.valid_from(Time::from_ms(Self::second_ms(number)));
        }
        if dice.below(10) < 3 && !recent.is_empty() {
            // Mostly what was stored lately. A consolidation may repeat its source's subject and
            // relation without superseding it.
            let back = dice.skewed(recent.len() as u64);
            let source = recent.get(usize::try_from(back).unwrap_or(0));
            draft = draft.set("consolidation_level", 1);
            draft = source
                .into_iter()
                .fold(draft, |draft, source| draft.derived_from(*source));
        }
        draft
    }

    fn dice(&self, number: u64, use_: u64) -> Dice {
        let mut dice = Dice(self.seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (use_ << 56));
        dice.next();
        dice
    }
}

/// Returns a made-up word; it ends so that no stemmer for English changes it.
pub fn word(number: u64) -> String {
    const CONSONANTS: &[u8] = b"bdfghjklmnprstvz";
    const VOWELS: &[u8] = b"aiou";
    const ENDS: &[u8] = b"kpb";
    let at = |letters: &[u8], number: u64| {
        let place = usize::try_from(number % letters.len() as u64).unwrap_or(0);
        letters.get(place).copied().map_or('a', char::from)
    };
    let mut word = String::new();
    let mut rest = number;
    // The first words are short, as in any language.
    loop {
        word.push(at(CONSONANTS, rest));
        rest /= 16;
        word.push(at(VOWELS, rest));
        rest /= 4;
        if rest == 0 {
            break;
        }
        rest -= 1;
    }
    word.push(at(ENDS, number % 7));
    word
}

/// Chance that can be repeated (SplitMix64).
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// Starts a sequence.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next number.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `end`, which is not 0.
    pub const fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// Returns a number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns a number below `end`, small ones more often.
    pub fn skewed(&mut self, end: u64) -> u64 {
        let unit = self.unit();
        share_of(end, unit * unit)
    }

    /// Returns a number below `end`, small ones much more often.
    pub fn skewed_more(&mut self, end: u64) -> u64 {
        let unit = self.unit();
        share_of(end, unit * unit * unit)
    }

    /// Returns true once in `n` times.
    pub const fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share is in [0, 1)"
)]
fn share_of(end: u64, share: f64) -> u64 {
    (share * end as f64) as u64
}

/// How many words there are.
pub const VOCABULARY: u64 = 20_000;

const RELATIONS: u64 = 200;
const SHARED_OBJECTS: u64 = 5_000;
/// A grain is derived from one of so many before it.
const DERIVED_WITHIN: usize = 20_000;
/// 2025-01-01T00:00:00Z.
const START_MS: i64 = 1_735_689_600_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_corpus_is_as_described() {
        let mut generator = Generator::new(7, 20_000);
        let chunk = generator.chunk(20_000).unwrap();
        let blob = chunk.blob_bytes() / 20_000;
        assert!((325..=345).contains(&blob), "a blob has {blob} bytes");
        let corpus = generator.corpus();
        let content: usize = (0..20_000).map(|n| corpus.words(n).join(" ").len()).sum();
        let content = content / 20_000;
        assert!(
            (155..=167).contains(&content),
            "a content has {content} bytes"
        );
        let derived = chunk
            .drafts
            .iter()
            .filter(|draft| draft.fields().contains("derived_from"));
        assert!((5_700..=6_300).contains(&derived.count()));
    }

    #[test]
    fn words_differ() {
        let words: std::collections::HashSet<_> = (0..VOCABULARY).map(word).collect();
        assert_eq!(words.len() as u64, VOCABULARY);
    }
}
