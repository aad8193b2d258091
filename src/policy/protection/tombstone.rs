//! The rule that a protection leaves behind when its grain is erased: no text of the grain is in it.

use crate::codec::{Map, Value};

use super::{Mode, Protection, Scope};

impl Protection {
    /// Returns the rule of the protection, for the entry of an erasure.
    pub(crate) fn to_tombstone(&self) -> Map {
        let mut rule = Map::from_iter([
            ("mode", Value::from(self.mode.name())),
            ("scope", self.scope.name().into()),
            ("fallback_mode", self.fallback.name().into()),
        ]);
        if !self.authorized.is_empty() {
            rule.insert("authorized", self.authorized.clone());
            // OMS 23.8: the author does not count among the signers.
            if let Some(author) = &self.author {
                rule.insert(AUTHOR, author.as_str());
            }
        }
        if let Ok(threshold) = i64::try_from(self.threshold) {
            rule.insert("threshold", threshold);
        }
        if self.locked_until_s != i64::MAX {
            rule.insert("locked_until", self.locked_until_s);
        }
        rule
    }

    /// Reads a rule that an erased grain left behind; one that is not understood locks.
    pub(crate) fn from_tombstone(rule: &Map) -> Self {
        let locked = || Self::plain(Mode::Locked, Scope::Subtree);
        Self {
            author: rule.get(AUTHOR).and_then(Value::as_text).map(str::to_owned),
            is_tombstone: true,
            ..Self::parse(rule).unwrap_or_else(locked)
        }
    }

    /// Returns whether it is a rule left behind that says no more than another protection.
    pub(crate) fn repeats(&self, other: &Self) -> bool {
        let rule = |of: &Self| {
            let signers = (of.authorized.clone(), of.threshold);
            (of.mode, of.scope, of.fallback, of.locked_until_s, signers)
        };
        self.is_tombstone && !other.is_tombstone && rule(self) == rule(other)
    }
}

impl Scope {
    const fn name(self) -> &'static str {
        match self {
            Self::Grain => "grain",
            Self::Subtree => "subtree",
            Self::Lineage => "lineage",
        }
    }
}

/// The member with the author of the erased grain.
const AUTHOR: &str = "by";
