//! The rights of a token: an actor, the grains it reaches, and operations.

use std::collections::BTreeSet;

use grainstore::codec::nfc;
use grainstore::crypto::Did;
use serde::{Deserialize, Deserializer, Serialize};

use super::TokenError;

/// An operation that a token permits.
///
/// ```
/// use grainstore_server::http::Operation;
///
/// assert_eq!(Operation::named("read"), Some(Operation::Read));
/// assert_eq!(Operation::Erase.name(), "erase");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// Reading, searching, following.
    Read,
    /// Storing, superseding, contradicting.
    Write,
    /// Deleting grains for good.
    Erase,
    /// Writing files of all that the token reaches.
    Export,
    /// Storing the records of files.
    Import,
    /// The counters of the server, the audit log, and conflicts of imports.
    Admin,
}

impl Operation {
    /// Every operation.
    pub const ALL: [Self; 6] = [
        Self::Read,
        Self::Write,
        Self::Erase,
        Self::Export,
        Self::Import,
        Self::Admin,
    ];

    /// Returns the word for it in commands and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Erase => "erase",
            Self::Export => "export",
            Self::Import => "import",
            Self::Admin => "admin",
        }
    }

    /// Returns the operation of a word.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == word)
    }
}

/// The rights of a token. A grain is reached if it is of the user, where one is named, and in one of
/// the namespaces or inside it, where any is named.
///
/// ```
/// use grainstore_server::http::{Grant, Operation};
///
/// let grant = Grant::new("did:web:bot.acme.example", [Operation::Read]).for_user("mira");
/// assert!(grant.check().is_ok());
/// assert!(Grant::new("mira", [Operation::Read]).check().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// The DID that the caller acts as: the author of what it writes.
    pub actor: String,
    /// The user whose grains are reached, the tenant of AIMEM; `None`: those of all.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "in_nfc"
    )]
    pub user: Option<String>,
    /// The namespaces whose grains are reached, with those inside them; empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub namespaces: Vec<String>,
    /// Groups of guarded tags that may be seen, as `phi` (OMS 27.4).
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub cleared: BTreeSet<String>,
    /// The operations.
    pub operations: BTreeSet<Operation>,
}

impl Grant {
    /// Returns a grant of operations on every grain.
    pub fn new(actor: impl Into<String>, operations: impl IntoIterator<Item = Operation>) -> Self {
        Self {
            actor: actor.into(),
            user: None,
            namespaces: Vec::new(),
            cleared: BTreeSet::new(),
            operations: operations.into_iter().collect(),
        }
    }

    /// Confines it to the grains of a user.
    #[must_use]
    pub fn for_user(mut self, user: impl Into<String>) -> Self {
        self.user = Some(nfc(&user.into()).into_owned());
        self
    }

    /// Adds a namespace to those it is confined to.
    #[must_use]
    pub fn inside(mut self, namespace: impl Into<String>) -> Self {
        self.namespaces.push(namespace.into());
        self
    }

    /// Returns whether some grains are out of its reach.
    pub(crate) const fn is_confined(&self) -> bool {
        self.user.is_some() || !self.namespaces.is_empty()
    }

    /// Returns the actor.
    ///
    /// # Errors
    /// [`TokenError::Grant`] for a grant that permits nothing, or that nothing can be in.
    pub fn check(&self) -> Result<Did, TokenError> {
        let is_blank = |text: &String| text.trim().is_empty();
        if self.operations.is_empty() {
            return Err(TokenError::Grant("a token permits at least one operation"));
        }
        // An empty name would reach everything where the caller meant nothing.
        if self.user.iter().chain(&self.namespaces).any(is_blank) {
            return Err(TokenError::Grant("a user or a namespace is empty"));
        }
        let actor = self.actor.parse();
        actor.map_err(|_| TokenError::Grant("the actor is not a supported DID"))
    }
}

/// Reads a user in the form that grains have, NFC (OMS 4.4): in another one nothing would be of them.
fn in_nfc<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let user = Option::<String>::deserialize(deserializer)?;
    Ok(user.map(|user| nfc(&user).into_owned()))
}
