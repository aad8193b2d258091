//! Grains to store: small and large, of several types, with words of their own.
//!
//! The words are known to the model, so that it can say which searches find a grain.

use std::sync::Arc;

use grainstore::codec::Map;
use grainstore::grain::{Grain, Time};
use grainstore::{ContentAddress, Draft};

use crate::random::Random;

/// A grain, and what a search and a query should know about it.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    pub(crate) grain: Arc<Grain>,
    pub(crate) words: Arc<[String]>,
    pub(crate) subject: Option<String>,
    pub(crate) namespace: &'static str,
    pub(crate) is_protected: bool,
}

/// Makes a grain; `serial` makes it one that was never made before. A new version says what it is
/// derived from, and is about the same subject.
pub(crate) fn draft(
    serial: u64,
    derived_from: Option<&ContentAddress>,
    random: &mut Random,
) -> Result<Kept, grainstore::grain::Error> {
    let count = match random.below(12) {
        0 => 400,
        1 => 120,
        few => few,
    };
    // The words that no other grain has: where they are, this grain is.
    let mut words = vec![format!("u{serial:0width$}", width = MARK_LEN - 1)];
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
    if let Some(old) = derived_from {
        draft = draft.derived_from(*old);
    }
    Ok(Kept {
        grain: Arc::new(draft.finish(Default::default())?),
        words: words.into(),
        subject: is_belief.then_some(subject),
        namespace,
        is_protected,
    })
}

/// How long the word is that only one grain has.
pub(crate) const MARK_LEN: usize = 9;
/// How many words most texts are made of.
pub(crate) const WORDS: usize = 12;
pub(crate) const SUBJECTS: usize = 4;
pub(crate) const NAMESPACES: [&str; 3] = ["work", "work:inner", "home"];
