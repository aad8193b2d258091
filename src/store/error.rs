//! The error of the crate: refusals by policy, requests that do not fit the state of a grain, and
//! failures of the files, with the errors of the rooms above as their sources.
//!
//! A message names the grain and the rule and never the content of a grain. The codes that programs
//! compare are in `code`.

use std::path::PathBuf;
use std::sync::Arc;

use crate::code::ErrorCode;
use crate::codec;
use crate::codec::ContentAddress;
use crate::crypto;
use crate::grain;
use crate::index;
use crate::ledger::{self, EntryId};
use crate::policy::{self, Rule, Violation};

use super::embedder::Embedder;

/// The error of every operation of a store. The errors of the other rooms convert into it, so that
/// a program needs one error only.
///
/// ```
/// use grainstore::{ContentAddress, Error};
///
/// fn read(text: &str) -> Result<ContentAddress, Error> {
///     Ok(text.parse()?)
/// }
/// assert_eq!(read("abc").unwrap_err().code(), "ERR_HASH_LENGTH");
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Text that has no canonical form.
    #[error(transparent)]
    Codec(#[from] codec::Error),
    /// A draft or a blob that is not a valid grain.
    #[error(transparent)]
    Grain(#[from] grain::Error),
    /// One grain of a batch is refused; no grain of the batch was stored or returned.
    #[error("grain {index} of the batch: {source}")]
    Batch {
        /// The position of the grain, counted from 0.
        index: usize,
        /// The error of the grain.
        source: Box<Self>,
    },
    /// A frame that several requests shared failed, or its outcome is unknown.
    #[error(transparent)]
    Shared(Arc<Self>),
    /// A directory on a network file system, whose locks cannot be trusted.
    #[error(
        "{} is on a file system of type {kind}, whose locks cannot be trusted: two processes could \
         write the store at once; move it to a local disk", path.display()
    )]
    FileSystem {
        /// The directory.
        path: PathBuf,
        /// The type of the file system.
        kind: String,
    },
    /// A change of a store that was opened for reading only.
    #[error("the store was opened for reading only")]
    OpenedReadOnly,
    /// No grain has this address.
    #[error("no grain has the address {address}")]
    NotFound {
        /// The address asked for.
        address: ContentAddress,
    },
    /// A grain that no import contradicts, or no longer does.
    #[error("{address} is not part of an open conflict")]
    NoConflict {
        /// The grain to keep.
        address: ContentAddress,
    },
    /// The grain is no longer the head of its lineage (ruling I17).
    #[error("{address} is already superseded by {by}")]
    Conflict {
        /// The grain to be superseded.
        address: ContentAddress,
        /// The grain that superseded it.
        by: ContentAddress,
    },
    /// The grain is not current, so no grain can supersede it.
    #[error("{address} is no longer current")]
    NotCurrent {
        /// The grain to be superseded.
        address: ContentAddress,
    },
    /// A superseding grain that does not name the grain it supersedes (ruling I5).
    #[error(
        "the superseding grain must name {address} in derived_from; where that is a grant of consent, it must be a Consent that names it in prior_consent"
    )]
    NotDerived {
        /// The grain to be superseded.
        address: ContentAddress,
    },
    /// The grain's `retention_policy` names another authority for its deletion (OMS 6.1).
    #[error(
        "{address} is protected: deletion_requires (OMS 6.1); requires an authority that names {required:?}{}",
        regulation.as_ref().map_or(String::new(), |it| format!(" ({it})"))
    )]
    DeletionRequires {
        /// The grain.
        address: ContentAddress,
        /// The text of `deletion_requires`.
        required: String,
        /// The `regulation` that the same policy names.
        regulation: Option<String>,
    },
    /// A policy forbids it: the grain's own, or one that reaches it (OMS 23).
    #[error("{address} is protected: {rule} ({} {}); requires {}", rule.specification(), rule.section(), rule.wants())]
    Denied {
        /// The protected grain.
        address: ContentAddress,
        /// The rule that denied it.
        rule: Rule,
    },
    /// An operation without a reason or without an authority that decides it.
    #[error("the operation requires a reason and an authority")]
    NoAuthorization,
    /// The entry opened no review.
    #[error("no review has the number {id}")]
    NoReview {
        /// The entry asked for.
        id: EntryId,
    },
    /// A consent deadline beyond what OMS 23.2 allows.
    #[error("{hours} hours exceeds the limit of 720 hours for executing a withdrawal")]
    Deadline {
        /// The hours asked for.
        hours: u32,
    },
    /// The handle, or the author's delegation, does not permit the operation.
    #[error("denied by policy: {rule} ({} {}); requires {}", rule.specification(), rule.section(), rule.wants())]
    Refused {
        /// The rule that refused it.
        rule: Rule,
    },
    /// A regime forbids it.
    #[error("{0}")]
    Violation(Violation),
    /// A policy that cannot be read.
    #[error(transparent)]
    Policy(#[from] policy::Error),
    /// A put of a grain that implies a supersession (OMS 17.2, ruling I4).
    #[error("the grain would replace {address}; use supersede")]
    ImplicitSupersession {
        /// The current grain it would replace.
        address: ContentAddress,
    },
    /// A put of a deleted grain without the explicit request to store it again.
    #[error("{address} was deleted from this store")]
    Erased {
        /// The grain that was deleted.
        address: ContentAddress,
    },
    /// A grain of a sealed person who is locked in this process, or who may be sealed: without the
    /// master key that is unknown.
    #[error("the person is sealed and locked: unlock them first")]
    Locked,
    /// A grain in the clear that names a grain of a sealed person.
    #[error("the grain names {address}, which is sealed: give it the user_id of that person")]
    NamesSealed {
        /// The sealed grain.
        address: ContentAddress,
    },
    /// The signer, or the writer of an unsigned grain, is not trusted to write it here.
    #[error("{address} is not stored: {reason}")]
    Untrusted {
        /// The grain.
        address: ContentAddress,
        /// The reason.
        reason: &'static str,
    },
    /// A trust rule that is invalid or ambiguous.
    #[error("invalid trust rule: {reason}")]
    Trust {
        /// The fault.
        reason: &'static str,
    },
    /// A vector that is no embedding of its model.
    #[error("invalid embedding: {reason}")]
    Embedding {
        /// The fault.
        reason: &'static str,
    },
    /// A model of the caller that did not embed.
    #[error("the model {model} made no vector")]
    Embedder {
        /// The name of the model.
        model: String,
        /// The reason that it gave.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A program of the caller that failed, or whose answer cannot be used.
    #[error("the program {program} gave no answer")]
    Program {
        /// The name of the program.
        program: String,
        /// The reason.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A grain with an ownership claim of an agent that violates OMS 12.5.3.
    #[error("{reason}")]
    Ownership {
        /// The fault.
        reason: &'static str,
    },
    /// A disclosed view, which stands for its original and is not stored (OMS 10.4, ruling S13).
    #[error("{address} is a view with elided fields; store the original grain")]
    View {
        /// The view.
        address: ContentAddress,
    },
    /// There is no store at the path.
    #[error("{path} is not a grainstore: {reason}")]
    NotAStore {
        /// The path.
        path: PathBuf,
        /// The fault of the directory.
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
    /// A point to restore to after which erasures are unknown.
    #[error("the backup ends at that point, so later erasures are unknown")]
    LostErasures,
    /// An entry that may name a person and cannot be read, so that a report or an erasure would be
    /// incomplete.
    #[error("entry {row} is sealed, so it is unknown whether it names the person")]
    ScopeIncomplete {
        /// The entry.
        row: EntryId,
    },
    /// A store of a newer version.
    #[error("store has format version {found}; this version reads up to {newest}")]
    Version {
        /// The version found.
        found: u64,
        /// The newest version known.
        newest: u64,
    },
    /// A file of the store that differs from what was written.
    #[error("{what} is damaged: {reason}")]
    Damaged {
        /// The file or entry.
        what: String,
        /// The fault.
        reason: String,
    },
    /// The ledger's failure.
    #[error(transparent)]
    Ledger(#[from] ledger::Error),
    /// The index's failure.
    #[error(transparent)]
    Index(#[from] index::Error),
    /// The failure of the keys of sealed persons.
    #[cfg(feature = "sealing")]
    #[error(transparent)]
    Vault(#[from] crate::vault::Error),
    /// The text view's failure.
    #[cfg(feature = "text")]
    #[error(transparent)]
    Text(#[from] crate::text::Error),
    /// A file that cannot be read or written in its format.
    #[cfg(feature = "interchange")]
    #[error(transparent)]
    Interchange(#[from] crate::interchange::Error),
    /// No randomness.
    #[error(transparent)]
    Crypto(#[from] crypto::Error),
    /// The text is not a cursor of this query.
    #[error("not a cursor of this store: {text}")]
    Cursor {
        /// The text.
        text: String,
    },
    /// A filter is invalid.
    #[error("{filter} {reason}")]
    Filter {
        /// The filter.
        filter: &'static str,
        /// The reason.
        reason: &'static str,
    },
}

impl Error {
    pub(crate) fn batch(index: usize, source: Self) -> Self {
        Self::Batch {
            index,
            source: Box::new(source),
        }
    }

    /// In a batch of one, the place is omitted.
    pub(in crate::store) fn unbatched(self) -> Self {
        match self {
            Self::Batch { source, .. } => *source,
            other => other,
        }
    }

    /// Returns the code of the specification, or of this project where it has none.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Codec(source) => source.code(),
            Self::Grain(source) => source.code(),
            Self::Batch { source, .. } => source.code(),
            Self::Shared(source) => source.code(),
            Self::FileSystem { .. } => ErrorCode::Unsupported,
            Self::OpenedReadOnly => ErrorCode::StorageReadOnly,
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
            Self::Denied { .. }
            | Self::DeletionRequires { .. }
            | Self::ImplicitSupersession { .. } => ErrorCode::InvalidationDenied,
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
            Self::Locked => ErrorCode::Locked,
            Self::NamesSealed { .. } => ErrorCode::PolicyDenied,
            Self::Embedding { .. } => ErrorCode::Embedding,
            Self::Embedder { .. } => ErrorCode::Embedder,
            Self::Program { .. } => ErrorCode::Program,
            Self::Ownership { .. } => ErrorCode::Schema,
            Self::View { .. } => ErrorCode::View,
            Self::Untrusted { .. } => ErrorCode::Untrusted,
            Self::Trust { .. } => ErrorCode::Trust,
            Self::NotAStore { .. } => ErrorCode::NotAStore,
            Self::Exists { .. } => ErrorCode::StoreExists,
            Self::OtherStore { .. } => ErrorCode::BackupDiverged,
            Self::LostErasures => ErrorCode::LostErasures,
            Self::ScopeIncomplete { .. } => ErrorCode::ScopeIncomplete,
            Self::Version { .. } => ErrorCode::StoreVersion,
            Self::Damaged { .. } => ErrorCode::StorageDamaged,
            Self::Ledger(source) => source.code(),
            Self::Index(source) => source.code(),
            #[cfg(feature = "sealing")]
            Self::Vault(source) => source.code(),
            #[cfg(feature = "text")]
            Self::Text(source) => source.code(),
            #[cfg(feature = "interchange")]
            Self::Interchange(source) => source.code(),
            Self::Crypto(source) => source.code(),
            Self::Cursor { .. } => ErrorCode::Cursor,
            Self::Filter { .. } => ErrorCode::Filter,
        }
    }

    /// Returns whether a rule forbids the call ([`ErrorCode::is_denied`]).
    ///
    /// ```
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// let refused = store.read_only().put(Draft::event("hello")).unwrap_err();
    /// assert!(refused.is_denied() && !refused.is_retryable() && !refused.is_corrupt());
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    pub fn is_denied(&self) -> bool {
        self.code().is_denied()
    }

    /// Returns whether the same call may succeed later as it is ([`ErrorCode::is_retryable`]).
    pub fn is_retryable(&self) -> bool {
        self.code().is_retryable()
    }

    /// Returns whether stored bytes are damaged ([`ErrorCode::is_corrupt`]).
    pub fn is_corrupt(&self) -> bool {
        self.code().is_corrupt()
    }

    /// Returns the error of an entry whose body only a faulty writer would write.
    pub(crate) fn malformed(row: EntryId, kind: ledger::Kind) -> Self {
        Self::damaged(format!("entry {row}"), format!("malformed {kind:?} entry"))
    }

    pub(crate) fn embedder(
        embedder: &dyn Embedder,
        source: Box<dyn std::error::Error + Send + Sync>,
    ) -> Self {
        Self::Embedder {
            model: embedder.model().to_owned(),
            source,
        }
    }

    pub(crate) fn damaged(what: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Damaged {
            what: what.into(),
            reason: reason.into(),
        }
    }
}

/// Returns an error with its sources.
pub(crate) fn with_sources(error: &dyn std::error::Error) -> String {
    let mut reason = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        reason = format!("{reason}: {error}");
        source = error.source();
    }
    reason
}
