//! A grain in the editor of the user, as JSON in a private file.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use grainstore::ErrorCode;
use grainstore::codec::{Map, Value};

use crate::args::{create_private, read_document};
use crate::error::CliError;
use crate::interrupt;

/// Opens a JSON object in the editor, and returns it as it is afterwards.
///
/// The file is removed, unless its text is not taken: then the message names it, so that no work is
/// lost.
///
/// # Errors
/// `ERR_USAGE` without an editor, or if it fails; `ERR_JSON`, `ERR_NOT_MAP`.
pub(super) fn edit(fields: &Value) -> anyhow::Result<Map> {
    let editor = editor()?;
    let path = new_file()?;
    let at = || path.display().to_string();
    let text = serde_json::to_string_pretty(fields)?;
    let mut file = create_private(&path).map_err(|error| CliError::of(&error).at(at()))?;
    writeln!(file, "{text}").map_err(|error| CliError::of(&error).at(at()))?;
    drop(file);
    run(&editor, &path)?;
    let taken = read_document(&at()).and_then(|text| {
        let value = Value::from_json(&text).map_err(|error| CliError::of(&error))?;
        match value {
            Value::Map(map) => Ok(map),
            _ => Err(CliError::of(&grainstore::codec::Error::NotMap)),
        }
    });
    match taken {
        Ok(map) => {
            fs::remove_file(&path).map_err(|error| CliError::of(&error).at(at()))?;
            Ok(map)
        }
        Err(error) => {
            let hint = "the text is kept; repair it, and store it with `grainstore supersede ADDRESS FILE`";
            Err(error.at(at()).advising(hint).into())
        }
    }
}

/// Returns the editor with its arguments, as `code --wait`.
fn editor() -> Result<Vec<String>, CliError> {
    let named = ["VISUAL", "EDITOR"].iter().find_map(|name| {
        let value = std::env::var_os(name)?.into_string().ok()?;
        let words: Vec<_> = value.split_whitespace().map(str::to_owned).collect();
        (!words.is_empty()).then_some(words)
    });
    named.ok_or_else(|| {
        let message = "no editor: neither VISUAL nor EDITOR is set";
        let error = CliError::new(ErrorCode::Usage, message);
        error.advising("set EDITOR, or pass the change: --set FIELD=VALUE")
    })
}

fn run(editor: &[String], path: &Path) -> Result<(), CliError> {
    let Some((program, arguments)) = editor.split_first() else {
        return Ok(());
    };
    // The editor takes the key that interrupts.
    let _interrupted = interrupt::ignored();
    let ended = Command::new(program).args(arguments).arg(path).status();
    let ended = ended.map_err(|error| CliError::of(&error).at(program))?;
    if ended.success() {
        return Ok(());
    }
    // Leaving an editor with an error is how its user says that nothing shall change.
    fs::remove_file(path).map_err(|error| CliError::of(&error).at(path.display()))?;
    let message = format!("{program} ended with {ended}; nothing was changed");
    Err(CliError::new(ErrorCode::Usage, message))
}

/// Returns a path that does not exist in the directory for temporary files; the file is created for
/// its owner alone, and never through a link that another user put there.
fn new_file() -> io::Result<PathBuf> {
    let process = std::process::id();
    let candidates = (0..100).map(|n| format!("grainstore-{process}-{n}.json"));
    let mut paths = candidates.map(|name| std::env::temp_dir().join(name));
    let free = paths.find(|path| fs::symlink_metadata(path).is_err());
    free.ok_or_else(|| io::Error::from(io::ErrorKind::AlreadyExists))
}
