//! Arguments that several tools share.

use grainstore::Filter;

use super::resolve;
use crate::Scope;
use crate::http::bounded;
use crate::mcp::failure::Failure;
use crate::wire::FilterBody;

/// Returns the filter of a tool, in which an address may be short.
///
/// # Errors
/// `ERR_FILTER`; those of an address.
pub(super) fn filter_of(body: &FilterBody, scope: &Scope) -> Result<Filter, Failure> {
    Ok(bounded(body.filter(|address| resolve(scope, address))?))
}
