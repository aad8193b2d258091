//! The checksum of a store: over its memories, sorted by id, as RFC 8785 writes them (PAM 15).

use sha2::{Digest, Sha256};

use crate::codec::Value;
use crate::interchange::io::source_file::SourceFile;
use crate::interchange::json::{JsonError, read_in_order};

/// The ids of the memories of a file, in one text.
#[derive(Default)]
pub(super) struct Ids {
    text: String,
    ends: Vec<usize>,
}

impl Ids {
    pub(super) fn push(&mut self, id: &str) {
        self.text.push_str(id);
        self.ends.push(self.text.len());
    }

    fn get(&self, number: usize) -> &str {
        let start = number
            .checked_sub(1)
            .and_then(|before| self.ends.get(before));
        let range =
            start.copied().unwrap_or_default()..self.ends.get(number).copied().unwrap_or_default();
        self.text.get(range).unwrap_or_default()
    }

    /// Returns the numbers of the memories in the order of the code points of their ids.
    pub(super) fn sorted(&self) -> Vec<usize> {
        let mut numbers: Vec<usize> = (0..self.ends.len()).collect();
        numbers.sort_unstable_by_key(|number| (self.get(*number), *number));
        numbers
    }
}

/// Returns the checksum of the memories of a file, which begin at `starts`.
pub(super) fn of_file(part: &SourceFile, starts: &[u64], ids: Ids) -> Result<String, JsonError> {
    let mut sum = Sum::new();
    let order = ids.sorted();
    // The ids are large, and not needed any more.
    drop(ids);
    let make = |value: Value, _| value.to_jcs();
    read_in_order(part, starts, order.into_iter(), make, |canonical| {
        sum.add(&canonical);
        true
    })?;
    Ok(sum.finish())
}

/// Returns the id that a memory is sorted by; empty if it has none.
pub(super) fn id_of(memory: &Value) -> &str {
    let id = memory.as_map().and_then(|map| map.get("id")?.as_text());
    id.unwrap_or_default()
}

/// The hash of an array, element by element.
pub(super) struct Sum {
    hash: Sha256,
    separator: &'static [u8],
}

impl Sum {
    pub(super) fn new() -> Self {
        let hash = Sha256::new_with_prefix(b"[");
        Self {
            hash,
            separator: b"",
        }
    }

    pub(super) fn add(&mut self, canonical: &[u8]) {
        self.hash.update(self.separator);
        self.hash.update(canonical);
        self.separator = b",";
    }

    pub(super) fn finish(mut self) -> String {
        self.hash.update(b"]");
        let digest = data_encoding::HEXLOWER.encode(&self.hash.finalize());
        format!("sha256:{digest}")
    }
}
