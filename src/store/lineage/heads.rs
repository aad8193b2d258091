//! The heads of a lineage: the one in force, and those of forks that imports brought (ruling I17).

use std::collections::BTreeSet;

use crate::codec::ContentAddress;
use crate::policy::Rule;
use crate::store::view::choose;
use crate::store::{Error, Owner};

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

/// See [`Admin::heads`](crate::Admin::heads).
pub(crate) fn heads(owner: Owner<'_>, address: &ContentAddress) -> Result<Heads, Error> {
    owner.authorize_whole()?;
    let engine = owner.engine();
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
