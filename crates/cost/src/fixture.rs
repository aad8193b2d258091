//! The stores and files that operations are counted on: made from numbers, by one thread, without
//! the machine's clock or randomness, so that every run finds the same.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use grainstore::crypto::{self, Random};
use grainstore::interchange::{Format, WriteOptions};
use grainstore::store::Clock;
use grainstore::{Filter, Options, Store, Time, index, text};

use crate::Result;
use crate::conversations::chatgpt;
use crate::data::{Chunk, Dice, Generator};

/// A folder with what operations need.
#[derive(Debug, Clone)]
pub struct Fixture {
    folder: PathBuf,
}

impl Fixture {
    /// Makes the stores and files in an empty folder.
    ///
    /// # Errors
    /// Those of the store.
    pub fn create(folder: &Path) -> Result<Self> {
        let fixture = Self::at(folder);
        let store = Store::open(folder.join(QUESTIONED), options(true))?;
        let mut generator = generator();
        for _ in 0..SEGMENTS {
            let chunk = generator.chunk(usize::try_from(QUESTIONED_GRAINS / SEGMENTS)?)?;
            store.put_batch(chunk.drafts)?;
            store.maintenance()?.flush_text()?;
        }
        let store = Store::open(folder.join(EXPORTED), options(false))?;
        // A file of PAM is of one owner.
        let drafts = grains(EXPORTED_GRAINS)?.drafts.into_iter();
        store.put_batch(drafts.map(|draft| draft.user("user")).collect::<Vec<_>>())?;
        for format in FORMATS {
            let mut file = fs::File::create(fixture.file(format))?;
            let exported = store.admin()?.export(
                format,
                &Filter::new(),
                &WriteOptions::default(),
                &mut file,
            )?;
            if exported.grains != EXPORTED_GRAINS as u64 {
                return Err(format!("{} records of {format}", exported.grains).into());
            }
        }
        chatgpt(EXPORTED_GRAINS as u64, &fixture.conversations())?;
        Ok(fixture)
    }

    /// Returns the fixture that was made in a folder.
    pub fn at(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
        }
    }

    /// Opens the store that questions are asked of: 20,000 grains, with text.
    ///
    /// # Errors
    /// Those of the store.
    pub fn questioned(&self) -> Result<Store> {
        Ok(Store::open(self.folder.join(QUESTIONED), options(true))?)
    }

    /// Opens the store that files are written from: 1,000 grains, without text.
    ///
    /// # Errors
    /// Those of the store.
    pub fn exported(&self) -> Result<Store> {
        Ok(Store::open(self.folder.join(EXPORTED), options(false))?)
    }

    /// Returns the file of a format, with the grains of the store that files are written from.
    pub fn file(&self, format: Format) -> PathBuf {
        self.folder.join(format.name())
    }

    /// Returns an export of ChatGPT with as many messages.
    pub fn conversations(&self) -> PathBuf {
        self.folder.join("conversations.json")
    }

    /// Returns where tokens of a server go.
    pub fn tokens(&self) -> PathBuf {
        self.folder.join("tokens")
    }

    /// Creates an empty store; `number` tells it from others of the process.
    ///
    /// # Errors
    /// Those of the store and of the folder.
    pub fn empty(&self, number: usize, has_text: bool) -> Result<Store> {
        let folder = self.folder.join(format!("new-{number}"));
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        Ok(Store::open(folder, options(has_text))?)
    }
}

/// Returns the first grains of the corpus.
///
/// # Errors
/// Those of the encoding.
pub fn grains(len: usize) -> Result<Chunk> {
    generator().chunk(len)
}

/// Returns what makes the grains of every store.
pub fn generator() -> Generator {
    Generator::new(11, QUESTIONED_GRAINS)
}

/// Opens stores such that the work depends on nothing but the calls.
fn options(has_text: bool) -> Options {
    Options {
        clock: Arc::new(StoppedClock),
        random: Arc::new(Seeded::default()),
        ballast_bytes: 0,
        index: index::IndexOptions {
            background: false,
            ..index::IndexOptions::default()
        },
        text: has_text.then(|| text::TextOptions {
            background: false,
            ..text::TextOptions::default()
        }),
        ..Options::default()
    }
}

/// A clock that stands at the end of 2025, after every grain of the corpus was created.
#[derive(Debug)]
struct StoppedClock;

impl Clock for StoppedClock {
    fn now(&self) -> Time {
        Time::from_ms(1_767_225_600_000)
    }
}

/// Randomness that is the same in every process.
#[derive(Debug, Default)]
pub(crate) struct Seeded(AtomicU64);

impl Random for Seeded {
    fn fill(&self, bytes: &mut [u8]) -> std::result::Result<(), crypto::Error> {
        let mut dice = Dice::new(self.0.fetch_add(1, Ordering::Relaxed));
        for part in bytes.chunks_mut(8) {
            for (byte, drawn) in part.iter_mut().zip(dice.next().to_be_bytes()) {
                *byte = drawn;
            }
        }
        Ok(())
    }
}

/// The formats that grains go in and out by.
pub const FORMATS: [Format; 5] = [
    Format::Mg,
    Format::Jsonl,
    Format::Pam,
    Format::Aimem,
    Format::Omi,
];
/// How many grains there are to be asked about.
pub const QUESTIONED_GRAINS: u64 = 20_000;
/// How many grains a file has.
pub const EXPORTED_GRAINS: usize = 1_000;
/// The segments of the text view: searches go through several, as in a store that grew.
const SEGMENTS: u64 = 4;
const QUESTIONED: &str = "questioned";
const EXPORTED: &str = "exported";
