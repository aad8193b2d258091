//! A sequence in a directory, for the processes of one machine: a lock, the head, and a file a frame.
//!
//! | file | holds |
//! | --- | --- |
//! | `LOCK` | nothing: it is locked for each step |
//! | `IDENTITY` | store id, leaf before the first entry, `MANIFEST` |
//! | `BODIES` | where long frames lie, if they do not lie here |
//! | `HEAD` | entries, leaf, and the node and the end of the turn |
//! | `frames/N` | the version and the bytes of the frame whose first entry is N |
//!
//! `HEAD` is replaced last and by one rename: a frame behind it was never appended.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::{Appended, Error, Head, Identity, Node, Proposal, Sequence, StoredFrame, Turn};

/// A sequence in a directory.
///
/// ```
/// use grainstore_shared::{DirectorySequence, Head, Identity, Sequence};
///
/// let folder = tempfile::tempdir()?;
/// let origin = Head { entries: 0, leaf: [7; 32] };
/// let sequence = DirectorySequence::open(folder.path())?;
/// let (manifest, bodies) = (b"{}".to_vec(), None);
/// sequence.create(&Identity { store: [7; 16], manifest, origin, bodies })?;
/// assert_eq!(DirectorySequence::open(folder.path())?.head()?, origin);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct DirectorySequence {
    folder: PathBuf,
}

impl DirectorySequence {
    /// Opens the sequence in a directory, which is created if it is missing.
    ///
    /// # Errors
    /// [`Error::Unreachable`].
    pub fn open(folder: &Path) -> Result<Self, Error> {
        fs::create_dir_all(folder.join(FRAMES)).map_err(Error::unreachable)?;
        Ok(Self {
            folder: folder.to_owned(),
        })
    }

    /// Takes the lock for one step; it ends with the file.
    fn locked(&self) -> Result<File, Error> {
        let lock = File::create(self.folder.join("LOCK")).map_err(Error::unreachable)?;
        lock.lock().map_err(Error::unreachable)?;
        Ok(lock)
    }

    fn state(&self) -> Result<State, Error> {
        let bytes = self.bytes("HEAD")?;
        let bytes = bytes.ok_or_else(|| Error::Missing(self.folder.display().to_string()))?;
        State::from_bytes(&bytes).ok_or_else(|| Error::refused("HEAD is damaged"))
    }

    fn bytes(&self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        match fs::read(self.folder.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            read => Ok(Some(read.map_err(Error::unreachable)?)),
        }
    }

    fn put(&self, name: &str, parts: &[&[u8]]) -> Result<(), Error> {
        self.write(name, parts).map_err(Error::unreachable)
    }

    /// Replaces a file by one rename, and makes that durable.
    fn write(&self, name: &str, parts: &[&[u8]]) -> io::Result<()> {
        let path = self.folder.join(name);
        let new = path.with_extension("new");
        let mut file = File::create(&new)?;
        parts.iter().try_for_each(|part| file.write_all(part))?;
        file.sync_all()?;
        fs::rename(&new, &path)?;
        path.parent()
            .map_or(Ok(()), |folder| File::open(folder)?.sync_all())
    }

    /// Returns the first entries of the frames before an end, in order.
    fn firsts(&self, end: u64) -> Result<Vec<u64>, Error> {
        let mut firsts = Vec::new();
        for item in self
            .folder
            .join(FRAMES)
            .read_dir()
            .map_err(Error::unreachable)?
        {
            let name = item.map_err(Error::unreachable)?.file_name();
            firsts.extend(name.to_str().and_then(|name| name.parse::<u64>().ok()));
        }
        firsts.retain(|first| *first < end);
        firsts.sort_unstable();
        Ok(firsts)
    }

    fn frame(&self, first: u64) -> Result<StoredFrame, Error> {
        let damaged = || Error::refused(format!("the frame of entry {first} is damaged"));
        let mut bytes = self.bytes(&name_of(first))?.ok_or_else(damaged)?;
        let version = *bytes.first_chunk().ok_or_else(damaged)?;
        bytes.drain(..size_of::<u64>());
        Ok(StoredFrame {
            first,
            version: u64::from_be_bytes(version),
            bytes,
        })
    }
}

impl Sequence for DirectorySequence {
    fn identity(&self) -> Result<Option<Identity>, Error> {
        let Some(bytes) = self.bytes("IDENTITY")? else {
            return Ok(None);
        };
        let damaged = || Error::refused("IDENTITY is damaged");
        let (store, rest) = bytes.split_first_chunk().ok_or_else(damaged)?;
        let (leaf, manifest) = rest.split_first_chunk().ok_or_else(damaged)?;
        Ok(Some(Identity {
            store: *store,
            manifest: manifest.to_vec(),
            origin: Head {
                entries: 0,
                leaf: *leaf,
            },
            bodies: self
                .bytes("BODIES")?
                .map(String::from_utf8)
                .transpose()
                .map_err(Error::refused)?,
        }))
    }

    fn create(&self, identity: &Identity) -> Result<bool, Error> {
        let _lock = self.locked()?;
        if self.bytes("IDENTITY")?.is_some() {
            return Ok(false);
        }
        let state = State {
            head: identity.origin,
            turn: None,
        };
        self.put("HEAD", &[&state.to_bytes()])?;
        if let Some(bodies) = &identity.bodies {
            self.put("BODIES", &[bodies.as_bytes()])?;
        }
        let parts: [&[u8]; 3] = [&identity.store, &identity.origin.leaf, &identity.manifest];
        self.put("IDENTITY", &parts)?;
        Ok(true)
    }

    fn head(&self) -> Result<Head, Error> {
        Ok(self.state()?.head)
    }

    fn append(&self, proposal: &Proposal<'_>) -> Result<Appended, Error> {
        let _lock = self.locked()?;
        let state = self.state()?;
        if state.head != proposal.expected || state.turn_of_another(proposal.node) {
            return Ok(Appended::No);
        }
        let name = name_of(proposal.expected.entries);
        self.put(&name, &[&0_u64.to_be_bytes(), proposal.frame])?;
        let state = State {
            head: proposal.end,
            ..state
        };
        self.put("HEAD", &[&state.to_bytes()])?;
        Ok(Appended::Yes)
    }

    fn read(&self, from: u64, max: usize) -> Result<Vec<StoredFrame>, Error> {
        let end = self.state()?.head.entries;
        let firsts = self.firsts(end)?;
        let mut taken = Vec::new();
        let after = firsts.partition_point(|first| *first <= from);
        let mut bytes = 0_usize;
        if from < end {
            for first in firsts.into_iter().skip(after.saturating_sub(1)) {
                let frame = self.frame(first)?;
                bytes = bytes.saturating_add(frame.bytes.len());
                if bytes > max && !taken.is_empty() {
                    break;
                }
                taken.push(frame);
            }
        }
        Ok(taken)
    }

    fn wait(&self, entries: u64, patience: Duration) -> Result<Head, Error> {
        let end = Instant::now() + patience;
        loop {
            let head = self.head()?;
            if head.entries > entries || Instant::now() >= end {
                return Ok(head);
            }
            std::thread::sleep(POLL.min(patience));
        }
    }

    fn replace(&self, frame: &StoredFrame) -> Result<bool, Error> {
        let _lock = self.locked()?;
        let found = self.frame(frame.first)?;
        if found.version != frame.version {
            return Ok(false);
        }
        if found.bytes.len() != frame.bytes.len() {
            return Err(Error::refused("a frame keeps its length"));
        }
        let version = frame.version.saturating_add(1);
        self.put(
            &name_of(frame.first),
            &[&version.to_be_bytes(), &frame.bytes],
        )?;
        Ok(true)
    }

    fn take_turn(&self, node: Node, lease: Duration) -> Result<Turn, Error> {
        let _lock = self.locked()?;
        let state = self.state()?;
        if state.turn_of_another(node) {
            return Ok(Turn::Waits);
        }
        let lease = u64::try_from(lease.as_millis()).unwrap_or(u64::MAX);
        let turn = Some((node, now_ms().saturating_add(lease)));
        self.put("HEAD", &[&State { turn, ..state }.to_bytes()])?;
        Ok(Turn::Taken(state.head))
    }

    fn end_turn(&self, node: Node) {
        let ended = self.locked().and_then(|_lock| {
            let state = self.state()?;
            if state.turn.is_some_and(|(holder, _)| holder == node) {
                self.put(
                    "HEAD",
                    &[&State {
                        turn: None,
                        ..state
                    }
                    .to_bytes()],
                )?;
            }
            Ok(())
        });
        // The lease ends it otherwise.
        drop(ended);
    }
}

/// The file `HEAD`.
#[derive(Debug, Clone, Copy)]
struct State {
    head: Head,
    /// The node that has the turn, and until when, in milliseconds since 1970.
    turn: Option<(Node, u64)>,
}

impl State {
    fn turn_of_another(&self, node: Node) -> bool {
        let now = now_ms();
        self.turn
            .is_some_and(|(holder, until)| holder != node && until > now)
    }

    fn to_bytes(self) -> Vec<u8> {
        let mut bytes = self.head.entries.to_be_bytes().to_vec();
        bytes.extend_from_slice(&self.head.leaf);
        if let Some((node, until)) = self.turn {
            bytes.extend_from_slice(&node.to_bytes());
            bytes.extend_from_slice(&until.to_be_bytes());
        }
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (entries, rest) = bytes.split_first_chunk()?;
        let (leaf, rest) = rest.split_first_chunk()?;
        let turn = match rest.split_first_chunk() {
            None => None,
            Some((node, until)) => {
                let until = u64::from_be_bytes(until.try_into().ok()?);
                Some((Node::new(*node), until))
            }
        };
        let head = Head {
            entries: u64::from_be_bytes(*entries),
            leaf: *leaf,
        };
        Some(Self { head, turn })
    }
}

fn name_of(first: u64) -> String {
    format!("{FRAMES}/{first}")
}

#[expect(
    clippy::disallowed_methods,
    reason = "the end of a turn is compared by several processes; nothing that is stored rests on it"
)]
fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| u64::try_from(now.as_millis()).unwrap_or(u64::MAX))
}

const FRAMES: &str = "frames";
const POLL: Duration = Duration::from_millis(5);
