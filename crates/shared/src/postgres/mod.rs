//! A sequence in PostgreSQL, or in another server of its wire protocol: the head of a store is one row,
//! and each frame another. A commit is one statement (`statements.rs`).
//!
//! Three lines (`line.rs`): one commits and reads, one takes turns, which need not be durable, and one
//! waits for news. A frame lies in its row, or a stub of one that lies elsewhere.

mod address;
mod fault;
mod line;
mod statements;

use std::fmt;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rustls::{ClientConfig, RootCertStore};
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::{Appended, Error, Head, Identity, Node, Proposal, Sequence, StoredFrame, Turn};
use address::Address;
use fault::is_missing_table;
use line::{Line, Value};

/// The sequence of a store in PostgreSQL.
///
/// ```no_run
/// use grainstore_shared::Sequence;
/// use grainstore_shared::postgres::PostgresSequence;
///
/// let sequence = PostgresSequence::open("postgres://bot@db.example/memory?store=acme", None)?;
/// assert!(sequence.identity()?.is_none(), "no store has this name yet");
/// # Ok::<(), grainstore_shared::Error>(())
/// ```
pub struct PostgresSequence {
    name: String,
    /// Commits and reads.
    main: Line,
    /// Takes turns.
    turns: Line,
    /// Waits.
    watch: Line,
    store: OnceLock<[u8; 16]>,
}

impl PostgresSequence {
    /// Prepares the sequence that an address names: `postgres://user@host/database?store=NAME`, `main`
    /// without a name. Nothing is asked of the server yet. `password` is for an address without one.
    ///
    /// Over a network the connection is encrypted with TLS and the certificate of the server is
    /// verified against the roots of the system, unless the address has `sslmode=disable`.
    ///
    /// # Errors
    /// [`Error::Refused`] for text that is no address; [`Error::Unreachable`] if the system has no thread.
    pub fn open(url: &str, password: Option<&str>) -> Result<Self, Error> {
        let Address { config, name } = Address::parse(url, password)?;
        let tls = tls()?;
        let line = |begins| Line::start(config.clone(), tls.clone(), begins);
        Ok(Self {
            name,
            main: line(None)?,
            turns: line(Some(statements::TURNS_ARE_NOT_DURABLE))?,
            watch: line(Some(statements::LISTEN))?,
            store: OnceLock::new(),
        })
    }

    /// Returns the store id, with which every key begins.
    fn store(&self) -> Result<Value, Error> {
        if self.store.get().is_none() {
            self.identity()?;
        }
        let store = self
            .store
            .get()
            .ok_or_else(|| Error::Missing(self.name.clone()))?;
        Ok(Value::Bytes(store.to_vec()))
    }

    fn head_in(&self, rows: &[Row]) -> Result<Head, Error> {
        let row = rows
            .first()
            .ok_or_else(|| Error::Missing(self.name.clone()))?;
        Ok(Head {
            entries: entries(row, 0)?,
            leaf: bytes(row, 1)?,
        })
    }
}

impl Sequence for PostgresSequence {
    fn identity(&self) -> Result<Option<Identity>, Error> {
        let name = Value::Text(self.name.clone());
        let rows = match self.main.ask(statements::IDENTITY, vec![name]) {
            Err(error) if is_missing_table(&error) => return Ok(None),
            rows => rows?,
        };
        let Some(row) = rows.first() else {
            return Ok(None);
        };
        let identity = Identity {
            store: bytes(row, 0)?,
            manifest: column(row, 1)?,
            origin: Head {
                entries: 0,
                leaf: bytes(row, 2)?,
            },
            bodies: column(row, 3)?,
        };
        // It is the same for as long as the name is the store's.
        self.store.get_or_init(|| identity.store);
        Ok(Some(identity))
    }

    fn create(&self, identity: &Identity) -> Result<bool, Error> {
        for statement in statements::TABLES {
            // Of two that create the tables at once, one may be told that they are there.
            match self.main.ask(statement, Vec::new()) {
                Err(Error::Refused(reason)) if self.identity().is_err() => {
                    return Err(Error::Refused(reason));
                }
                Err(Error::Refused(_)) | Ok(_) => {}
                Err(error) => return Err(error),
            }
        }
        let values = vec![
            Value::Bytes(identity.store.to_vec()),
            Value::Text(self.name.clone()),
            Value::Bytes(identity.manifest.clone()),
            Value::Bytes(identity.origin.leaf.to_vec()),
            Value::Text(identity.bodies.clone().unwrap_or_default()),
        ];
        let rows = self.main.ask(statements::CREATE, values)?;
        if !rows.is_empty() {
            self.store.get_or_init(|| identity.store);
        }
        Ok(!rows.is_empty())
    }

    fn head(&self) -> Result<Head, Error> {
        let rows = self.main.ask(statements::HEAD, vec![self.store()?])?;
        self.head_in(&rows)
    }

    fn append(&self, proposal: &Proposal<'_>) -> Result<Appended, Error> {
        let values = vec![
            self.store()?,
            int(proposal.expected.entries)?,
            Value::Bytes(proposal.expected.leaf.to_vec()),
            int(proposal.end.entries)?,
            Value::Bytes(proposal.end.leaf.to_vec()),
            Value::Bytes(proposal.frame.to_vec()),
            Value::Bytes(proposal.node.to_bytes().to_vec()),
        ];
        let rows = self.main.ask(statements::APPEND, values)?;
        Ok(match rows.is_empty() {
            false => Appended::Yes,
            true => Appended::No,
        })
    }

    fn read(&self, from: u64, max: usize) -> Result<Vec<StoredFrame>, Error> {
        let max = i64::try_from(max).unwrap_or(i64::MAX).min(READ_MAX);
        let values = vec![self.store()?, int(from)?, Value::Int(max)];
        let rows = self.main.ask(statements::READ, values)?;
        let frames = rows.iter().map(|row| {
            Ok(StoredFrame {
                first: entries(row, 0)?,
                version: entries(row, 1)?,
                bytes: column(row, 2)?,
            })
        });
        frames.collect()
    }

    fn wait(&self, known: u64, patience: Duration) -> Result<Head, Error> {
        let end = Instant::now() + patience;
        let mut pause = Duration::ZERO;
        loop {
            let rows = self
                .watch
                .ask_after(pause, statements::HEAD, vec![self.store()?])?;
            let head = self.head_in(&rows)?;
            let left = end.saturating_duration_since(Instant::now());
            if head.entries > known || left.is_zero() {
                return Ok(head);
            }
            pause = left.min(POLL);
        }
    }

    fn replace(&self, frame: &StoredFrame) -> Result<bool, Error> {
        let values = vec![
            self.store()?,
            int(frame.first)?,
            int(frame.version)?,
            Value::Bytes(frame.bytes.clone()),
        ];
        let rows = self.main.ask(statements::REPLACE, values)?;
        if !rows.is_empty() {
            return Ok(true);
        }
        let now = self.read(frame.first, 1)?;
        let is_other_length = now.first().is_some_and(|now| {
            now.version == frame.version && now.bytes.len() != frame.bytes.len()
        });
        match is_other_length {
            true => Err(Error::refused("a frame keeps its length")),
            false => Ok(false),
        }
    }

    fn take_turn(&self, node: Node, lease: Duration) -> Result<Turn, Error> {
        let lease = i64::try_from(lease.as_millis()).unwrap_or(i64::MAX);
        let node = Value::Bytes(node.to_bytes().to_vec());
        let values = vec![self.store()?, node, Value::Int(lease)];
        let rows = self.turns.ask(statements::TAKE_TURN, values)?;
        match rows.is_empty() {
            false => Ok(Turn::Taken(self.head_in(&rows)?)),
            true => Ok(Turn::Waits),
        }
    }

    fn end_turn(&self, node: Node) {
        if let Ok(store) = self.store() {
            let node = Value::Bytes(node.to_bytes().to_vec());
            self.turns.tell(statements::END_TURN, vec![store, node]);
            self.turns.tell(statements::NOTIFY, Vec::new());
        }
    }

    fn settle(&self) {
        self.turns.settle();
    }

    /// It may where a commit waits for no standby.
    fn may_lose(&self) -> Option<bool> {
        let rows = self.main.ask(statements::WAITS, Vec::new()).ok()?;
        let waits: bool = rows.first()?.try_get(0).ok()?;
        Some(!waits)
    }
}

impl fmt::Debug for PostgresSequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresSequence")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Returns the connector of TLS: with the roots of the system, and never without verifying.
fn tls() -> Result<MakeRustlsConnect, Error> {
    let mut roots = RootCertStore::empty();
    for root in rustls_native_certs::load_native_certs().certs {
        // One that cannot be read leaves the others.
        drop(roots.add(root));
    }
    let provider = rustls::crypto::ring::default_provider();
    let config = ClientConfig::builder_with_provider(provider.into());
    let config = config.with_safe_default_protocol_versions();
    let config = config.map_err(Error::refused)?;
    let config = config.with_root_certificates(roots).with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

fn int(number: u64) -> Result<Value, Error> {
    let number = i64::try_from(number);
    Ok(Value::Int(number.map_err(Error::refused)?))
}

fn column<'a, T: FromSql<'a>>(row: &'a Row, at: usize) -> Result<T, Error> {
    row.try_get(at)
        .map_err(|error| Error::refused(format!("an answer of another form: {error}")))
}

fn entries(row: &Row, at: usize) -> Result<u64, Error> {
    let number: i64 = column(row, at)?;
    u64::try_from(number).map_err(Error::refused)
}

fn bytes<const N: usize>(row: &Row, at: usize) -> Result<[u8; N], Error> {
    let bytes: &[u8] = column(row, at)?;
    bytes.try_into().map_err(Error::refused)
}

/// How long a node that gets no notification takes to see the news.
const POLL: Duration = Duration::from_millis(500);

/// More frames than a server or a client keeps in memory are not asked for.
const READ_MAX: i64 = 64 << 20;
