//! The files under `/memories` of the common memory tool.

use grainstore::ErrorCode;
use grainstore::codec::{Map, Value};
use grainstore_server::Scope;
use grainstore_server::memory::{Command, Memory};
use napi::bindgen_prelude::{Result, Unknown};
use napi_derive::napi;

use crate::ask::{Abort, Ask, Promised};
use crate::failure;
use crate::store::Store;
use crate::value::members;

/// The answer to a command of the memory tool.
#[napi(object, object_from_js = false)]
pub struct ToolAnswer {
    /// The text for the model.
    pub text: String,
    /// Whether the command failed.
    pub is_failure: bool,
}

#[napi]
impl Store {
    /// Runs a command of the memory tool.
    #[napi(
        ts_args_type = "command: object, abort?: Abort | undefined",
        ts_return_type = "Promise<ToolAnswer>"
    )]
    pub fn memory_tool(
        &self,
        command: Unknown<'_>,
        abort: Option<&Abort>,
    ) -> Result<Promised<ToolAnswer>> {
        let command = read(&members(Some(command))?)?;
        let handle = self.held().clone();
        Ok(Ask::promise(abort, move || {
            handle.with(|store| run(store.clone(), &command))
        }))
    }
}

fn run(store: grainstore::Store, command: &Command) -> Result<ToolAnswer> {
    match Memory::new(Scope::owner(store)).run(command) {
        Ok(text) => Ok(ToolAnswer {
            text,
            is_failure: false,
        }),
        Err(failure) if failure.code() == ErrorCode::StorageIo => {
            Err(failure::told(failure.code(), &failure.to_string(), None))
        }
        Err(failure) => Ok(ToolAnswer {
            text: failure.to_string(),
            is_failure: true,
        }),
    }
}

fn read(command: &Map) -> Result<Command> {
    let wrong = |name: &str| failure::kind(&format!("the command has no {name} of its kind"));
    let optional = |name: &str| match command.get(name) {
        None | Some(Value::Nil) => Ok(None),
        Some(Value::Text(text)) => Ok(Some(text.clone())),
        Some(_) => Err(wrong(name)),
    };
    let text = |name: &str| optional(name)?.ok_or_else(|| wrong(name));
    let line = |name: &str, value: Option<&Value>| match value {
        Some(Value::Int(int)) => int.as_i64().ok_or_else(|| wrong(name)),
        _ => Err(wrong(name)),
    };
    Ok(match text("command")?.as_str() {
        "view" => Command::View {
            path: text("path")?,
            view_range: match command.get("view_range") {
                None | Some(Value::Nil) => None,
                Some(Value::Array(items)) => match items.as_slice() {
                    [from, to] => Some([
                        line("view_range", Some(from))?,
                        line("view_range", Some(to))?,
                    ]),
                    _ => return Err(wrong("view_range")),
                },
                Some(_) => return Err(wrong("view_range")),
            },
        },
        "create" => Command::Create {
            path: text("path")?,
            file_text: text("file_text")?,
        },
        "str_replace" => Command::StrReplace {
            path: text("path")?,
            old_str: text("old_str")?,
            new_str: optional("new_str")?.unwrap_or_default(),
        },
        "insert" => Command::Insert {
            path: text("path")?,
            insert_line: u64::try_from(line("insert_line", command.get("insert_line"))?)
                .map_err(|_| wrong("insert_line"))?,
            insert_text: text("insert_text")?,
        },
        "delete" => Command::Delete {
            path: text("path")?,
        },
        "rename" => Command::Rename {
            old_path: text("old_path")?,
            new_path: text("new_path")?,
        },
        other => return Err(failure::unknown("command", other)),
    })
}
