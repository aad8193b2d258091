//! Other names of things: beliefs `alias_of`, such as `k8s` of `Kubernetes`.
//!
//! A question with one name is asked with the other too, and the answer says so.

use std::borrow::Cow;

use crate::index::{Pattern, RowSet, Snapshot};
use crate::store::Access;
use crate::store::read::{may_rely_on, version_at};
use crate::text::{self, Ranking};

use crate::query::Error;

/// A query with the other names of what it names, and each name with what it was read as.
type Asked<'q> = (Cow<'q, text::Query>, Vec<(String, String)>);

/// Returns a query with the other names of what it names, and each name with what it was read as.
pub(in crate::query) fn with_aliases<'q>(
    store: &Access,
    snapshot: &Snapshot,
    rows: &RowSet,
    query: &'q text::Query,
    ranking: &Ranking,
) -> Result<Asked<'q>, Error> {
    let mut read_as = Vec::new();
    if ranking.spelling == 0.0 || !query.has_words_alone() {
        return Ok((Cow::Borrowed(query), read_as));
    }
    let mut asked = None;
    let pattern = Pattern {
        relation: Some(RELATION),
        ..Pattern::default()
    };
    let mut left = ALIASES_MAX;
    for row in snapshot.triples(&pattern) {
        let row = row?;
        if !rows.contains(row) {
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
        let names = grain.triple().and_then(|it| it.subject.zip(it.object));
        let Some((alias, of)) = names else {
            continue;
        };
        let asked = asked.get_or_insert_with(|| folded(query.plain()));
        for (name, other) in [(&*alias, &*of), (&*of, &*alias)] {
            if has(asked, &folded(name)) {
                read_as.push((name.to_owned(), other.to_owned()));
            }
        }
    }
    if read_as.is_empty() {
        return Ok((Cow::Borrowed(query), read_as));
    }
    let others = read_as.iter().map(|(_, other)| other.as_str());
    let others = others.collect::<Vec<_>>().join(" ");
    Ok((Cow::Owned(query.with_words(&others)), read_as))
}

fn folded(text: &str) -> Vec<String> {
    let words = text::question_words(text).into_iter();
    words.map(|word| word.folded).collect()
}

/// Returns whether the words of a name stand in a question.
fn has(asked: &[String], name: &[String]) -> bool {
    !name.is_empty() && asked.windows(name.len()).any(|words| words == name)
}

const RELATION: &str = "alias_of";

/// The table is small.
const ALIASES_MAX: usize = 256;
