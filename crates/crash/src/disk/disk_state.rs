//! The durable state of the simulated disk, and what a crash leaves of the rest.
//!
//! Names are durable after a sync of their folder, bytes and length after a sync of their file. A
//! mode says which unsynced changes survive.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use crate::disk::image::{Image, folder_of, is_root};
use crate::disk::op::{FileId, Op};
use crate::disk::sim_disk::write;
use crate::random::Random;

/// A crash mode: which of the unsynced changes survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mode {
    /// None.
    Nothing,
    /// All.
    All,
    /// Each sector of 512 bytes with this chance, in percent.
    Sectors(usize),
    /// The first changes, and a prefix of the next.
    Torn,
    /// All but the first changes.
    Suffix,
    /// The beginning of each write.
    HeaderOnly,
    /// All but the beginning of each write.
    AllButHeader,
    /// All, because only the process died; what was not durable still is not.
    Killed,
}

impl Mode {
    pub(crate) const EVERY: [Self; 12] = [
        Self::Nothing,
        Self::All,
        Self::Sectors(2),
        Self::Sectors(10),
        Self::Sectors(50),
        Self::Sectors(90),
        Self::Sectors(98),
        Self::Torn,
        Self::Suffix,
        Self::HeaderOnly,
        Self::AllButHeader,
        Self::Killed,
    ];
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("nothing"),
            Self::All => f.write_str("all"),
            Self::Sectors(percent) => write!(f, "sectors-{percent}"),
            Self::Torn => f.write_str("torn"),
            Self::Suffix => f.write_str("suffix"),
            Self::HeaderOnly => f.write_str("header-only"),
            Self::AllButHeader => f.write_str("all-but-header"),
            Self::Killed => f.write_str("killed"),
        }
    }
}

impl FromStr for Mode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut modes = Self::EVERY.into_iter();
        let found = modes.find(|mode| mode.to_string() == text);
        found.ok_or_else(|| format!("not a mode: {text}"))
    }
}

/// The state of the disk at one point of a log: the durable names and bytes, and the unsynced
/// changes.
///
/// Names are durable once their folder was synced, bytes and length once their file was: neither
/// makes the other durable.
#[derive(Debug, Clone)]
pub(crate) struct DiskState {
    folders: BTreeSet<String>,
    names: BTreeMap<String, FileId>,
    files: BTreeMap<FileId, Bytes>,
    /// The changes of names since their folder was synced, each with that folder.
    unsynced: Vec<(String, Naming)>,
    /// The names in the running system.
    live: BTreeMap<String, FileId>,
}

/// An operation on names. It says which file it is about, because the operation that created the
/// file may be one that a crash drops.
#[derive(Debug, Clone)]
enum Naming {
    Folder(String),
    Create(String, FileId),
    Rename(String, String, FileId),
    Remove(String),
}

/// The bytes of a file: what is durable, and what happened since.
#[derive(Debug, Clone, Default)]
struct Bytes {
    durable: Vec<u8>,
    since: Vec<Change>,
}

#[derive(Debug, Clone)]
struct Change {
    what: What,
    fate: Fate,
}

#[derive(Debug, Clone)]
enum What {
    Write { offset: usize, bytes: Vec<u8> },
    SetLen(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Unsynced,
    /// Its sync failed: the system calls it clean, and no later sync writes it.
    Doubtful,
    Durable,
}

impl DiskState {
    pub(crate) fn new(image: &Image) -> Self {
        let names: BTreeMap<_, _> = image.files.keys().cloned().zip(0..).collect();
        let files = image.files.values().map(|bytes| Bytes {
            durable: bytes.clone(),
            since: Vec::new(),
        });
        Self {
            folders: image.folders.clone(),
            live: names.clone(),
            names,
            files: (0..).zip(files).collect(),
            unsynced: Vec::new(),
        }
    }

    /// Returns whether a crash here has one outcome only.
    pub(crate) fn is_settled(&self) -> bool {
        self.unsynced.is_empty() && self.files.values().all(|file| file.since.is_empty())
    }

    /// Applies one operation of the log.
    pub(crate) fn follow(&mut self, op: &Op) {
        match op {
            Op::Write {
                file,
                offset,
                bytes,
                ..
            } => self.change(
                *file,
                What::Write {
                    offset: *offset,
                    bytes: bytes.clone(),
                },
            ),
            Op::SetLen { file, len, .. } => self.change(*file, What::SetLen(*len)),
            Op::Sync { file, .. } => self.files.entry(*file).or_default().sync(),
            Op::SyncFailed { file, .. } => self.files.entry(*file).or_default().doubt(),
            Op::SyncFolder { folder } => {
                let unsynced = std::mem::take(&mut self.unsynced);
                for (place, naming) in unsynced {
                    if place == *folder {
                        self.settle(&naming);
                    } else {
                        self.unsynced.push((place, naming));
                    }
                }
            }
            Op::CreateFolder { folder } => self.name(folder, Naming::Folder(folder.clone())),
            Op::Create { name, file } => {
                self.live.insert(name.clone(), *file);
                self.files.insert(*file, Bytes::default());
                self.name(name, Naming::Create(name.clone(), *file));
            }
            Op::Remove { name } => {
                self.live.remove(name);
                self.name(name, Naming::Remove(name.clone()));
            }
            Op::Rename { from, to } => {
                if let Some(file) = self.live.remove(from) {
                    self.live.insert(to.clone(), file);
                    self.name(to, Naming::Rename(from.clone(), to.clone(), file));
                }
            }
            Op::Try(_) | Op::Ack(_) | Op::AckUnsynced(_) | Op::TryBackup(_) | Op::AckBackup(_) => {}
        }
    }

    fn change(&mut self, file: FileId, what: What) {
        let fate = Fate::Unsynced;
        let file = self.files.entry(file).or_default();
        file.since.push(Change { what, fate });
    }

    fn name(&mut self, name: &str, naming: Naming) {
        self.unsynced.push((folder_of(name).into(), naming));
    }

    /// Makes an operation on names durable.
    fn settle(&mut self, naming: &Naming) {
        match naming {
            Naming::Folder(folder) => {
                self.folders.insert(folder.clone());
            }
            Naming::Create(name, file) => {
                self.names.insert(name.clone(), *file);
            }
            Naming::Remove(name) => {
                self.names.remove(name);
            }
            Naming::Rename(from, to, file) => {
                if self.names.get(from) == Some(file) {
                    self.names.remove(from);
                }
                self.names.insert(to.clone(), *file);
            }
        }
    }

    /// Returns the image that a crash leaves.
    pub(crate) fn crash(&self, mode: Mode, random: &mut Random) -> Image {
        let mut after = self.clone();
        let names = match mode {
            Mode::Nothing => 0,
            Mode::All => 100,
            _ => random.pick(&[0, 50, 50, 100]).copied().unwrap_or(50),
        };
        for (_, naming) in std::mem::take(&mut after.unsynced) {
            if random.percent(names) {
                after.settle(&naming);
            }
        }
        let mut image = Image {
            folders: after.folders,
            ..Image::default()
        };
        for (name, file) in after.names {
            let folder = folder_of(&name);
            // Files without their folder are nowhere.
            if is_root(folder) || image.folders.contains(folder) {
                let bytes = self.files.get(&file);
                let bytes = bytes.map(|bytes| bytes.crash(mode, random));
                image.files.insert(name, bytes.unwrap_or_default());
            }
        }
        image
    }
}

impl Bytes {
    fn sync(&mut self) {
        for change in &mut self.since {
            if change.fate == Fate::Unsynced {
                change.fate = Fate::Durable;
            }
        }
        let durable = self.since.iter();
        let durable = durable.take_while(|change| change.fate == Fate::Durable);
        for change in self.since.drain(..durable.count()).collect::<Vec<_>>() {
            change.what.apply(&mut self.durable);
        }
    }

    fn doubt(&mut self) {
        for change in &mut self.since {
            if change.fate == Fate::Unsynced {
                change.fate = Fate::Doubtful;
            }
        }
    }

    fn crash(&self, mode: Mode, random: &mut Random) -> Vec<u8> {
        let mut bytes = self.durable.clone();
        let unsynced = self.since.iter();
        let unsynced = unsynced
            .filter(|change| change.fate != Fate::Durable)
            .count();
        let cut = random.below(unsynced + 1);
        let mut nth = 0;
        let mut end = bytes.len();
        for change in &self.since {
            if change.fate == Fate::Durable {
                change.what.apply(&mut bytes);
                continue;
            }
            if let What::Write { offset, bytes } = &change.what {
                end = end.max(offset + bytes.len());
            }
            change.what.survive(mode, nth, cut, random, &mut bytes);
            nth += 1;
        }
        // The length of a file is not written with its bytes.
        if !matches!(mode, Mode::Nothing | Mode::All) && unsynced > 0 && random.percent(25) {
            bytes.resize(bytes.len().max(end), 0);
        }
        bytes
    }
}

impl What {
    fn apply(&self, content: &mut Vec<u8>) {
        match self {
            Self::Write { offset, bytes } => write(content, *offset, bytes),
            Self::SetLen(len) => content.resize(*len, 0),
        }
    }

    /// Applies what a mode leaves of the unsynced change with this number.
    fn survive(
        &self,
        mode: Mode,
        nth: usize,
        cut: usize,
        random: &mut Random,
        content: &mut Vec<u8>,
    ) {
        let (all, part) = match mode {
            Mode::Nothing => (false, false),
            Mode::All | Mode::Killed => (true, false),
            Mode::Sectors(_) | Mode::HeaderOnly | Mode::AllButHeader => (false, true),
            Mode::Torn => (nth < cut, nth == cut),
            Mode::Suffix => (nth >= cut, false),
        };
        match self {
            Self::SetLen(len) => {
                let part = part && random.percent(50);
                if all || part {
                    content.resize(*len, 0);
                }
            }
            Self::Write { .. } if all => self.apply(content),
            Self::Write { offset, bytes } if part => {
                for (from, to) in kept(mode, *offset, bytes.len(), random) {
                    if let Some(part) = bytes.get(from..to) {
                        write(content, offset + from, part);
                    }
                }
            }
            Self::Write { .. } => {}
        }
    }
}

/// Returns the parts of a write that survive.
fn kept(mode: Mode, offset: usize, len: usize, random: &mut Random) -> Vec<(usize, usize)> {
    match mode {
        Mode::Sectors(percent) => {
            let mut parts = Vec::new();
            let mut from = 0;
            while from < len {
                let to = len.min(from + SECTOR - (offset + from) % SECTOR);
                if random.percent(percent) {
                    parts.push((from, to));
                }
                from = to;
            }
            parts
        }
        Mode::Torn => vec![(0, random.below(len + 1))],
        _ => {
            let sector = SECTOR - offset % SECTOR;
            let header = random.pick(&[32, 96, sector]).copied().unwrap_or(32);
            let header = header.min(len);
            if mode == Mode::HeaderOnly {
                vec![(0, header)]
            } else {
                vec![(header, len)]
            }
        }
    }
}

const SECTOR: usize = 512;
