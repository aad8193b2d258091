//! The files under `/memories` of the common memory tool.

use grainstore::ErrorCode;
use grainstore_server::Scope;
use grainstore_server::memory::{Command, Memory};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error;
use crate::store::Store;

#[pymethods]
impl Store {
    /// Runs a command of the memory tool and returns what it tells the model, and whether it failed.
    fn memory_tool(&self, py: Python<'_>, command: &Bound<'_, PyDict>) -> PyResult<(String, bool)> {
        let command = read(command)?;
        let store = self.handle(py)?;
        let told = py.detach(|| Memory::new(Scope::owner(store)).run(&command));
        match told {
            Ok(text) => Ok((text, false)),
            Err(failure) if failure.code() == ErrorCode::StorageIo => Err(error::raised(
                py,
                failure.code(),
                &failure.to_string(),
                None,
            )),
            Err(failure) => Ok((failure.to_string(), true)),
        }
    }
}

fn read(command: &Bound<'_, PyDict>) -> PyResult<Command> {
    let optional = |name: &str| {
        let found = command.get_item(name)?;
        Ok::<_, PyErr>(found.filter(|it| !it.is_none()))
    };
    let text = |name: &str| match optional(name)? {
        Some(found) => found.extract::<String>(),
        None => Err(PyKeyError::new_err(name.to_owned())),
    };
    Ok(match text("command")?.as_str() {
        "view" => Command::View {
            path: text("path")?,
            view_range: optional("view_range")?.map(|it| it.extract()).transpose()?,
        },
        "create" => Command::Create {
            path: text("path")?,
            file_text: text("file_text")?,
        },
        "str_replace" => Command::StrReplace {
            path: text("path")?,
            old_str: text("old_str")?,
            new_str: optional("new_str")?.map_or(Ok(String::new()), |it| it.extract())?,
        },
        "insert" => Command::Insert {
            path: text("path")?,
            insert_line: match optional("insert_line")? {
                Some(line) => line.extract()?,
                None => return Err(PyKeyError::new_err("insert_line")),
            },
            insert_text: text("insert_text")?,
        },
        "delete" => Command::Delete {
            path: text("path")?,
        },
        "rename" => Command::Rename {
            old_path: text("old_path")?,
            new_path: text("new_path")?,
        },
        other => {
            return Err(PyValueError::new_err(format!(
                "there is no command {other:?}"
            )));
        }
    })
}
