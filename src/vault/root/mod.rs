//! The erasable root: 32 bytes whose destruction makes every older copy of the database useless.
//!
//! A file beside the database by default; a program that has a KMS, a TPM or a keychain implements
//! [`ShredRoot`] and keeps the root there.

#[cfg(feature = "interchange")]
mod escrow;
pub(super) mod file_root;
pub(super) mod medium;
mod record;

#[cfg(feature = "interchange")]
pub(crate) use escrow::{restore_root, root_copy};

use std::fmt;

use crate::crypto::Secret;

use super::Error;

/// A root and the epoch that it belongs to.
#[derive(Debug)]
pub struct Root {
    /// The number of swaps before it, from 1.
    pub epoch: u64,
    /// The root.
    pub secret: Secret,
}

/// The place of the root. It must be able to hold two roots and to destroy one of them.
///
/// Each call is durable when it returns. A call that fails may have had its effect.
pub trait ShredRoot: fmt::Debug + Send + Sync {
    /// Returns every root that is there.
    ///
    /// # Errors
    /// `ERR_STORAGE_IO`; none for a place that is empty.
    fn read(&self) -> Result<Vec<Root>, Error>;

    /// Adds the root of the next epoch beside the current one.
    ///
    /// # Errors
    /// `ERR_STORAGE_IO`, `ERR_STORAGE_FULL`.
    fn stage(&self, next: &Root) -> Result<(), Error>;

    /// Destroys every root but that of an epoch, and repairs its copies.
    ///
    /// # Errors
    /// `ERR_STORAGE_IO`.
    fn keep_only(&self, epoch: u64) -> Result<(), Error>;
}
