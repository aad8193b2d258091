//! The current beliefs that say something of the same subject by a like relation: `lives in` beside
//! `lives_in`, `Ana` beside `ana`, one name of a person beside another.
//!
//! The index holds hashes of terms, so likeness is no condition of it: the spellings of the subject
//! are looked up one by one, and the relations of what is found are compared.

use std::collections::BTreeSet;

use crate::grain::{Grain, Type};
use crate::store::Access;
use crate::store::governance::united;
use crate::store::read::{read_recorder, unless_erased};

use crate::query::visible::page_to_show;
use crate::query::{Error, Filter, Sort, SortBy};

/// See [`also_believed`](crate::also_believed).
pub(crate) fn also_believed(store: &Access, new: &Grain) -> Result<Vec<Grain>, Error> {
    let (Some(subject), Some(relation)) = (new.text("subject"), new.text("relation")) else {
        return Ok(Vec::new());
    };
    if new.type_() != Type::Belief {
        return Ok(Vec::new());
    }
    let user = same_users(store, new)?;
    let is_same = |grain: &Grain| {
        let users = user.iter().any(|id| grain.text("user_id") == id.as_deref());
        let relations = grain.text("relation").map(folded) == Some(folded(relation));
        users && relations && grain.text("namespace") == new.text("namespace")
    };
    let (address, mut seen, mut found) = (new.address(), BTreeSet::new(), Vec::new());
    for subject in names(store, subject)? {
        let of = Filter::new().of_type(Type::Belief).subject(subject);
        let (mut grains, is_cut) = newest(store, &of)?;
        if is_cut {
            for spelling in spellings(relation) {
                grains.extend(newest(store, &of.clone().relation(spelling))?.0);
            }
        }
        let alike = grains.into_iter().filter(is_same);
        found.extend(alike.filter(|it| it.address() != address && seen.insert(it.address())));
    }
    found.sort_by_key(|grain| std::cmp::Reverse(grain.created_at()));
    found.truncate(SHOWN_MAX);
    read_recorder(store, "query").all(found.iter())?;
    Ok(found)
}

/// Returns the newest current grains that pass a filter, and whether there are more.
fn newest(store: &Access, filter: &Filter) -> Result<(Vec<Grain>, bool), Error> {
    let newest_first = Sort::by(SortBy::CreatedAt).descending();
    let page = unless_erased(|| page_to_show(store, filter, newest_first, LOOKED_AT, None))?;
    let grains = page.results.into_iter().map(|found| found.grain);
    Ok((grains.collect(), page.next_cursor.is_some()))
}

/// Returns the user of a grain, with the other ids of the person (ruling I29). A narrowed handle is not
/// told which persons there are.
fn same_users(store: &Access, grain: &Grain) -> Result<Vec<Option<String>>, Error> {
    let Some(user) = grain.text("user_id") else {
        return Ok(vec![None]);
    };
    let ids = vec![user.to_owned()];
    let ids = match store.capability() {
        None => united(store, &store.snapshot(), ids)?,
        Some(_) => ids,
    };
    Ok(ids.into_iter().map(Some).collect())
}

/// Returns the spellings of a subject, of its other names (`alias_of`) and of the same person.
fn names(store: &Access, subject: &str) -> Result<BTreeSet<String>, Error> {
    let mut names = spellings(subject);
    let alias = Filter::new().of_type(Type::Belief).relation("alias_of");
    for name in names.clone() {
        for (of, other) in [
            (alias.clone().subject(&name), "object"),
            (alias.clone().object(&name), "subject"),
        ] {
            let (aliases, _) = newest(store, &of)?;
            let others = aliases.iter().filter_map(|grain| grain.text(other));
            names.extend(others.map(str::to_owned));
        }
    }
    if store.capability().is_none() {
        let ids = names.into_iter().collect();
        names = united(store, &store.snapshot(), ids)?.into_iter().collect();
    }
    Ok(names)
}

/// Returns a name in other cases, and with spaces in place of underscores and the reverse.
fn spellings(name: &str) -> BTreeSet<String> {
    let lower = name.to_lowercase();
    let mut cased = BTreeSet::from([
        name.to_owned(),
        name.to_uppercase(),
        capitals(&lower),
        lower,
    ]);
    let apart = |name: &String| [name.replace(['_', '-'], " "), name.replace([' ', '-'], "_")];
    let apart: Vec<_> = cased.iter().flat_map(apart).collect();
    cased.extend(apart);
    cased
}

/// Returns a name with a capital at the beginning of each word.
fn capitals(lower: &str) -> String {
    let mut is_first = true;
    let mut name = String::with_capacity(lower.len());
    for letter in lower.chars() {
        match is_first {
            true => name.extend(letter.to_uppercase()),
            false => name.push(letter),
        }
        is_first = !letter.is_alphanumeric();
    }
    name
}

/// Returns a relation without its case, its vocabulary's prefix and what is between its words.
fn folded(relation: &str) -> String {
    let relation = relation.strip_prefix("mg:").unwrap_or(relation);
    let letters = relation.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// The beliefs of a subject that are compared, newest first.
const LOOKED_AT: usize = 200;

/// More are not returned.
const SHOWN_MAX: usize = 20;
