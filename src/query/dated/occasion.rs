//! The dates of occasions that a question names: birthdays and anniversaries, as beliefs have them.

use crate::grain::Grain;
use crate::index::{Pattern, RowSet, Snapshot};
use crate::query::Error;
use crate::query::when::{Feast, Occasion};
use crate::store::Access;
use crate::store::read::{may_rely_on, version_at};
use crate::text;

/// Returns the date of an occasion as the newest belief among `rows` that a caller sees has it.
pub(super) fn date_of(
    store: &Access,
    snapshot: &Snapshot,
    rows: &RowSet,
    occasion: &Occasion,
) -> Result<Option<String>, Error> {
    let relations = match occasion.feast {
        Feast::Birthday => &BIRTHDAY[..],
        Feast::Anniversary => &ANNIVERSARY,
    };
    let mut newest = None;
    let mut left = BELIEFS_MAX;
    for relation in relations {
        let pattern = Pattern {
            relation: Some(relation),
            ..Pattern::default()
        };
        for row in snapshot.triples(&pattern) {
            let row = row?;
            if !rows.contains(row) || newest.as_ref().is_some_and(|(at, _)| *at > row) {
                continue;
            }
            let Some(less) = left.checked_sub(1) else {
                break;
            };
            left = less;
            let grain = &version_at(store, snapshot, row)?.grain;
            if !store.sees(snapshot, grain)? || !may_rely_on(store, grain)? {
                continue;
            }
            let date = grain.triple().and_then(|triple| triple.object);
            if let Some(date) = date.filter(|_| is_of(grain, occasion.whose.as_deref())) {
                newest = Some((row, date));
            }
        }
    }
    Ok(newest.map(|(_, date)| date))
}

/// Returns whether the subject of a belief has the word `whose` as its name; without a word, whether it
/// is the user.
fn is_of(belief: &Grain, whose: Option<&str>) -> bool {
    let Some(subject) = belief.text("subject") else {
        return false;
    };
    let Some(whose) = whose else {
        return USER.contains(&subject) || belief.text("user_id") == Some(subject);
    };
    let words = text::question_words(subject).into_iter();
    // Of a genitive without an apostrophe the last letter is grammar.
    let is_name = |name: &str| name == whose || whose.strip_suffix('s') == Some(name);
    words.map(|word| word.folded).any(|name| is_name(&name))
}

const BIRTHDAY: [&str; 9] = [
    "birthday",
    "has_birthday",
    "has birthday",
    "born_on",
    "born on",
    "date_of_birth",
    "date of birth",
    "birth_date",
    "birthdate",
];

const ANNIVERSARY: [&str; 8] = [
    "anniversary",
    "has_anniversary",
    "wedding_anniversary",
    "wedding anniversary",
    "married_on",
    "married on",
    "wedding_date",
    "wedding date",
];

/// The subjects of beliefs about the one who asks.
const USER: [&str; 4] = ["user", "me", "I", "self"];

/// More are not read for a question.
const BELIEFS_MAX: usize = 256;
