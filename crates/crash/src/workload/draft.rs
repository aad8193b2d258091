//! Grains to store: small and large, of several types, with words of their own.
//!
//! The words are known to the model, so that it can say which searches find a grain.

use std::sync::{Arc, OnceLock};

use grainstore::codec::Map;
use grainstore::crypto::{Algorithm, SigningKey, sign};
use grainstore::grain::{Grain, Time};
use grainstore::{ContentAddress, Draft};

use crate::random::Random;
use crate::workload::options::Seeded;

/// A grain, and what a search and a query should know about it.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    pub(crate) grain: Arc<Grain>,
    pub(crate) words: Arc<[String]>,
    pub(crate) subject: Option<String>,
    pub(crate) namespace: &'static str,
    pub(crate) is_protected: bool,
    pub(crate) role: Role,
    /// The consent it rests on.
    pub(crate) basis: Option<ContentAddress>,
    /// Which of the keys of [`key`] signed it.
    pub(crate) signer: Option<usize>,
}

/// Which rules a grain is under.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Memory,
    Consent,
    /// The withdrawal of a consent.
    Withdrawal(ContentAddress),
    /// In the namespace whose reads are recorded.
    Watched,
}

/// Makes a grain; `serial` makes it one that was never made before. A new version says what it is
/// derived from, and is about the same subject.
pub(crate) fn draft(
    serial: u64,
    derived_from: Option<&ContentAddress>,
    random: &mut Random,
) -> Result<Kept, grainstore::Error> {
    let mut kept = unfinished(serial, random);
    if let Some(old) = derived_from {
        kept.draft = kept.draft.derived_from(*old);
    }
    kept.finish()
}

/// Makes a grain that rests on a consent.
pub(crate) fn resting(
    serial: u64,
    basis: &ContentAddress,
    random: &mut Random,
) -> Result<Kept, grainstore::Error> {
    let mut kept = unfinished(serial, random);
    kept.draft = kept.draft.set("processing_basis", basis.to_string());
    let basis = Some(*basis);
    Ok(Kept {
        basis,
        ..kept.finish()?
    })
}

/// Makes a grain signed with one of the keys of [`key`].
pub(crate) fn signed(
    serial: u64,
    signer: usize,
    random: &mut Random,
) -> Result<Kept, grainstore::Error> {
    let mut kept = unfinished(serial, random);
    kept.draft = kept.draft.to_be_signed();
    resigned(&kept.finish()?, signer)
}

/// Signs a grain with another of the keys of [`key`].
pub(crate) fn resigned(kept: &Kept, signer: usize) -> Result<Kept, grainstore::Error> {
    let key = key(signer)?;
    let grain = sign(Grain::clone(&kept.grain), key, &key.did(), None)?;
    Ok(Kept {
        grain: Arc::new(grain),
        signer: Some(signer),
        ..kept.clone()
    })
}

/// Makes a consent.
pub(crate) fn consent(serial: u64) -> Result<Kept, grainstore::Error> {
    person(serial, Role::Consent, "")
}

/// Makes the withdrawal of a consent.
pub(crate) fn withdrawal(serial: u64, of: &ContentAddress) -> Result<Kept, grainstore::Error> {
    let more = format!(r#","prior_consent":"{of}""#);
    person(serial, Role::Withdrawal(*of), &more)
}

fn person(serial: u64, role: Role, more: &str) -> Result<Kept, grainstore::Error> {
    let mark = mark(serial);
    let is_withdrawal = role != Role::Consent;
    let draft = Draft::from_json(&format!(
        r#"{{"type":"consent","subject_did":"did:web:ada.example",
        "grantee_did":"did:web:{mark}.example","scope":["store"],"namespace":"people",
        "created_at":{serial},"is_withdrawal":{is_withdrawal}{more}}}"#
    ))?;
    Unfinished::new(draft, mark, "people", role).finish()
}

/// Makes a grain of the namespace whose reads are recorded.
pub(crate) fn watched(serial: u64) -> Result<Kept, grainstore::Error> {
    let mark = mark(serial);
    let time = Time::from_ms(i64::try_from(serial).unwrap_or(0) * 1_000);
    let draft = Draft::observation(&*mark, "sensor");
    let draft = draft.namespace(WARD).created_at(time);
    Unfinished::new(draft, mark, WARD, Role::Watched).finish()
}

/// A draft, and what is known of the grain.
struct Unfinished {
    draft: Draft,
    words: Vec<String>,
    subject: Option<String>,
    namespace: &'static str,
    is_protected: bool,
    role: Role,
}

impl Unfinished {
    fn new(draft: Draft, mark: String, namespace: &'static str, role: Role) -> Self {
        Self {
            draft,
            words: vec![mark],
            subject: None,
            namespace,
            is_protected: false,
            role,
        }
    }

    fn finish(self) -> Result<Kept, grainstore::Error> {
        Ok(Kept {
            grain: Arc::new(self.draft.finish(Default::default())?),
            words: self.words.into(),
            subject: self.subject,
            namespace: self.namespace,
            is_protected: self.is_protected,
            role: self.role,
            basis: None,
            signer: None,
        })
    }
}

/// The word that no other grain has: where it is, the grain is.
fn mark(serial: u64) -> String {
    format!("u{serial:0width$}", width = MARK_LEN - 1)
}

fn unfinished(serial: u64, random: &mut Random) -> Unfinished {
    let count = match random.below(12) {
        0 => 400,
        1 => 120,
        few => few,
    };
    let mut words = vec![mark(serial)];
    words.extend((0..count).map(|_| format!("w{}", random.below(WORDS))));
    let text = words.join(" ");
    let subject = format!("s{}", random.below(SUBJECTS));
    let is_belief = random.percent(50);
    let draft = if is_belief {
        Draft::belief(subject.clone(), "knows", text).confidence(0.5)
    } else if random.percent(70) {
        Draft::event(text)
    } else {
        Draft::goal(text)
    };
    let namespace = NAMESPACES.get(random.below(NAMESPACES.len()));
    let namespace = namespace.copied().unwrap_or_default();
    let time = i64::try_from(serial).unwrap_or(0) * 1_000;
    let mut draft = draft.namespace(namespace).created_at(Time::from_ms(time));
    let is_protected = random.percent(12);
    if is_protected {
        draft = draft.set("invalidation_policy", Map::from_iter([("mode", "locked")]));
    }
    Unfinished {
        draft,
        words,
        subject: is_belief.then_some(subject),
        namespace,
        is_protected,
        role: Role::Memory,
    }
}

/// Returns one of two keys that are the same in every run.
pub(crate) fn key(nth: usize) -> Result<&'static SigningKey, grainstore::Error> {
    static KEYS: [OnceLock<SigningKey>; 2] = [OnceLock::new(), OnceLock::new()];
    let place = &KEYS[nth % KEYS.len()];
    if let Some(key) = place.get() {
        return Ok(key);
    }
    let random = Seeded::of(&[nth as u64, 12]);
    let key = SigningKey::generate(Algorithm::Ed25519, &random)?;
    Ok(place.get_or_init(|| key))
}

/// How long the word is that only one grain has.
pub(crate) const MARK_LEN: usize = 9;
/// How many words most texts are made of.
pub(crate) const WORDS: usize = 12;
pub(crate) const SUBJECTS: usize = 4;
/// The namespace whose reads are recorded; no question of the oracle returns its grains.
pub(crate) const WARD: &str = "ward";
pub(crate) const NAMESPACES: [&str; 3] = ["work", "work:inner", "home"];
