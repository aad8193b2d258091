//! Names in place of identifiers: what a prompt says instead of DIDs and hashes.
//!
//! Only what the filter shows is read for a name.

use std::collections::BTreeMap;

use crate::codec::Value;
use crate::grain::{Grain, HAS_CAPABILITY, OWNED_BY};
use crate::index::{Pattern, RowSet, Snapshot};
use crate::ledger::EntryId;
use crate::query::Error;
use crate::render::{HASH_LEN, has_identifiers, is_of_identifier};
use crate::store::Access;
use crate::store::read::{may_rely_on, version_at};

/// The names of DIDs, looked up once in a recall.
pub(super) struct Names<'a> {
    store: &'a Access,
    snapshot: &'a Snapshot,
    rows: &'a RowSet,
    known: BTreeMap<String, String>,
}

impl<'a> Names<'a> {
    pub(super) const fn new(store: &'a Access, snapshot: &'a Snapshot, rows: &'a RowSet) -> Self {
        Self {
            store,
            snapshot,
            rows,
            known: BTreeMap::new(),
        }
    }

    /// Returns a text with names for DIDs, and the first digits of hashes.
    pub(super) fn applied(&mut self, text: String) -> Result<String, Error> {
        if !has_identifiers(&text) {
            return Ok(text);
        }
        let mut named = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some(from) = rest.find(is_of_identifier) {
            let (before, token) = rest.split_at(from);
            named.push_str(before);
            let end = token.find(|c| !is_of_identifier(c));
            let (token, after) = token.split_at(end.unwrap_or(token.len()));
            let identifier = token.trim_end_matches(['.', ':', '-', '_', '%']);
            if is_did(identifier) {
                named.push_str(&self.name_of(identifier)?);
                named.push_str(token.get(identifier.len()..).unwrap_or_default());
            } else if let Some(digits) = hash_digits(identifier) {
                named.push_str(digits);
                named.push('…');
            } else {
                named.push_str(token);
            }
            rest = after;
        }
        named.push_str(rest);
        Ok(named)
    }

    fn name_of(&mut self, did: &str) -> Result<String, Error> {
        if let Some(name) = self.known.get(did) {
            return Ok(name.clone());
        }
        let stated = match self.stated_of(did)? {
            Some(name) => Some(name),
            None => self.owner_name(did)?,
        };
        let name = stated.unwrap_or_else(|| of_did(did));
        self.known.insert(did.to_owned(), name.clone());
        Ok(name)
    }

    /// Returns the name that a belief about a DID states.
    fn stated_of(&self, did: &str) -> Result<Option<String>, Error> {
        let pattern = Pattern {
            subject: Some(did),
            ..Pattern::default()
        };
        self.first_of(&pattern, |grain| {
            let relation = grain.text("relation")?;
            let object = grain.field("object")?;
            if relation == HAS_CAPABILITY {
                return object.as_map()?.get("name")?.as_text();
            }
            let relation = relation.strip_prefix("mg:").unwrap_or(relation);
            object.as_text().filter(|_| NAMING.contains(&relation))
        })
    }

    /// Returns the name of the owner of an agent who has a DID (OMS 12.5.1).
    fn owner_name(&self, did: &str) -> Result<Option<String>, Error> {
        let pattern = Pattern {
            relation: Some(OWNED_BY),
            ..Pattern::default()
        };
        self.first_of(&pattern, |grain| {
            let owner = grain.field("owner")?.as_map()?;
            let is_of = owner.get("did").and_then(Value::as_text) == Some(did);
            owner.get("name").and_then(Value::as_text).filter(|_| is_of)
        })
    }

    /// Returns the first name among the grains of a pattern that may be shown.
    fn first_of(
        &self,
        pattern: &Pattern<'_>,
        name: impl Fn(&Grain) -> Option<&str>,
    ) -> Result<Option<String>, Error> {
        let mut rows: Vec<EntryId> = Vec::new();
        for row in self.snapshot.triples(pattern).take(LOOKED_AT) {
            rows.extend(Some(row?).filter(|row| self.rows.contains(*row)));
        }
        for row in rows {
            let grain = &version_at(self.store, self.snapshot, row)?.grain;
            let named = name(grain)
                .map(str::trim)
                .filter(|name| !name.is_empty() && name.len() <= NAME_LEN_MAX && !is_did(name));
            if let Some(name) = named
                && self.store.sees(self.snapshot, grain)?
                && may_rely_on(self.store, grain)?
            {
                return Ok(Some(name.to_owned()));
            }
        }
        Ok(None)
    }
}

/// Returns a name for a DID of which nothing is known: the last part of a domain's, and of a key
/// its last digits.
fn of_did(did: &str) -> String {
    let last = did.rsplit(':').next().unwrap_or(did);
    if did.starts_with("did:web:") {
        return last.to_owned();
    }
    let skipped = last.chars().count().saturating_sub(DIGITS);
    format!(
        "unnamed …{}",
        last.chars().skip(skipped).collect::<String>()
    )
}

fn is_did(text: &str) -> bool {
    let mut parts = text.splitn(3, ':');
    let method = |method: &str| {
        let mut bytes = method.bytes();
        !method.is_empty() && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    parts.next() == Some("did")
        && parts.next().is_some_and(method)
        && parts.next().is_some_and(|id| !id.is_empty())
}

/// Returns the first digits of a hash.
fn hash_digits(text: &str) -> Option<&str> {
    let digits = text.strip_prefix("sha256:").unwrap_or(text);
    let is_hash = digits.len() >= HASH_LEN && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    digits.get(..8).filter(|_| is_hash)
}

/// Relations whose object is the name of their subject.
const NAMING: [&str; 5] = ["name", "has_name", "full_name", "display_name", "is_called"];

/// How many grains are looked at for a name.
const LOOKED_AT: usize = 64;

const NAME_LEN_MAX: usize = 80;

const DIGITS: usize = 4;
