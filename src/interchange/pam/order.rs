use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Returns the numbers below `len` in an order in which every pair's first comes before its
/// second, and otherwise the smaller before the larger.
///
/// # Errors
/// The smallest number that has no place because it comes before itself, or after one that does.
pub(super) fn order(len: usize, pairs: &[(usize, usize)]) -> Result<Vec<usize>, usize> {
    let mut after = vec![Vec::new(); len];
    let mut waits_for = vec![0_usize; len];
    for (first, second) in pairs {
        if let (Some(list), Some(count)) = (after.get_mut(*first), waits_for.get_mut(*second)) {
            list.push(*second);
            *count = count.saturating_add(1);
        }
    }
    let free = waits_for
        .iter()
        .enumerate()
        .filter(|(_, count)| **count == 0);
    let mut ready: BinaryHeap<_> = free.map(|(index, _)| Reverse(index)).collect();
    let mut ordered = Vec::with_capacity(len);
    while let Some(Reverse(index)) = ready.pop() {
        ordered.push(index);
        for second in after.get(index).into_iter().flatten() {
            if let Some(count) = waits_for.get_mut(*second) {
                *count = count.saturating_sub(1);
                if *count == 0 {
                    ready.push(Reverse(*second));
                }
            }
        }
    }
    match waits_for.iter().position(|count| *count > 0) {
        Some(stuck) => Err(stuck),
        None => Ok(ordered),
    }
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
}
