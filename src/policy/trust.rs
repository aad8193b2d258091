//! Trust rules: which signers may write which grains (OMS 20.1).
//!
//! Signatures are verified before; a valid signature alone proves only who signed.

use std::fmt;

use crate::crypto::Did;
use crate::grain::{Grain, Namespace, Type};

/// The grains that an operator trusts one signer to write (OMS 20.1).
///
/// ```
/// use grainstore::policy::TrustRule;
///
/// let signer = "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK".parse()?;
/// let mut rule = TrustRule::new(signer);
/// rule.namespaces.push("acme:hr".into());
/// assert!(!rule.is_exclusive);
/// # Ok::<(), grainstore::crypto::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustRule {
    /// The signer.
    pub signer: Did,
    /// The namespaces, with those inside them; an empty list means all.
    pub namespaces: Vec<Namespace>,
    /// The types; an empty list means all.
    pub types: Vec<Type>,
    /// The other authors, by their DID, whose grains the signer may sign.
    pub authors: Vec<String>,
    /// Whether only trusted signers may write the grains that the rule is about.
    pub is_exclusive: bool,
}

/// How far a valid signature is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// The signer is trusted to write this grain.
    Verified,
    /// The signature is valid, which proves only who signed.
    Untrusted(Doubt),
}

/// Why a valid signature is not trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Doubt {
    /// No rule names the signer.
    Unknown,
    /// The grain names another author, for whom the signer may not sign.
    Author,
    /// The signer is trusted, but not in this namespace.
    Namespace,
    /// The signer is trusted, but not with this type.
    Type,
    /// The build does not check signatures: it has no feature `signatures`.
    Unchecked,
}

/// The trust rules of a store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Trusts {
    rules: Vec<TrustRule>,
}

impl TrustRule {
    /// Trusts a signer with all grains of their own.
    pub const fn new(signer: Did) -> Self {
        Self {
            signer,
            namespaces: Vec::new(),
            types: Vec::new(),
            authors: Vec::new(),
            is_exclusive: false,
        }
    }

    /// OMS 28.2: a namespace has those inside it.
    fn has_namespace(&self, grain: &Grain) -> bool {
        let namespace = grain.text("namespace").unwrap_or_default();
        let mut named = self.namespaces.iter();
        self.namespaces.is_empty() || named.any(|outer| outer.contains(namespace))
    }

    fn has_type(&self, grain: &Grain) -> bool {
        self.types.is_empty() || self.types.contains(&grain.type_())
    }

    /// Whether the signer may sign for the author that the grain names; a grain without an author
    /// claims only what its signature proves.
    fn signs_for(&self, grain: &Grain) -> bool {
        grain.text("author_did").is_none_or(|author| {
            author == self.signer.as_str() || self.authors.iter().any(|other| other == author)
        })
    }
}

impl Trusts {
    /// Adds a rule; one that is there already is not added again.
    pub(crate) fn add(&mut self, rule: TrustRule) {
        if !self.rules.contains(&rule) {
            self.rules.push(rule);
        }
    }

    /// Removes every rule of a signer.
    pub(crate) fn remove(&mut self, signer: &Did) {
        self.rules.retain(|rule| rule.signer != *signer);
    }

    /// Returns the rules, oldest first.
    pub(crate) fn rules(&self) -> &[TrustRule] {
        &self.rules
    }

    /// Judges a verified signature on a grain.
    pub(crate) fn judge(&self, signer: &Did, grain: &Grain) -> Trust {
        // Fails closed: a build that could not refuse a signature must not trust one either.
        if !cfg!(feature = "signatures") {
            return Trust::Untrusted(Doubt::Unchecked);
        }
        let own = TrustRule::new(signer.clone());
        let theirs = || self.rules().iter().filter(|rule| rule.signer == *signer);
        let trusted = |rule: &&TrustRule| rule.has_namespace(grain) && rule.has_type(grain);
        if !own.signs_for(grain) && !theirs().any(|rule| rule.signs_for(grain)) {
            return Trust::Untrusted(Doubt::Author);
        }
        if theirs().any(|rule| trusted(&rule) && rule.signs_for(grain)) {
            return Trust::Verified;
        }
        Trust::Untrusted(if theirs().next().is_none() {
            Doubt::Unknown
        } else if theirs().any(|rule| trusted(&rule)) {
            Doubt::Author
        } else if theirs().any(|rule| rule.has_namespace(grain)) {
            Doubt::Type
        } else {
            Doubt::Namespace
        })
    }

    /// Returns whether a grain may be stored whose signature has verified, if it has one.
    ///
    /// # Errors
    /// The reason, if it may not: the signer may not sign for the author, and would else be the
    /// first to sign the grain of another; or the grain is not verified where only trusted signers
    /// write.
    pub(crate) fn authorize_put(
        &self,
        signer: Option<&Did>,
        grain: &Grain,
    ) -> Result<(), &'static str> {
        let trust = signer.map(|signer| self.judge(signer, grain));
        match trust {
            Some(Trust::Verified) => return Ok(()),
            Some(Trust::Untrusted(Doubt::Author)) => {
                return Err("its signer may not sign for its author");
            }
            _ => {}
        }
        let is_closed = |rule: &TrustRule| {
            rule.is_exclusive && rule.has_namespace(grain) && rule.has_type(grain)
        };
        if self.rules.iter().any(is_closed) {
            return Err("only trusted signers write there");
        }
        Ok(())
    }
}

impl Trusts {
    /// Returns whether a stored grain may be replaced, contradicted or judged by an operation that
    /// these keys signed, each given by its names: where only trusted signers write, only they end
    /// what is written.
    ///
    /// # Errors
    /// The reason, if it may not.
    pub(crate) fn authorize_change(
        &self,
        signers: &[Vec<String>],
        target: &Grain,
    ) -> Result<(), &'static str> {
        let is_about = |rule: &&TrustRule| rule.has_namespace(target) && rule.has_type(target);
        let mut rules = self.rules.iter().filter(is_about);
        if !rules.clone().any(|rule| rule.is_exclusive) {
            return Ok(());
        }
        let names = signers.iter().flatten();
        match rules.any(|rule| names.clone().any(|name| name == rule.signer.as_str())) {
            true => Ok(()),
            false => Err("only trusted signers change a grain there"),
        }
    }
}

impl Trust {
    /// Returns `verified` or `untrusted`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Untrusted(_) => "untrusted",
        }
    }
}

impl Doubt {
    /// Returns a word for programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown_signer",
            Self::Author => "other_author",
            Self::Namespace => "other_namespace",
            Self::Type => "other_type",
            Self::Unchecked => "not_checked",
        }
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "no rule names the signer as trusted",
            Self::Author => "the signer may not sign for the author",
            Self::Namespace => "the signer is not trusted in this namespace",
            Self::Type => "the signer is not trusted with this type",
            Self::Unchecked => "this build checks no signatures",
        })
    }
}
