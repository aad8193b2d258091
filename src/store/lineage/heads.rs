//! The heads of a lineage: the one in force, and those of forks that imports brought (ruling I17).

use std::collections::BTreeSet;

use crate::codec::ContentAddress;
use crate::policy::Rule;
use crate::store::view::choose;
use crate::store::{Admin, Error};

/// The heads of a lineage (ruling I17).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heads {
    /// The head in force.
    pub winner: ContentAddress,
    /// The other heads, which imports brought: they are kept and are not in force.
    pub others: Vec<Fork>,
}

/// A head of a lineage that is not in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fork {
    /// The grain.
    pub address: ContentAddress,
    /// The grain at which its branch leaves that of the head in force.
    pub of: ContentAddress,
    /// The rule that denies its branch; `None` if another branch takes precedence.
    pub denied: Option<Rule>,
}

impl Admin<'_> {
    /// Returns the heads of the lineage that a grain belongs to: the one in force, and those of
    /// forks that imports brought.
    ///
    /// A supersession made in this store takes precedence over one from an import. Among imports it
    /// is the newest by `created_at`, then by address, whose supersession policy would have
    /// permitted. The same grains give the same answer, in any order of arrival.
    ///
    /// ```
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// let tea = store.put(Draft::belief("user", "likes", "tea").confidence(0.9))?;
    /// let milk = Draft::belief("user", "likes", "milk").confidence(0.9).derived_from(tea);
    /// let milk = store.supersede(&tea, milk, None)?;
    /// let heads = store.admin()?.heads(&tea)?;
    /// assert_eq!((heads.winner, heads.others.len()), (milk, 0));
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`, `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn heads(self, address: &ContentAddress) -> Result<Heads, Error> {
        self.authorize_whole()?;
        let engine = self.engine();
        let snapshot = engine.snapshot();
        let row = engine.as_of(&snapshot).row_of(address)?;
        let mut at = engine
            .as_of(&snapshot)
            .beginning(engine.as_of(&snapshot).version_at(row)?)?;
        let mut others = Vec::new();
        let mut seen = BTreeSet::from([at.grain.address()]);
        loop {
            let mut claims = engine.as_of(&snapshot).claims(&at)?;
            claims.retain(|claim| !seen.contains(&claim.version.grain.address()));
            let chosen = choose(&at, &claims).map(|chosen| claims.remove(chosen));
            for claim in claims {
                let denied = claim.denied;
                for address in engine.as_of(&snapshot).ends(claim.version, &mut seen)? {
                    others.push(Fork {
                        address,
                        of: at.grain.address(),
                        denied,
                    });
                }
            }
            match chosen {
                Some(next) => at = next.version,
                None => break,
            }
            seen.insert(at.grain.address());
        }
        others.sort_unstable_by_key(|fork| fork.address);
        Ok(Heads {
            winner: at.grain.address(),
            others,
        })
    }
}
