//! The keys of grains as the peers store them: the same families as the store's index.

use std::collections::HashMap;

use grainstore::codec::Value;
use grainstore::store::{Clock, SystemClock};
use grainstore::{ContentAddress, Grain};

/// The families whose keys are two parts of a statement and a row: those of subject, relation and object
/// with these places.
pub const PAIRS: [(&str, [usize; 2]); 3] = [("sp", [0, 1]), ("po", [1, 2]), ("os", [2, 0])];

/// The families whose keys are one value and a row.
pub const SINGLES: [&str; 10] = [
    "type",
    "namespace",
    "created_at",
    "valid_time",
    "system_time",
    "session",
    "run",
    "user",
    "tag",
    "derived_from",
];

/// The place of `created_at` among [`SINGLES`].
pub const CREATED_AT: usize = 2;

/// The keys of a batch.
#[derive(Debug, Default)]
pub struct Keys {
    /// The first eight bytes of each address, and the row.
    pub addresses: Vec<(u64, u64)>,
    /// By family: two terms and the row.
    pub pairs: [Vec<[u64; 3]>; 3],
    /// By family: the value and the row.
    pub singles: [Vec<(u64, u64)>; 10],
}

impl Keys {
    /// Takes the keys of a batch whose first grain gets the row `first`, each family sorted.
    pub fn of(first: u64, grains: &[Grain], terms: &mut Terms) -> Self {
        let mut keys = Self::default();
        let now_ms = SystemClock.now().ms();
        for (row, grain) in (first..).zip(grains) {
            keys.add(row, grain, now_ms, terms);
        }
        keys.sort();
        keys
    }

    /// Adds the keys of a grain. Times are milliseconds, none before 1970.
    fn add(&mut self, row: u64, grain: &Grain, now_ms: i64, terms: &mut Terms) {
        let mut term = |text: &str| terms.id(text);
        self.addresses.push((prefix_of(&grain.address()), row));
        let parts =
            ["subject", "relation", "object"].map(|name| grain.text(name).map_or(0, &mut term));
        for ((_, places), keys) in PAIRS.iter().zip(&mut self.pairs) {
            let [a, b] = places.map(|place| parts[place]);
            keys.push([a, b, row]);
        }
        let [
            type_,
            namespace,
            created,
            valid,
            system,
            session,
            run,
            user,
            tag,
            derived,
        ] = &mut self.singles;
        type_.push((u64::from(grain.type_().byte()), row));
        let whole = grain.text("namespace");
        let ancestors = std::iter::successors(whole, |inner| {
            inner.rsplit_once(':').map(|(outer, _)| outer)
        });
        namespace.extend(ancestors.map(|ancestor| (term(ancestor), row)));
        let ms = |time: i64| time.max(0).cast_unsigned();
        created.push((ms(grain.created_at().ms()), row));
        let valid_from = grain.field("valid_from").and_then(Value::as_i64);
        valid.extend(valid_from.map(|time| (ms(time), row)));
        system.push((ms(now_ms), row));
        session.extend(grain.text("session_id").map(|text| (term(text), row)));
        run.extend(grain.text("run_id").map(|text| (term(text), row)));
        user.extend(grain.text("user_id").map(|text| (term(text), row)));
        let tags = grain
            .field("structural_tags")
            .into_iter()
            .flat_map(Value::texts);
        tag.extend(tags.map(|text| (term(text), row)));
        derived.extend(grain.derived_from().map(|source| (prefix_of(&source), row)));
    }

    /// Trees are written in their order, page by page.
    fn sort(&mut self) {
        self.addresses.sort_unstable();
        self.pairs.iter_mut().for_each(|keys| keys.sort_unstable());
        let singles = self.singles.iter_mut();
        singles.for_each(|keys| keys.sort_unstable());
    }
}

/// The numbers of texts. Those given out are kept in memory: a writer looks nothing up.
#[derive(Debug, Default)]
pub struct Terms {
    ids: HashMap<String, u64>,
    new: Vec<(String, u64)>,
}

impl Terms {
    /// Returns the number of a text, a new one if it has none.
    pub fn id(&mut self, text: &str) -> u64 {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        let id = self.ids.len() as u64 + 1;
        self.ids.insert(text.to_owned(), id);
        self.new.push((text.to_owned(), id));
        id
    }

    /// Returns what is to be written since the last time, sorted.
    pub fn take_new(&mut self) -> Vec<(String, u64)> {
        let mut new = std::mem::take(&mut self.new);
        new.sort_unstable();
        new
    }
}

/// Returns the first eight bytes of an address.
pub fn prefix_of(address: &ContentAddress) -> u64 {
    let first = address.as_bytes().first_chunk().copied();
    u64::from_be_bytes(first.unwrap_or_default())
}

/// Returns the places, among [`PAIRS`], of the families that answer a question about a statement, each
/// with the bound places of a statement in its order. Of all three parts two families say it.
pub const fn families_of(bound: [bool; 3]) -> &'static [(usize, &'static [usize])] {
    match bound {
        [true, true, true] => &[(2, &[2, 0]), (0, &[0, 1])],
        [true, true, false] => &[(0, &[0, 1])],
        [true, false, true] => &[(2, &[2, 0])],
        [true, false, false] | [false, false, false] => &[(0, &[0])],
        [false, true, true] => &[(1, &[1, 2])],
        [false, true, false] => &[(1, &[1])],
        [false, false, true] => &[(2, &[2])],
    }
}

/// Returns two terms and a row, five bytes each, in their order.
pub fn pair_key(parts: &[u64; 3]) -> [u8; 15] {
    let mut key = [0; 15];
    for (place, part) in key.chunks_exact_mut(5).zip(parts) {
        place.copy_from_slice(&row40(*part));
    }
    key
}

/// Returns a value and a row in their order.
pub fn single_key(value: u64, row: u64) -> [u8; 13] {
    let mut key = [0; 13];
    key[..8].copy_from_slice(&value.to_be_bytes());
    key[8..].copy_from_slice(&row40(row));
    key
}

/// Returns a row as five bytes in the order of rows.
pub fn row40(row: u64) -> [u8; 5] {
    let [_, _, _, bytes @ ..] = row.to_be_bytes();
    bytes
}

/// Returns the row that a key ends with.
pub fn row_at_end(key: &[u8]) -> u64 {
    let bytes = key.last_chunk::<5>().copied().unwrap_or_default();
    bytes
        .iter()
        .fold(0, |row, byte| row << 8 | u64::from(*byte))
}
