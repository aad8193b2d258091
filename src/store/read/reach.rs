//! The reach of an owner's operation that an access to a part of the store asks for.

use crate::codec::ContentAddress;
use crate::store::txn::Transaction;
use crate::store::{Error, Owner};

use super::exists;

/// Returns whether the owner's access reaches a grain.
///
/// # Errors
/// Storage errors.
pub(crate) fn reaches(owner: Owner<'_>, address: &ContentAddress) -> Result<bool, Error> {
    owner
        .within()
        .map_or(Ok(true), |narrowed| exists(narrowed, address))
}

/// Returns those of some things whose grains it reaches.
///
/// # Errors
/// Storage errors.
pub(crate) fn reached<T>(
    owner: Owner<'_>,
    all: impl IntoIterator<Item = T>,
    address: impl Fn(&T) -> ContentAddress,
) -> Result<Vec<T>, Error> {
    let mut reached = Vec::new();
    for one in all {
        if reaches(owner, &address(&one))? {
            reached.push(one);
        }
    }
    Ok(reached)
}

/// Refuses a grain out of reach, as one that is not stored.
///
/// # Errors
/// `ERR_NOT_FOUND`; storage errors.
pub(crate) fn authorize_reach(owner: Owner<'_>, address: &ContentAddress) -> Result<(), Error> {
    match reaches(owner, address)? {
        true => Ok(()),
        false => Err(Error::NotFound { address: *address }),
    }
}

/// Begins a change of the owner about one grain.
///
/// # Errors
/// `ERR_NOT_FOUND` for a grain out of reach; as [`Transaction::begin`].
pub(crate) fn begin_about<'a>(
    owner: &Owner<'a>,
    address: &ContentAddress,
) -> Result<Transaction<'a>, Error> {
    authorize_reach(*owner, address)?;
    Transaction::begin(owner.engine(), owner.caller()?)
}
