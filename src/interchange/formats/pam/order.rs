//! A topological order that keeps the order of the file otherwise.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// Returns the numbers below `len` in an order in which every pair's first comes before its
/// second, and otherwise the smaller before the larger.
///
/// # Errors
/// The smallest number in a cycle, or behind one.
pub(super) fn order(len: usize, pairs: &[(usize, usize)]) -> Result<Vec<usize>, usize> {
    let mut pairs = pairs.to_vec();
    pairs.sort_unstable();
    // Most numbers are in no pair, and cost nothing here.
    let mut waits_for: HashMap<usize, usize> = HashMap::new();
    for (_, second) in &pairs {
        let count = waits_for.entry(*second).or_default();
        *count = count.saturating_add(1);
    }
    let mut ordered = Vec::with_capacity(len);
    let mut ready = BinaryHeap::new();
    let mut free = 0..len;
    let mut next = free.find(|number| !waits_for.contains_key(number));
    let mut later = waits_for.clone();
    loop {
        let number = match (next, ready.peek()) {
            (Some(number), Some(Reverse(least))) if *least < number => pop(&mut ready),
            (Some(number), _) => {
                next = free.find(|number| !waits_for.contains_key(number));
                Some(number)
            }
            (None, _) => pop(&mut ready),
        };
        let Some(number) = number else { break };
        ordered.push(number);
        let from = pairs.partition_point(|(first, _)| *first < number);
        let after = pairs.get(from..).unwrap_or_default().iter();
        for (_, second) in after.take_while(|(first, _)| *first == number) {
            if let Some(count) = later.get_mut(second) {
                *count = count.saturating_sub(1);
                if *count == 0 {
                    ready.push(Reverse(*second));
                }
            }
        }
    }
    let stuck = later.iter().filter(|(_, count)| **count > 0);
    match stuck.map(|(number, _)| *number).min() {
        Some(stuck) => Err(stuck),
        None => Ok(ordered),
    }
}

fn pop(ready: &mut BinaryHeap<Reverse<usize>>) -> Option<usize> {
    ready.pop().map(|Reverse(number)| number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_must_come_first_does_and_the_rest_keeps_its_order() {
        assert_eq!(order(4, &[]), Ok(vec![0, 1, 2, 3]));
        assert_eq!(order(4, &[(3, 0), (2, 0)]), Ok(vec![1, 2, 3, 0]));
        assert_eq!(order(3, &[(1, 1)]), Err(1));
        assert_eq!(order(4, &[(3, 1), (1, 3), (0, 2)]), Err(1));
    }

    proptest::proptest! {
        #[test]
        fn the_smallest_that_may_come_always_comes_next(
            pairs in proptest::collection::vec((0_usize..12, 0_usize..12), 0..12),
        ) {
            let mut left: Vec<usize> = (0..12).collect();
            let mut ordered = Vec::new();
            let is_free = |number: usize, left: &[usize]| {
                pairs.iter().all(|(first, second)| *second != number || !left.contains(first))
            };
            while let Some(at) = left.iter().position(|number| is_free(*number, &left)) {
                ordered.push(left.remove(at));
            }
            let expected = match left.first() {
                Some(stuck) => Err(*stuck),
                None => Ok(ordered),
            };
            proptest::prop_assert_eq!(order(12, &pairs), expected);
        }
    }
}
