//! A blocked Bloom filter over the address prefixes of a run.
//!
//! It has false positives and no false negatives.

/// A blocked Bloom filter: about 10 bits a key, no false negatives.
///
/// A look-up touches one group of 512 bits, which is one cache line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::index) struct Filter {
    groups: Vec<[u64; 8]>,
}

impl Filter {
    /// Returns a filter for up to `keys` keys.
    pub(in crate::index) fn with_keys(keys: u64) -> Self {
        let groups = usize::try_from(keys.saturating_mul(BITS_PER_KEY).div_ceil(512));
        Self {
            groups: vec![[0; 8]; groups.unwrap_or(1).max(1)],
        }
    }

    pub(in crate::index) fn insert(&mut self, prefix: u64) {
        let group = self.group_of(prefix);
        if let Some(group) = self.groups.get_mut(group) {
            for bit in bits_of(prefix) {
                if let Some(word) = group.get_mut(usize::from(bit >> 6)) {
                    *word |= 1 << (bit & 63);
                }
            }
        }
    }

    pub(in crate::index) fn may_contain(&self, prefix: u64) -> bool {
        let group = self.groups.get(self.group_of(prefix));
        let has = |bit: u16| {
            let word = group.and_then(|group| group.get(usize::from(bit >> 6)));
            word.is_some_and(|word| word >> (bit & 63) & 1 == 1)
        };
        bits_of(prefix).all(has)
    }

    pub(in crate::index) fn to_bytes(&self) -> Vec<u8> {
        let words = self.groups.iter().flatten();
        words.flat_map(|word| word.to_be_bytes()).collect()
    }

    /// Reads the bytes of [`Self::to_bytes`]; `None` for a length that it does not write.
    pub(in crate::index) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (groups, rest) = bytes.as_chunks::<64>();
        let group = |bytes: &[u8; 64]| {
            let mut group = [0; 8];
            for (word, bytes) in group.iter_mut().zip(bytes.as_chunks::<8>().0) {
                *word = u64::from_be_bytes(*bytes);
            }
            group
        };
        (rest.is_empty() && !groups.is_empty()).then(|| Self {
            groups: groups.iter().map(group).collect(),
        })
    }

    fn group_of(&self, prefix: u64) -> usize {
        let spread = (u128::from(prefix) * self.groups.len() as u128) >> 64;
        usize::try_from(spread).unwrap_or(0)
    }
}

/// Returns six bits of a group. The high bits of the prefix chose the group, so all are mixed.
fn bits_of(prefix: u64) -> impl Iterator<Item = u16> {
    let mixed = (prefix ^ (prefix >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (0..6).map(move |n| {
        let nine = (mixed >> (10 * n)) & 0x1ff;
        u16::try_from(nine).unwrap_or(0)
    })
}

const BITS_PER_KEY: u64 = 10;

#[cfg(test)]
mod tests {
    use super::Filter;

    #[test]
    fn a_filter_never_denies_what_it_holds_and_rarely_claims_more() {
        let key = |n: u64| {
            n.wrapping_add(1)
                .wrapping_mul(0xd134_2543_de82_ef95)
                .rotate_left(17)
        };
        let mut filter = Filter::with_keys(10_000);
        (0..10_000).for_each(|n| filter.insert(key(n)));
        let filter = Filter::from_bytes(&filter.to_bytes()).unwrap();
        assert!((0..10_000).all(|n| filter.may_contain(key(n))));
        let wrong = (10_000..60_000)
            .filter(|n| filter.may_contain(key(*n)))
            .count();
        assert!(wrong < 1_500, "{wrong} of 50,000");
        assert!(Filter::from_bytes(&[0; 63]).is_none());
    }
}
