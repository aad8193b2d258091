//! A tree of notes that was imported before: which of its items are those of then, which were edited,
//! and which are gone.
//!
//! Items are found again by their texts, wherever they moved; an item that stands in the place of one
//! that is gone is its new version. Only the texts and their order decide.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::process::{Mutex, MutexGuard};

/// A note as a tree has it now.
#[derive(Debug, Default)]
pub(crate) struct Now {
    pub(crate) path: String,
    /// The digests of the texts of its items.
    pub(crate) texts: Vec<String>,
    /// The digests of what it links.
    pub(crate) links: Vec<String>,
    /// The ids that its frontmatter claims, with the digests of their texts.
    pub(crate) claims: Vec<(String, String)>,
    /// Those of the claims that name grains of another store.
    pub(crate) foreign: BTreeSet<String>,
}

impl Now {
    /// A digest of what is erased must not tell it to who guesses it: the store keeps marks.
    fn marked(&self, mark: Mark<'_>, foreign: &BTreeSet<String>) -> Self {
        let all = |digests: &[String]| digests.iter().map(|of| mark(of)).collect();
        let own = |id: &String| match foreign.contains(id) {
            true => mark(id),
            false => id.clone(),
        };
        let claims = self.claims.iter();
        let others = self.claims.iter().filter(|(id, _)| foreign.contains(id));
        Self {
            path: self.path.clone(),
            texts: all(&self.texts),
            links: all(&self.links),
            claims: claims.map(|(id, of)| (own(id), mark(of))).collect(),
            foreign: others.map(|(id, _)| mark(id)).collect(),
        }
    }
}

/// A note as it was imported last.
#[derive(Debug, Default)]
pub(crate) struct Earlier {
    pub(crate) id: String,
    pub(crate) path: String,
    /// The ids of its items, with the digests of their texts.
    pub(crate) items: Vec<(String, String)>,
    /// The ids of its links, with the digests of their targets.
    pub(crate) links: Vec<(String, String)>,
    /// The ids of items that were in it before, which nothing new may have.
    pub(crate) gone: Vec<String>,
    /// Whether the note is gone.
    pub(crate) is_over: bool,
    /// Whether only the tree itself says so.
    pub(crate) is_claim: bool,
}

impl Earlier {
    /// Returns the ids of its items.
    pub(crate) fn ids(&self) -> impl Iterator<Item = String> {
        self.items.iter().map(|(id, _)| id.clone())
    }
}

/// Makes a digest one that only this store can make.
pub(crate) type Mark<'a> = &'a dyn Fn(&str) -> String;

/// The id of an item or a link, with its marked digest; empty where no store has marked it.
pub(crate) type Named = (String, String);

/// The ids of a tree: of each note, and of each of its items.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Ids {
    pub(crate) notes: Vec<NoteIds>,
    /// All that was there and is there no more.
    pub(crate) ended: Vec<String>,
}

/// The id of a note, those of its items and links, and those of what is gone from it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct NoteIds {
    pub(crate) note: String,
    pub(crate) items: Vec<Named>,
    pub(crate) links: Vec<Named>,
    pub(crate) gone: Vec<String>,
}

/// The ids of a tree, which its earlier state decides after it was opened.
#[derive(Debug, Clone, Default)]
pub(crate) struct SharedIds(Arc<Mutex<(Survey, Ids)>>);

/// The notes, as the first reading found them.
pub(crate) type Survey = Vec<Now>;

impl SharedIds {
    /// Returns them, with what the first reading learned.
    pub(crate) fn lock(&self) -> MutexGuard<'_, (Survey, Ids)> {
        self.0.lock()
    }

    /// Returns the ids that the items have.
    pub(crate) fn given(&self) -> Vec<String> {
        let shared = self.lock();
        let items = shared.1.notes.iter().flat_map(|note| &note.items);
        items.map(|(id, _)| id.clone()).collect()
    }

    /// Returns the items that were edited, each with the id that its text would have if it were new.
    pub(crate) fn texts(&self) -> Vec<(String, String)> {
        let shared = self.lock();
        let items = shared.1.notes.iter().flat_map(|note| {
            let named = |(id, of): &Named| (id.clone(), format!("{}.{of}", note.note));
            note.items.iter().map(named)
        });
        items
            .filter(|(id, text)| !id.starts_with(text.as_str()))
            .collect()
    }

    /// Gives the items of a first reading their ids.
    pub(crate) fn begin(&self, survey: Survey) {
        let ids = assign(&survey, Vec::new(), false, None);
        *self.lock() = (survey, ids);
    }

    /// Returns the ids that the tree itself claims.
    pub(crate) fn claims(&self) -> BTreeSet<String> {
        let shared = self.lock();
        let claims = shared.0.iter().flat_map(|note| &note.claims);
        claims.map(|(id, _)| id.clone()).collect()
    }

    /// Gives the items the ids that they had; returns the ids of those that are gone. With `is_own` the
    /// owner vouches for what the tree says of itself. A claimed id that names a grain of another store
    /// (`foreign`) is its mark here.
    pub(crate) fn continued(
        &self,
        earlier: Vec<Earlier>,
        is_own: bool,
        mark: Mark<'_>,
        foreign: &BTreeSet<String>,
    ) -> Vec<String> {
        let mut shared = self.lock();
        let (survey, ids) = &mut *shared;
        let marked = survey.iter().map(|note| note.marked(mark, foreign));
        let marked: Survey = marked.collect();
        *ids = assign(&marked, earlier, is_own, Some(mark));
        ids.ended.clone()
    }
}

/// Returns the digest by which an item is found again in its file, of the text as it stands there.
pub(crate) fn digest(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    let mut hex = data_encoding::HEXLOWER.encode(&digest);
    hex.truncate(16);
    hex
}

/// Gives every note and item its id: that of then, or a new one.
///
/// Only the tree claims is an item of then if its text says the same. With `is_own` the owner
/// vouches for the claims, and an edit of one is an edit.
fn assign(now: &[Now], earlier: Vec<Earlier>, is_own: bool, mark: Option<Mark<'_>>) -> Ids {
    let notes = matched_notes(now, earlier);
    let mut matching = Matching::new(now, notes);
    matching.in_their_notes();
    matching.moved();
    matching.claimed(false);
    matching.edited(is_own);
    // Another store says whose line of its own it is, and not whose new version it is here.
    matching.claimed(true);
    matching.finish(is_own, mark)
}

/// Pairs the notes with those of then: by path, then by what they have in common.
fn matched_notes(now: &[Now], mut earlier: Vec<Earlier>) -> (Vec<Option<Earlier>>, Vec<Earlier>) {
    let mut paired: Vec<Option<Earlier>> = Vec::with_capacity(now.len());
    let mut by_path: HashMap<String, Earlier> = HashMap::new();
    for note in std::mem::take(&mut earlier) {
        let twice = match note.is_over {
            true => Some(note),
            false => by_path.insert(note.path.clone(), note),
        };
        earlier.extend(twice);
    }
    for note in now {
        paired.push(by_path.remove(&note.path));
    }
    earlier.extend(by_path.into_values());
    earlier.sort_by(|a, b| (&a.path, &a.id).cmp(&(&b.path, &b.id)));
    let mut left: Vec<Option<Earlier>> = earlier.into_iter().map(Some).collect();
    let mut homes: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, note) in left.iter().enumerate() {
        for (_, of) in note.iter().flat_map(|note| &note.items) {
            homes.entry(of.clone()).or_default().push(at);
        }
    }
    for (note, pair) in now
        .iter()
        .zip(&mut paired)
        .filter(|(_, pair)| pair.is_none())
    {
        let mut votes = BTreeMap::<usize, usize>::new();
        for at in note.texts.iter().filter_map(|of| homes.get(of)).flatten() {
            let count = votes.entry(*at).or_default();
            *count = count.saturating_add(1);
        }
        votes.retain(|at, _| left.get(*at).is_some_and(Option::is_some));
        let best = votes
            .into_iter()
            .max_by_key(|(at, votes)| (*votes, std::cmp::Reverse(*at)));
        if let Some((at, votes)) = best
            && votes.saturating_mul(2) >= note.texts.len()
        {
            *pair = left.get_mut(at).and_then(Option::take);
        }
    }
    (paired, left.into_iter().flatten().collect())
}

struct Matching<'a> {
    now: &'a [Now],
    /// For each note the one of then.
    pairs: Vec<Earlier>,
    gone: Vec<Earlier>,
    /// For each item of each note its id.
    ids: Vec<Vec<Option<String>>>,
    /// The ids that are given.
    given: BTreeSet<String>,
}

impl<'a> Matching<'a> {
    fn new(now: &'a [Now], (pairs, gone): (Vec<Option<Earlier>>, Vec<Earlier>)) -> Self {
        let claimed = |(note, pair): (&Now, Option<Earlier>)| {
            pair.unwrap_or_else(|| Earlier {
                items: note.claims.clone(),
                is_claim: true,
                ..Earlier::default()
            })
        };
        Self {
            pairs: now.iter().zip(pairs).map(claimed).collect(),
            ids: now
                .iter()
                .map(|note| vec![None; note.texts.len()])
                .collect(),
            now,
            gone,
            given: BTreeSet::new(),
        }
    }

    /// Finds the items that stand in the note of then.
    fn in_their_notes(&mut self) {
        // A file that only claims to have an item does not take it from the one that has it.
        for is_claim in [false, true] {
            let notes = self.now.iter().zip(&self.pairs).zip(&mut self.ids);
            for ((note, pair), ids) in notes.filter(|((_, pair), _)| pair.is_claim == is_claim) {
                let mut left =
                    by_text(pair.items.iter().filter(|(id, _)| !self.given.contains(id)));
                take_all(&mut left, &note.texts, ids, &mut self.given);
            }
        }
    }

    /// Finds the items that moved to another note.
    fn moved(&mut self) {
        let pairs = self.pairs.iter().filter(|pair| !pair.is_claim);
        let items = pairs.chain(&self.gone).flat_map(|note| &note.items);
        let mut left = by_text(items.filter(|(id, _)| !self.given.contains(id)));
        for (note, ids) in self.now.iter().zip(&mut self.ids) {
            take_all(&mut left, &note.texts, ids, &mut self.given);
        }
    }

    /// Finds the items that the frontmatter names, by what they say.
    fn claimed(&mut self, is_foreign: bool) {
        for (note, ids) in self.now.iter().zip(&mut self.ids) {
            let claims = note.claims.iter();
            let mut left =
                by_text(claims.filter(|(id, _)| note.foreign.contains(id) == is_foreign));
            take_all(&mut left, &note.texts, ids, &mut self.given);
        }
    }

    /// Takes what stands between the same neighbours as one that is gone for its new version.
    fn edited(&mut self, is_own: bool) {
        for (pair, ids) in self.pairs.iter().zip(&mut self.ids) {
            if pair.is_claim && !is_own {
                continue;
            }
            let places = pair.items.iter().enumerate();
            let places: HashMap<&str, usize> =
                places.map(|(at, (id, _))| (id.as_str(), at)).collect();
            let place = |slot: &Option<String>| places.get(slot.as_deref()?).copied();
            // The place behind the neighbour before, from which the next one that is gone is taken.
            let mut from = 0_usize;
            let befores: Vec<Option<usize>> = ids.iter().map(place).collect();
            for (at, slot) in ids.iter_mut().enumerate() {
                if slot.is_some() {
                    from = befores
                        .get(at)
                        .copied()
                        .flatten()
                        .map_or(from, |it| it.saturating_add(1));
                    continue;
                }
                let after = befores
                    .get(at..)
                    .unwrap_or_default()
                    .iter()
                    .flatten()
                    .next();
                let to = after.copied().unwrap_or(pair.items.len());
                let between = pair
                    .items
                    .get(from..to)
                    .unwrap_or_default()
                    .iter()
                    .enumerate();
                let mut open = between.filter(|(_, (id, _))| !self.given.contains(id));
                if let Some((skipped, (id, _))) = open.next() {
                    self.given.insert(id.clone());
                    *slot = Some(id.clone());
                    from = from.saturating_add(skipped).saturating_add(1);
                }
            }
        }
    }

    /// An id that is new is made of the mark, so that a text that was erased comes with the id that
    /// its tombstone knows. Without a store it is the place of the item.
    fn finish(self, is_own: bool, mark: Option<Mark<'_>>) -> Ids {
        let named = |of: &String, at: usize| mark.map_or_else(|| at.to_string(), |_| of.clone());
        let kept = |of: &String| mark.map_or_else(String::new, |_| of.clone());
        let mut known: BTreeSet<String> = self.given.clone();
        for note in self.pairs.iter().chain(&self.gone) {
            let ids = note.items.iter().chain(&note.links).map(|(id, _)| id);
            known.extend(ids.chain(&note.gone).chain([&note.id]).cloned());
        }
        let mut ids = Ids::default();
        for ((note, pair), given) in self.now.iter().zip(&self.pairs).zip(&self.ids) {
            let key = match pair.id.as_str() {
                "" => {
                    let of = digest(&note.path);
                    fresh(
                        &mark.map_or_else(|| of.clone(), |mark| mark(&of)),
                        &mut known,
                    )
                }
                id => id.to_owned(),
            };
            let items = given.iter().zip(&note.texts).enumerate();
            let items = items.map(|(at, (id, of))| {
                let new = || fresh(&format!("{key}.{}", named(of, at)), &mut known);
                (id.clone().unwrap_or_else(new), kept(of))
            });
            let items: Vec<Named> = items.collect();
            let links = note.links.iter().enumerate().map(|(at, of)| {
                let before = pair.links.iter().find(|(_, it)| it == of);
                let new = || fresh(&format!("{key}.link.{}", named(of, at)), &mut known);
                (before.map_or_else(new, |(id, _)| id.clone()), kept(of))
            });
            let links: Vec<Named> = links.collect();
            let linked: BTreeSet<&str> = links.iter().map(|(id, _)| id.as_str()).collect();
            let items_gone = pair.items.iter().filter(|(id, _)| !self.given.contains(id));
            let links_gone = pair.links.iter();
            let links_gone = links_gone.filter(|(id, _)| !linked.contains(id.as_str()));
            let gone = items_gone.chain(links_gone).map(|(id, _)| id.clone());
            let gone: Vec<String> = gone.collect();
            if !pair.is_claim || is_own {
                ids.ended.extend(gone.iter().cloned());
            }
            // Nothing that only a tree claimed was in it for this store.
            let gone = gone.into_iter().filter(|_| !pair.is_claim);
            ids.notes.push(NoteIds {
                note: key,
                items,
                links,
                gone: pair.gone.iter().cloned().chain(gone).collect(),
            });
        }
        for note in self.gone.iter().filter(|note| !note.is_over) {
            let all = note.items.iter().chain(&note.links).map(|(id, _)| id);
            let open = all.filter(|id| !self.given.contains(*id)).chain([&note.id]);
            ids.ended.extend(open.cloned());
        }
        ids
    }
}

type ByText<'a> = HashMap<&'a str, Vec<&'a str>>;

/// Lists ids by the digests of their texts, the first of each last.
fn by_text<'a>(items: impl Iterator<Item = &'a (String, String)>) -> ByText<'a> {
    let mut map = ByText::new();
    for (id, of) in items {
        map.entry(of).or_default().push(id);
    }
    map.values_mut().for_each(|ids| ids.reverse());
    map
}

/// Gives every item that has no id yet one that is left for its text.
fn take_all(
    left: &mut ByText<'_>,
    texts: &[String],
    ids: &mut [Option<String>],
    given: &mut BTreeSet<String>,
) {
    let items = texts.iter().zip(ids);
    for (of, slot) in items.filter(|(_, slot)| slot.is_none()) {
        *slot = take(left, of, given);
    }
}

fn take(left: &mut ByText<'_>, of: &str, given: &mut BTreeSet<String>) -> Option<String> {
    let ids = left.get_mut(of)?;
    while let Some(id) = ids.pop() {
        if given.insert(id.to_owned()) {
            return Some(id.to_owned());
        }
    }
    None
}

/// Returns a name that nothing has, and takes it.
fn fresh(name: &str, known: &mut BTreeSet<String>) -> String {
    let mut found = name.to_owned();
    let mut number = 2_u32;
    while !known.insert(found.clone()) {
        found = format!("{name}-{number}");
        number = number.saturating_add(1);
    }
    found
}
