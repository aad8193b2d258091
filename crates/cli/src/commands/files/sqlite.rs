//! SQLite files of other tools: opened read-only, and read as rows of tables that are known.
//!
//! The file is a stranger's: its schema is not trusted and runs nothing, views and computed columns are not
//! read, and a statement ends after steps in proportion to the file.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use grainstore::codec::{Map, Value};
use grainstore::interchange::{Format, ImportFile, ReadOptions};
use grainstore::{ErrorCode, Time};
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row};

use crate::error::CliError;

/// A file of another tool.
struct Database {
    format: Format,
    /// A table that tells it from others, and columns that this one has.
    mark: (&'static str, &'static [&'static str]),
    /// The tables that are read, in this order, and the statement that selects the rows of each.
    tables: &'static [(&'static str, &'static str)],
}

/// Returns whether a file is a database, by its first bytes.
pub(super) fn is_database(path: &Path) -> bool {
    let mut head = [0; MAGIC.len()];
    let is_file = path.metadata().is_ok_and(|it| it.is_file());
    is_file
        && File::open(path).is_ok_and(|mut file| file.read_exact(&mut head).is_ok())
        && head == *MAGIC
}

/// Reads a database and validates all of it, as the format that is asked for or the one that its tables show.
///
/// # Errors
/// `ERR_FORMAT_UNKNOWN` of one with other tables; `PROVIDER_SYNTAX` of one that is damaged.
pub(super) fn read(
    path: &Path,
    asked: Option<Format>,
    options: &ReadOptions,
) -> Result<ImportFile, CliError> {
    let damaged = |error: rusqlite::Error| {
        CliError::new(ErrorCode::ProviderSyntax, error.to_string()).at(path.display())
    };
    let opened = open(path).map_err(damaged)?;
    let mut found = None;
    for database in DATABASES {
        if found.is_none() && database.is_in(&opened).map_err(damaged)? {
            found = Some(database);
        }
    }
    let is_asked = |database: &&Database| asked.is_none_or(|asked| asked == database.format);
    let Some(database) = found.filter(is_asked) else {
        let names: Vec<_> = DATABASES.iter().map(|it| it.format.name()).collect();
        let message = format!("an SQLite file of none of {}", names.join(", "));
        return Err(CliError::new(ErrorCode::FormatUnknown, message).at(path.display()));
    };
    drop(opened);
    let options = ReadOptions {
        default_created_at: options.default_created_at.or_else(|| written(path)),
        ..options.clone()
    };
    let from = path.to_owned();
    let rows = move |take: &mut dyn FnMut(&str, Value) -> bool| {
        database
            .rows(&from, take)
            .map_err(|error| error.to_string())
    };
    let reading = ImportFile::of_rows(database.format, rows, &options);
    reading.map_err(|error| CliError::of(&error).at(path.display()))
}

fn open(path: &Path) -> rusqlite::Result<Connection> {
    let beside = |ending: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name).metadata().is_ok_and(|it| it.len() > 0)
    };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    // With nothing beside it no program is in the middle of a change: it is read without locks, and
    // nothing is created beside it.
    let mut connection = match beside("-wal") || beside("-journal") {
        true => Connection::open_with_flags(path, flags)?,
        false => {
            let flags = flags | OpenFlags::SQLITE_OPEN_URI;
            Connection::open_with_flags(immutable(path), flags)?
        }
    };
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_LEN_MAX)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    let settings = "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA cache_size = -4096;";
    connection.execute_batch(settings)?;
    let len = path.metadata().map_or(0, |it| it.len());
    let mut left = STEPS_MIN.saturating_add(len.saturating_mul(STEPS_A_BYTE)) / STEPS;
    let spend = move || {
        left = left.saturating_sub(1);
        left == 0
    };
    connection.progress_handler(i32::try_from(STEPS).unwrap_or(i32::MAX), Some(spend))?;
    Ok(connection)
}

/// Returns the address of a file that nothing changes while it is read.
fn immutable(path: &Path) -> String {
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                uri.push(char::from(*byte));
            }
            // Writing to a string cannot fail.
            byte => drop(write!(uri, "%{byte:02x}")),
        }
    }
    uri + "?immutable=1"
}

impl Database {
    /// Returns whether a file is one of these.
    fn is_in(&self, connection: &Connection) -> rusqlite::Result<bool> {
        let (table, wanted) = self.mark;
        let columns = columns(connection, table)?;
        Ok(wanted
            .iter()
            .all(|name| columns.iter().any(|it| it == name)))
    }

    /// Passes on the rows of all tables that are there.
    fn rows(&self, path: &Path, take: &mut dyn FnMut(&str, Value) -> bool) -> rusqlite::Result<()> {
        let connection = open(path)?;
        for (table, select) in self.tables {
            if columns(&connection, table)?.is_empty() {
                continue;
            }
            let mut statement = connection.prepare(select)?;
            let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                if !take(table, value(row, &names)?) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// Returns the columns of a table; none if it is missing, is no table of its own, or computes a column.
fn columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let is_table = "SELECT 1 FROM pragma_table_list(?1) WHERE schema = 'main' AND type = 'table'";
    if !connection.prepare(is_table)?.exists([table])? {
        return Ok(Vec::new());
    }
    let mut columns = connection.prepare("SELECT name, hidden FROM pragma_table_xinfo(?1)")?;
    let columns = columns.query_map([table], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let columns: Vec<(String, i64)> = columns.collect::<rusqlite::Result<_>>()?;
    let is_computed = columns.iter().any(|(_, hidden)| *hidden != 0);
    let names = columns.into_iter().map(|(name, _)| name);
    Ok(if is_computed {
        Vec::new()
    } else {
        names.collect()
    })
}

fn value(row: &Row<'_>, names: &[String]) -> rusqlite::Result<Value> {
    let mut map = Map::new();
    for (at, name) in names.iter().enumerate() {
        let value = match row.get_ref(at)? {
            ValueRef::Integer(integer) => Value::from(integer),
            ValueRef::Real(real) if real.is_finite() => Value::Float(real),
            ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
            // Some tools write JSON as bytes; others are vectors.
            ValueRef::Blob(bytes @ [b'{' | b'[', ..]) => match std::str::from_utf8(bytes) {
                Ok(text) => Value::from(text),
                Err(_) => continue,
            },
            ValueRef::Null | ValueRef::Real(_) | ValueRef::Blob(_) => continue,
        };
        map.insert(name, value);
    }
    Ok(Value::Map(map))
}

fn written(path: &Path) -> Option<Time> {
    let modified = path.metadata().ok()?.modified().ok()?;
    let since = modified.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok().map(Time::from_ms)
}

static DATABASES: &[Database] = &[
    Database {
        format: Format::Mem0,
        mark: (
            "history",
            &["memory_id", "old_memory", "new_memory", "event"],
        ),
        tables: &[
            // The versions of a memory together, in the order in which they were written.
            ("history", "SELECT * FROM history ORDER BY memory_id, rowid"),
            (
                "messages",
                "SELECT * FROM messages ORDER BY session_scope, rowid",
            ),
        ],
    },
    Database {
        format: Format::OpenMemory,
        mark: ("memories", &["app_id", "content", "state", "archived_at"]),
        tables: &[
            ("users", "SELECT id, user_id FROM users"),
            ("apps", "SELECT id, name FROM apps"),
            ("categories", "SELECT id, name FROM categories"),
            (
                "memories",
                "SELECT m.id, m.user_id, m.app_id, m.content, m.metadata, m.state, m.created_at, m.updated_at, \
                 m.archived_at, m.deleted_at, (SELECT json_group_array(c.category_id) \
                 FROM memory_categories c WHERE c.memory_id = m.id) AS category_ids FROM memories m",
            ),
            (
                "memory_status_history",
                "SELECT id FROM memory_status_history",
            ),
            ("access_controls", "SELECT id FROM access_controls"),
        ],
    },
    Database {
        format: Format::McpMemoryService,
        mark: (
            "memories",
            &["content_hash", "content", "tags", "memory_type"],
        ),
        tables: &[
            ("memories", "SELECT * FROM memories"),
            ("memory_graph", "SELECT source_hash FROM memory_graph"),
        ],
    },
    Database {
        format: Format::Langgraph,
        mark: ("store", &["prefix", "key", "value"]),
        tables: &[("store", "SELECT * FROM store")],
    },
    Database {
        format: Format::ClaudeMem,
        mark: ("observations", &["project", "type", "created_at_epoch"]),
        tables: &[
            ("user_prompts", "SELECT * FROM user_prompts"),
            ("observations", "SELECT * FROM observations"),
            ("session_summaries", "SELECT * FROM session_summaries"),
        ],
    },
    Database {
        format: Format::OpenaiAgents,
        mark: ("agent_messages", &["session_id", "message_data"]),
        tables: &[(
            "agent_messages",
            "SELECT * FROM agent_messages ORDER BY session_id, rowid",
        )],
    },
];

const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// As a value of JSON may be.
const VALUE_LEN_MAX: i32 = 16 * 1024 * 1024;
/// The steps after which those that are left are counted.
const STEPS: u64 = 10_000;
/// A row takes about ten steps for each column, and a sort of the rows as many again.
const STEPS_MIN: u64 = 50_000_000;
const STEPS_A_BYTE: u64 = 8;
