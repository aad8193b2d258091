//! The signature of a stored grain, and the grain as it is delivered with it.

use crate::codec::ContentAddress;
use crate::crypto::to_delivery;
use crate::store::view::Signature;
use crate::store::{Access, Error};

use super::get::{get, peek};

/// See [`Store::signature`](crate::Store::signature).
pub(crate) fn signature(
    store: &Access,
    address: &ContentAddress,
) -> Result<Option<Signature>, Error> {
    let grain = peek(store, address)?;
    let grain = grain.ok_or(Error::NotFound { address: *address })?;
    Ok(store.engine.signature_of(&grain))
}

/// See [`Store::delivery`](crate::Store::delivery).
pub(crate) fn delivery(store: &Access, address: &ContentAddress) -> Result<Option<Vec<u8>>, Error> {
    let Some(grain) = get(store, address)? else {
        return Ok(None);
    };
    Ok(Some(to_delivery(&grain)?.into_owned()))
}
