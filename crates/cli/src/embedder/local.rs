//! The local model of a build that has it.

use std::path::Path;

use grainstore::ErrorCode;
use grainstore_embed::Model;

use crate::error::CliError;

/// Opens the model in a directory.
///
/// # Errors
/// `ERR_EMBEDDER` for a directory without a model that it can run.
pub(super) fn open(directory: &Path) -> Result<Model, CliError> {
    let opened = Model::open(directory);
    opened.map_err(|error| CliError::new(ErrorCode::Embedder, error).at(directory.display()))
}
