//! Inclusion and consistency proofs of RFC 9162, 2.1.3 and 2.1.4: made from the roots of ranges of
//! leaves, and checked without the leaves.
//!
//! Pure: the leaves, and the nodes that are kept, belong to [`super::history`].

use std::ops::Range;

use super::tree::node;

type Hash = [u8; 32];

/// Returns the hashes that prove entry `index` of the first `size` entries, the lowest first
/// (RFC 9162, 2.1.3.1). `index` is below `size`.
///
/// # Errors
/// As `root_of`, which returns the root over a range of leaves.
pub(crate) fn inclusion_path<E>(
    index: u64,
    size: u64,
    root_of: &mut dyn FnMut(Range<u64>) -> Result<Hash, E>,
) -> Result<Vec<Hash>, E> {
    let mut path = Vec::new();
    let mut range = 0..size;
    while let Some(middle) = split(&range) {
        let other = if index < middle {
            let right = middle..range.end;
            range.end = middle;
            right
        } else {
            let left = range.start..middle;
            range.start = middle;
            left
        };
        path.push(root_of(other)?);
    }
    path.reverse();
    Ok(path)
}

/// Returns the hashes that prove that the tree of the first `first` entries is a beginning of that
/// of the first `second` (RFC 9162, 2.1.4.1). `first` is from 1 to `second`.
///
/// # Errors
/// As `root_of`, which returns the root over a range of leaves.
pub(crate) fn consistency_path<E>(
    first: u64,
    second: u64,
    root_of: &mut dyn FnMut(Range<u64>) -> Result<Hash, E>,
) -> Result<Vec<Hash>, E> {
    let mut path = Vec::new();
    let mut range = 0..second;
    while range.end > first {
        let Some(middle) = split(&range) else { break };
        let other = if first <= middle {
            let right = middle..range.end;
            range.end = middle;
            right
        } else {
            let left = range.start..middle;
            range.start = middle;
            left
        };
        path.push(root_of(other)?);
    }
    // The verifier knows the root of the first tree where it is a subtree of the second.
    if range.start > 0 {
        path.push(root_of(range)?);
    }
    path.reverse();
    Ok(path)
}

/// Returns whether a path proves that `leaf` is entry `index` of the `size` entries under `root`
/// (RFC 9162, 2.1.3.2).
pub fn verify_inclusion(index: u64, size: u64, leaf: &Hash, path: &[Hash], root: &Hash) -> bool {
    if index >= size {
        return false;
    }
    let (mut at, mut last, mut found) = (index, size - 1, *leaf);
    for sibling in path {
        if last == 0 {
            return false;
        }
        if at & 1 == 1 || at == last {
            found = node(sibling, &found);
            while at & 1 == 0 && at != 0 {
                at >>= 1;
                last >>= 1;
            }
        } else {
            found = node(&found, sibling);
        }
        at >>= 1;
        last >>= 1;
    }
    last == 0 && found == *root
}

/// Returns whether a path proves that the `first` entries under `first_root` begin the `second`
/// entries under `second_root` (RFC 9162, 2.1.4.2). Nothing is proven about no entries: a `first` of
/// 0 is false.
pub fn verify_consistency(
    first: u64,
    second: u64,
    first_root: &Hash,
    second_root: &Hash,
    path: &[Hash],
) -> bool {
    if first == 0 || first > second {
        return false;
    }
    if first == second {
        return path.is_empty() && first_root == second_root;
    }
    let (start, rest) = match path.split_first() {
        // The first tree is a subtree of the second, and its root stands for itself.
        _ if first.is_power_of_two() => (*first_root, path),
        Some((start, rest)) => (*start, rest),
        None => return false,
    };
    let shift = (first - 1).trailing_ones();
    let (mut at, mut last) = ((first - 1) >> shift, (second - 1) >> shift);
    let (mut older, mut newer) = (start, start);
    for sibling in rest {
        if last == 0 {
            return false;
        }
        if at & 1 == 1 || at == last {
            older = node(sibling, &older);
            newer = node(sibling, &newer);
            while at & 1 == 0 && at != 0 {
                at >>= 1;
                last >>= 1;
            }
        } else {
            newer = node(&newer, sibling);
        }
        at >>= 1;
        last >>= 1;
    }
    last == 0 && older == *first_root && newer == *second_root
}

/// Returns where the tree over a range divides: behind the largest power of two below its length.
/// `None` for a single leaf.
pub(super) fn split(range: &Range<u64>) -> Option<u64> {
    let len = range.end.saturating_sub(range.start);
    let highest = len.checked_sub(1)?.checked_ilog2()?;
    Some(range.start + (1 << highest))
}

#[cfg(test)]
#[expect(clippy::indexing_slicing, reason = "a test fails by panicking")]
mod tests {
    use std::cell::RefCell;
    use std::collections::HashMap;
    use std::convert::Infallible;

    use sha2::{Digest, Sha256};

    use super::*;

    fn leaves(count: u64) -> Vec<Hash> {
        let leaf = |n: u64| Sha256::digest(n.to_be_bytes()).into();
        (0..count).map(leaf).collect()
    }

    /// The definitions of RFC 9162 to the letter; roots are computed once.
    struct Naive {
        leaves: Vec<Hash>,
        roots: RefCell<HashMap<Range<usize>, Hash>>,
    }

    impl Naive {
        /// MTH of RFC 9162, 2.1.1, of a range that is not empty.
        fn root(&self, of: Range<usize>) -> Hash {
            if let Some(known) = self.roots.borrow().get(&of) {
                return *known;
            }
            let root = match of.len() {
                1 => self.leaves[of.start],
                len => {
                    let k = of.start + len.next_power_of_two() / 2;
                    node(&self.root(of.start..k), &self.root(k..of.end))
                }
            };
            self.roots.borrow_mut().insert(of, root);
            root
        }

        /// PATH of RFC 9162, 2.1.3.1.
        fn path(&self, index: usize, of: Range<usize>) -> Vec<Hash> {
            if of.len() == 1 {
                return Vec::new();
            }
            let k = of.start + of.len().next_power_of_two() / 2;
            let (mut path, other) = match index < k {
                true => (self.path(index, of.start..k), k..of.end),
                false => (self.path(index, k..of.end), of.start..k),
            };
            path.push(self.root(other));
            path
        }

        /// SUBPROOF of RFC 9162, 2.1.4.1, where `first` leaves are old.
        fn subproof(&self, first: usize, of: Range<usize>, is_whole: bool) -> Vec<Hash> {
            if first == of.len() {
                return match is_whole {
                    true => Vec::new(),
                    false => vec![self.root(of)],
                };
            }
            let half = of.len().next_power_of_two() / 2;
            let k = of.start + half;
            let (mut path, other) = match first <= half {
                true => (self.subproof(first, of.start..k, is_whole), k..of.end),
                false => (self.subproof(first - half, k..of.end, false), of.start..k),
            };
            path.push(self.root(other));
            path
        }
    }

    /// The nodes of complete subtrees by level, so that a thousand trees take no minute.
    struct Nodes(Vec<Vec<Hash>>);

    impl Nodes {
        fn new(leaves: Vec<Hash>) -> Self {
            let mut levels = vec![leaves];
            while levels[levels.len() - 1].len() > 1 {
                let below = &levels[levels.len() - 1];
                let pairs = below.as_chunks::<2>().0.iter();
                levels.push(pairs.map(|[left, right]| node(left, right)).collect());
            }
            Self(levels)
        }

        fn root_of(&self, range: Range<u64>) -> Hash {
            let len = range.end - range.start;
            if len.is_power_of_two() && range.start.is_multiple_of(len) {
                let level = usize::try_from(len.ilog2()).unwrap();
                return self.0[level][usize::try_from(range.start / len).unwrap()];
            }
            let middle = split(&range).unwrap();
            let left = self.root_of(range.start..middle);
            node(&left, &self.root_of(middle..range.end))
        }

        fn inclusion(&self, index: u64, size: u64) -> Vec<Hash> {
            let mut root_of = |range| Ok::<_, Infallible>(self.root_of(range));
            inclusion_path(index, size, &mut root_of).unwrap()
        }

        fn consistency(&self, first: u64, second: u64) -> Vec<Hash> {
            let mut root_of = |range| Ok::<_, Infallible>(self.root_of(range));
            consistency_path(first, second, &mut root_of).unwrap()
        }
    }

    /// All 524,800 pairs where `GRAINSTORE_TIMES` asks for them; else every size with some others.
    #[test]
    fn in_trees_of_1_to_1024_leaves_every_proof_is_that_of_the_definition_and_verifies() {
        let all = leaves(1024);
        let nodes = Nodes::new(all.clone());
        let naive = Naive {
            leaves: all.clone(),
            roots: RefCell::default(),
        };
        let roots: Vec<_> = (1..=1024).map(|size| naive.root(0..size)).collect();
        let is_full = std::env::var_os("GRAINSTORE_TIMES").is_some();
        let step = if is_full { 1 } else { 41 };
        for n in 1..=1024_usize {
            let others = (1..=n).filter(|other| {
                n <= 70 || (n + other) % step == 0 || other.is_power_of_two() || *other >= n - 1
            });
            for m in others {
                let (other, size) = (m as u64, n as u64);
                let path = nodes.consistency(other, size);
                assert_eq!(path, naive.subproof(m, 0..n, true), "{m} of {n}");
                assert!(verify_consistency(
                    other,
                    size,
                    &roots[m - 1],
                    &roots[n - 1],
                    &path
                ));
                let (index, leaf) = (other - 1, &all[m - 1]);
                let path = nodes.inclusion(index, size);
                assert_eq!(path, naive.path(m - 1, 0..n), "{index} of {n}");
                assert!(verify_inclusion(index, size, leaf, &path, &roots[n - 1]));
                assert!(!verify_inclusion(
                    index ^ 1,
                    size,
                    leaf,
                    &path,
                    &roots[n - 1]
                ));
            }
        }
    }

    #[test]
    fn a_proof_with_one_bit_flipped_proves_nothing() {
        let all = leaves(21);
        let nodes = Nodes::new(all.clone());
        for size in [1_u64, 2, 7, 8, 13, 21] {
            for other in 1..=size {
                let (old, new) = (nodes.root_of(0..other), nodes.root_of(0..size));
                let path = nodes.consistency(other, size);
                for bit in 0..path.len() * 256 {
                    let path = flipped(&path, bit);
                    assert!(!verify_consistency(other, size, &old, &new, &path));
                }
                let leaf = all[usize::try_from(other - 1).unwrap()];
                let path = nodes.inclusion(other - 1, size);
                for bit in 0..path.len() * 256 {
                    let path = flipped(&path, bit);
                    assert!(!verify_inclusion(other - 1, size, &leaf, &path, &new));
                }
                for bit in 0..256 {
                    let [leaf] = flipped(&[leaf], bit)[..] else {
                        continue;
                    };
                    assert!(!verify_inclusion(other - 1, size, &leaf, &path, &new));
                }
            }
        }
    }

    fn flipped(path: &[Hash], bit: usize) -> Vec<Hash> {
        let mut path = path.to_vec();
        path[bit / 256][bit % 256 / 8] ^= 1 << (bit % 8);
        path
    }
}
