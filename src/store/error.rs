use std::path::PathBuf;
use std::sync::Arc;

use crate::code::ErrorCode;
use crate::codec;
use crate::codec::ContentAddress;
use crate::crypto;
use crate::grain;
use crate::index;
use crate::ledger;
use crate::policy::{self, Rule, Violation};

/// Why the store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Text that has no canonical form.
    #[error(transparent)]
    Codec(#[from] codec::Error),
    /// A draft or a blob that is not a valid grain.
    #[error(transparent)]
    Grain(#[from] grain::Error),
    /// One grain of a batch is refused; nothing of the batch was stored.
    #[error("grain {index} of the batch: {source}")]
    Batch {
        /// Which one, counted from 0.
        index: usize,
        /// What is wrong with it.
        source: Box<Self>,
    },
    /// A frame that several requests shared came to nothing, or nobody knows to what.
    #[error(transparent)]
    Shared(Arc<Self>),
    /// No grain has this address.
    #[error("no grain has the address {address}")]
    NotFound {
        /// The address asked for.
        address: ContentAddress,
    },
    /// A grain that no import contradicts, or no longer.
    #[error("{address} is in no conflict")]
    NoConflict {
        /// The grain to be kept.
        address: ContentAddress,
    },
    /// The grain is no longer the head of its lineage (ruling I17).
    #[error("{address} is superseded already, by {by}")]
    Conflict {
        /// The grain to be superseded.
        address: ContentAddress,
        /// What superseded it.
        by: ContentAddress,
    },
    /// A grain cannot supersede this one although no policy forbids it.
    #[error("{address} is no longer current")]
    NotCurrent {
        /// The grain to be superseded.
        address: ContentAddress,
    },
    /// A superseding grain that does not say what it supersedes (ruling I5).
    #[error(
        "the superseding grain must name {address} in derived_from, or a Consent in prior_consent"
    )]
    NotDerived {
        /// The grain to be superseded.
        address: ContentAddress,
    },
    /// A policy forbids it: the grain's own, or one that reaches it (OMS 23).
    #[error("{address} is protected: {rule} ({} {}); it takes {}", rule.specification(), rule.section(), rule.wants())]
    Denied {
        /// The protected grain.
        address: ContentAddress,
        /// The rule that spoke.
        rule: Rule,
    },
    /// Something that takes a decision of somebody's, and nobody is named or gives a reason.
    #[error("this takes a reason and an authority")]
    NoAuthorization,
    /// No review was opened by this entry.
    #[error("entry {id} opened no review")]
    NoReview {
        /// The entry asked for.
        id: u64,
    },
    /// A consent deadline beyond what OMS 23.2 allows.
    #[error("{hours} hours are more than the 720 that a withdrawal may take to be carried out")]
    Deadline {
        /// The hours asked for.
        hours: u32,
    },
    /// Whoever asks may not: the handle or the author's delegation does not go so far.
    #[error("not allowed here: {rule} ({} {}); it takes {}", rule.specification(), rule.section(), rule.wants())]
    Refused {
        /// The rule that spoke.
        rule: Rule,
    },
    /// A regime forbids it.
    #[error("{0}")]
    Violation(Violation),
    /// A policy that cannot be read.
    #[error(transparent)]
    Policy(#[from] policy::Error),
    /// A put of what is really a supersession (OMS 17.2, ruling I4).
    #[error("this would replace {address} without superseding it")]
    ImplicitSupersession {
        /// The current grain it would replace.
        address: ContentAddress,
    },
    /// What was deleted must not come back unasked.
    #[error("{address} was deleted from this store")]
    Erased {
        /// The grain that was deleted.
        address: ContentAddress,
    },
    /// Its signer, or whoever puts it without a signature, may not write it here.
    #[error("{address} is not stored: {reason}")]
    Untrusted {
        /// The grain.
        address: ContentAddress,
        /// Why.
        reason: &'static str,
    },
    /// A rule of trust that would say more than anybody means.
    #[error("not a rule of trust: {reason}")]
    Trust {
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A vector that cannot be one of its model.
    #[error("not an embedding of the model: {reason}")]
    Embedding {
        /// Why.
        reason: &'static str,
    },
    /// A grain that says who owns an agent, and may not say it so (OMS 12.5.3).
    #[error("{reason}")]
    Ownership {
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A disclosed view, which stands for its original and is not stored (OMS 10.4, ruling S13).
    #[error("{address} is a view with some fields elided; its original is what is stored")]
    View {
        /// The view.
        address: ContentAddress,
    },
    /// There is no store at the path.
    #[error("{path} is not a grainstore: {reason}")]
    NotAStore {
        /// The path.
        path: PathBuf,
        /// What is missing or in the way.
        reason: String,
    },
    /// There is a store at the path already.
    #[error("{path} is a grainstore already")]
    Exists {
        /// The path.
        path: PathBuf,
    },
    /// A directory to back up to that holds another store.
    #[error("{path} holds another store")]
    OtherStore {
        /// The path.
        path: PathBuf,
    },
    /// A point to restore to of which nobody knows what was erased after it.
    #[error("the backup ends there, so what was erased after that is not known")]
    LostErasures,
    /// A store of a newer version.
    #[error("store has format version {found}; this version reads up to {newest}")]
    Version {
        /// The version found.
        found: u64,
        /// The newest version known.
        newest: u64,
    },
    /// A file of the store that is not what was written.
    #[error("{what} is damaged: {reason}")]
    Damaged {
        /// Which file or entry.
        what: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The ledger's failure.
    #[error(transparent)]
    Ledger(#[from] ledger::Error),
    /// The index's failure.
    #[error(transparent)]
    Index(#[from] index::Error),
    /// The text view's failure.
    #[cfg(feature = "text")]
    #[error(transparent)]
    Text(#[from] crate::text::Error),
    /// A file that cannot be read or written as its format asks.
    #[cfg(feature = "interchange")]
    #[error(transparent)]
    Interchange(#[from] crate::interchange::Error),
    /// No randomness.
    #[error(transparent)]
    Crypto(#[from] crypto::Error),
}

impl Error {
    /// Returns the specification's code, or ours where it has none.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Codec(source) => source.code(),
            Self::Grain(source) => source.code(),
            Self::Batch { source, .. } => source.code(),
            Self::Shared(source) => source.code(),
            Self::NotFound { .. } | Self::NoConflict { .. } => ErrorCode::NotFound,
            Self::Conflict { .. } | Self::NotCurrent { .. } => ErrorCode::Conflict,
            Self::NotDerived { .. } => ErrorCode::Schema,
            Self::Denied {
                rule: Rule::Evidence,
                ..
            } => ErrorCode::EvidenceRequired,
            Self::Denied {
                rule: Rule::Consent,
                ..
            } => ErrorCode::Consent,
            Self::Denied {
                rule: Rule::Dependency,
                ..
            } => ErrorCode::Dependency,
            Self::Denied { .. } | Self::ImplicitSupersession { .. } => {
                ErrorCode::InvalidationDenied
            }
            Self::NoAuthorization => ErrorCode::Authority,
            Self::NoReview { .. } => ErrorCode::Review,
            Self::Deadline { .. } => ErrorCode::Range,
            Self::Refused {
                rule: Rule::Unreviewed,
            } => ErrorCode::ReviewRequired,
            Self::Refused { .. } => ErrorCode::AccessDenied,
            Self::Violation(_) => ErrorCode::PolicyDenied,
            Self::Policy(source) => source.code(),
            Self::Erased { .. } => ErrorCode::Erased,
            Self::Embedding { .. } => ErrorCode::Embedding,
            Self::Ownership { .. } => ErrorCode::Schema,
            Self::View { .. } => ErrorCode::View,
            Self::Untrusted { .. } => ErrorCode::Untrusted,
            Self::Trust { .. } => ErrorCode::Trust,
            Self::NotAStore { .. } => ErrorCode::NotAStore,
            Self::Exists { .. } => ErrorCode::StoreExists,
            Self::OtherStore { .. } => ErrorCode::BackupDiverged,
            Self::LostErasures => ErrorCode::LostErasures,
            Self::Version { .. } => ErrorCode::StoreVersion,
            Self::Damaged { .. } => ErrorCode::StorageDamaged,
            Self::Ledger(source) => source.code(),
            Self::Index(source) => source.code(),
            #[cfg(feature = "text")]
            Self::Text(source) => source.code(),
            #[cfg(feature = "interchange")]
            Self::Interchange(source) => source.code(),
            Self::Crypto(source) => source.code(),
        }
    }

    /// Returns the error of an entry whose body no writer without a fault writes.
    pub(crate) fn malformed(row: u64, kind: ledger::Kind) -> Self {
        Self::damaged(format!("entry {row}"), format!("malformed {kind:?} entry"))
    }

    pub(crate) fn damaged(what: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Damaged {
            what: what.into(),
            reason: reason.into(),
        }
    }
}
