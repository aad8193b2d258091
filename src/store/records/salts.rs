//! The salts of entries: random, each used once. One call to the system draws many.

use std::fmt;
use std::mem;

use crate::crypto::{self, Random};
use crate::ledger::Binding;
use crate::process::ProcessId;

/// Draws all salts in one call, since each call to the system is expensive.
///
/// # Errors
/// `ERR_NO_RANDOMNESS`.
pub(crate) fn draw_salts(
    random: &dyn Random,
    count: usize,
) -> Result<Vec<[u8; Binding::SALT_LEN]>, crypto::Error> {
    let mut salts = vec![[0; Binding::SALT_LEN]; count];
    if count > 0 {
        random.fill(salts.as_flattened_mut())?;
    }
    Ok(salts)
}

/// Salts that were drawn and not used yet.
#[derive(Default)]
pub(crate) struct DrawnSalts {
    salts: Vec<[u8; Binding::SALT_LEN]>,
    /// A child that was forked has the same, and must not use them: the salt of a grain that one of
    /// the two keeps would open the commitment to one that the other erased.
    by: Option<ProcessId>,
}

impl DrawnSalts {
    /// How many are drawn at once.
    pub(crate) const BLOCK: usize = 64;

    /// Returns a salt for an entry that a process writes.
    ///
    /// # Errors
    /// `ERR_NO_RANDOMNESS`.
    pub(crate) fn next(
        &mut self,
        random: &dyn Random,
        by: ProcessId,
    ) -> Result<[u8; Binding::SALT_LEN], crypto::Error> {
        if self.by != Some(by) {
            self.salts.clear();
            self.by = Some(by);
        }
        if self.salts.is_empty() {
            self.salts = draw_salts(random, Self::BLOCK)?;
        }
        // Nothing here remembers the salt of an entry that is erased later.
        let salt = self.salts.last_mut().map(mem::take);
        self.salts.pop();
        Ok(salt.unwrap_or_default())
    }
}

impl fmt::Debug for DrawnSalts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DrawnSalts")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::crypto::OsRandom;

    use super::*;

    #[test]
    fn no_salt_is_given_twice_and_none_to_a_child_that_was_forked() {
        let parent = ProcessId::current();
        let mut drawn = DrawnSalts::default();
        let mut next = |by| drawn.next(&OsRandom, by).unwrap();
        let mut seen: BTreeSet<_> = (0..100).map(|_| next(parent)).collect();
        // The child has the parent's memory, and the parent goes on with it.
        let mut of_child = DrawnSalts {
            salts: drawn.salts.clone(),
            by: drawn.by,
        };
        let mut next = |by| of_child.next(&OsRandom, by).unwrap();
        seen.extend((0..100).map(|_| next(ProcessId::of_child())));
        seen.extend((0..100).map(|_| drawn.next(&OsRandom, parent).unwrap()));
        assert_eq!(seen.len(), 300);
        assert!(!seen.contains(&[0; Binding::SALT_LEN]));
    }
}
