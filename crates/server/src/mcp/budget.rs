//! The size of answers: what fits a number of tokens, and what was left out.

use std::borrow::Cow;

use grainstore::render::tokens;

/// The tokens that an answer may still take, by [`tokens`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    left: usize,
    is_untouched: bool,
}

impl Budget {
    pub(super) const DEFAULT: usize = 2_000;
    pub(super) const MIN: usize = 100;
    pub(super) const MAX: usize = 20_000;

    /// Returns the budget that a client asked for, within the bounds.
    pub(super) fn of(asked: Option<u64>) -> Self {
        let asked = asked.and_then(|asked| usize::try_from(asked).ok());
        let left = asked.unwrap_or(Self::DEFAULT).clamp(Self::MIN, Self::MAX);
        Self {
            left,
            is_untouched: true,
        }
    }

    pub(super) const fn left(&self) -> usize {
        self.left
    }

    /// Takes the cost of an item that stands in the answer as a line and as JSON, which cost about
    /// the same; returns whether it fits. The first item always does: its text is shortened.
    pub(super) fn take(&mut self, cost: usize) -> bool {
        let fits = cost <= self.left || self.is_untouched;
        if fits {
            self.left = self.left.saturating_sub(cost);
            self.is_untouched = false;
        }
        fits
    }
}

/// Returns as much of the beginning of a text as fits, and how many characters are missing.
pub(super) fn shortened(text: &str, limit: usize) -> (Cow<'_, str>, usize) {
    if tokens(text) <= limit {
        return (Cow::Borrowed(text), 0);
    }
    let (mut ascii, mut others) = (0_usize, 0_usize);
    let end = text.char_indices().find(|(_, c)| {
        if c.is_ascii() {
            ascii += 1;
        } else {
            others += 1;
        }
        ascii.div_ceil(4) + others > limit
    });
    let end = end.map_or(text.len(), |(at, _)| at);
    let (kept, rest) = text.split_at(end);
    (Cow::Owned(format!("{kept}…")), rest.chars().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters_and_the_rest_is_counted() {
        assert_eq!(shortened("green tea", 3), (Cow::Borrowed("green tea"), 0));
        assert_eq!(
            shortened("green tea", 1),
            (Cow::from("gree…".to_owned()), 5)
        );
        assert_eq!(shortened("緑茶だ", 2), (Cow::from("緑茶…".to_owned()), 1));
    }

    #[test]
    fn only_the_first_item_may_exceed_the_budget() {
        let mut budget = Budget::of(Some(1));
        assert_eq!(budget.left(), Budget::MIN);
        assert!(budget.take(Budget::MIN + 1));
        assert!(!budget.take(1));
        assert!(budget.take(0));
    }
}
