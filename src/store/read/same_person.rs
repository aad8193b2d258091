//! Several user ids of one person, which the owner says (ruling I29).

use std::collections::BTreeSet;

use crate::codec::nfc;
use crate::grain::{Grain, Verification};
use crate::index::{Pattern, Snapshot};
use crate::store::Error;
use crate::store::engine::Engine;

/// Returns these user ids and those that the owner said are the same person.
///
/// # Errors
/// Storage errors.
pub(crate) fn united(
    engine: &Engine,
    snapshot: &Snapshot,
    ids: Vec<String>,
) -> Result<Vec<String>, Error> {
    let pattern = Pattern {
        relation: Some(SAME_PERSON),
        ..Pattern::default()
    };
    let mut pairs = Vec::new();
    for row in snapshot.triples(&pattern).rows()?.iter() {
        let version = engine.as_of(snapshot).version_at(row)?;
        let is_verified = version.status.verification == Verification::Verified;
        if !is_verified || !version.status.is_current() || !unites(&version.grain) {
            continue;
        }
        let ends = ["subject", "object"].map(|name| version.grain.text(name));
        if let [Some(one), Some(other)] = ends {
            pairs.push((one.to_owned(), other.to_owned()));
        }
    }
    let mut all = ids;
    let mut known: BTreeSet<String> = all.iter().map(|id| nfc(id).into_owned()).collect();
    let mut at = 0;
    while let Some(id) = all.get(at).map(|id| nfc(id).into_owned()) {
        for (one, other) in &pairs {
            let next = match (*one == id, *other == id) {
                (true, _) => other,
                (_, true) => one,
                _ => continue,
            };
            if known.insert(next.clone()) {
                all.push(next.clone());
            }
        }
        at += 1;
    }
    Ok(all)
}

/// Returns the name of the person with a user id: the first of their ids in order.
///
/// # Errors
/// Storage errors.
pub(crate) fn person_of_user(
    engine: &Engine,
    snapshot: &Snapshot,
    user: &str,
) -> Result<String, Error> {
    let all = united(engine, snapshot, vec![user.to_owned()])?;
    Ok(all.into_iter().min().unwrap_or_default())
}

/// Returns whether a grain states that two users are one person: it counts once the owner verified it.
pub(crate) fn unites(grain: &Grain) -> bool {
    grain.text("relation") == Some(SAME_PERSON)
}

/// The relation of such a statement.
pub(crate) const SAME_PERSON: &str = "same_person_as";
