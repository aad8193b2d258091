//! Directories that another program prepared: real files of a store with links, second names,
//! folders, other lengths and other contents in their places.
//!
//! Such a directory is opened, searched, checked, deleted from, repaired and backed up to. Nothing
//! may panic, and no file outside it may change.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use grainstore::recovery::verify_damaged;
use grainstore::store::Authorization;
use grainstore::{Draft, Error, Filter, Store};

use crate::campaign::bit_flips::{read, write};
use crate::disk::image::Image;
use crate::random::Random;
use crate::workload::options::options;
use crate::workload::oracle::Verdict;

/// Uses a store in a directory that the input describes. `folder` is emptied, and holds the store
/// and what lies beside it.
///
/// # Errors
/// What changed outside the store, or a file operation of the campaign itself that failed.
pub fn open_store(data: &[u8], folder: &Path) -> Verdict<()> {
    planted(Random::tape(data), folder)
}

/// Does the same as a seed says.
///
/// # Errors
/// As [`open_store`].
pub fn random_planted(seed: u64, folder: &Path) -> Verdict<()> {
    planted(Random::of(&[seed, 11]), folder)
}

fn planted(mut random: Random, folder: &Path) -> Verdict<()> {
    let told = |error: io::Error| error.to_string();
    let sound = sound_store(&folder.with_extension("sound"))?;
    let (store, outside) = (folder.join("s"), folder.join("outside"));
    let beside = beside();
    write(folder, &Image::default()).map_err(told)?;
    write(&store, sound).map_err(told)?;
    write(&outside, &beside).map_err(told)?;
    let mut done = Vec::new();
    for _ in 0..=random.below(4) {
        let what = plant(&mut random, sound, &store, &outside);
        done.push(what.map_err(told)?);
    }
    // An error is an answer; a panic is not.
    let used = use_store(&store, &folder.join("copy"));
    let after = read(&outside).map_err(told)?;
    if after.files != beside.files || after.folders != beside.folders {
        return Err(format!("{done:?} reached outside (the store: {used:?})"));
    }
    Ok(())
}

/// Returns the files of a store with several segments, runs, a text view and an erasure.
fn sound_store(folder: &Path) -> Verdict<&'static Image> {
    static SOUND: OnceLock<Image> = OnceLock::new();
    if let Some(image) = SOUND.get() {
        return Ok(image);
    }
    let make = || -> Result<(), Error> {
        let store = Store::open(folder, options(3, 0))?;
        let mut last = None;
        for n in 0..12 {
            last = Some(store.put(Draft::event(format!("green tea {n}")))?);
        }
        if let Some(last) = last {
            store.admin()?.delete(&last, ASKED)?;
        }
        store.maintenance()?.flush_text()?;
        store.maintenance()?.compact()?;
        Ok(())
    };
    let told = |error: io::Error| error.to_string();
    write(folder, &Image::default()).map_err(told)?;
    make().map_err(|error| error.to_string())?;
    let image = read(folder).map_err(told)?;
    fs::remove_dir_all(folder).map_err(told)?;
    Ok(SOUND.get_or_init(|| image))
}

/// Files outside, some under names that a store gives to its own.
fn beside() -> Image {
    let mut image = Image::default();
    image.folders.insert("folder".to_owned());
    for name in [
        "file",
        "folder/CURRENT",
        "folder/meta.json",
        "folder/0000000000000001.run",
        "folder/0000000000000001.seg",
        "folder/0123456789abcdef0123456789abcdef.store",
    ] {
        image
            .files
            .insert(name.to_owned(), format!("mine: {name}").into_bytes());
    }
    image
}

/// Changes one thing in the directory of the store, and says what.
fn plant(random: &mut Random, sound: &Image, store: &Path, outside: &Path) -> io::Result<String> {
    let mut names: Vec<&str> = sound.files.keys().map(String::as_str).collect();
    names.extend(sound.folders.iter().map(String::as_str));
    names.extend(NEXT);
    // Half of the changes are of what every opening looks at.
    let first = random.percent(50);
    let name = if first {
        random.pick(&FIRST)
    } else {
        random.pick(&names)
    };
    let name = name.copied().unwrap_or("LOCK");
    let other = random.pick(&names).copied().unwrap_or("LOCK");
    let path = store.join(name);
    // Nothing is planted behind a link that was planted before: it would lie outside.
    let parent = path.parent().and_then(|parent| parent.canonicalize().ok());
    if parent.is_none_or(|parent| !is_within(&parent, store)) {
        return Ok(format!("nothing at {name}"));
    }
    let targets = if sound.folders.contains(name) {
        ["folder", "folder", "missing"]
    } else {
        ["file", "file", "missing"]
    };
    let target = outside.join(random.pick(&targets).unwrap_or(&"file"));
    let kind = if random.percent(40) {
        0
    } else {
        random.below(9)
    };
    match kind {
        0 => {
            clear(&path)?;
            lenient(symlink(&target, &path))?;
        }
        1 => {
            clear(&path)?;
            lenient(fs::hard_link(outside.join("file"), &path))?;
        }
        2 => {
            clear(&path)?;
            lenient(fs::create_dir(&path))?;
            lenient(fs::write(path.join("deeper"), "planted"))?;
        }
        3 => clear(&path)?,
        // A copy is written through a link that was planted before.
        4 if path.is_symlink() => {}
        4 => lenient(fs::copy(store.join(other), &path).map(drop))?,
        5 => lenient(fs::rename(store.join(other), &path))?,
        // The campaign itself never changes a file outside.
        _ if path
            .canonicalize()
            .is_ok_and(|real| !is_within(&real, store)) => {}
        _ if is_second_name(&path) => {}
        6 => {
            let len = [0, 1, 7, 40, 4_000, 64 << 20];
            let len = random.pick(&len).copied().unwrap_or(0);
            let file = fs::File::options().write(true).open(&path);
            lenient(file.and_then(|file| file.set_len(len)))?;
        }
        _ => {
            let Ok(mut bytes) = fs::read(&path) else {
                return Ok(format!("nothing at {name}"));
            };
            let (at, by) = (random.next() << 8 | random.next(), random.next());
            let len = bytes.len() as u64;
            let at = usize::try_from(at.checked_rem(len).unwrap_or(0)).unwrap_or(0);
            if let Some(byte) = bytes.get_mut(at) {
                *byte = u8::try_from(by & 0xff).unwrap_or(0);
            }
            lenient(fs::write(&path, bytes))?;
        }
    }
    Ok(format!("{kind} {name} {other} {}", target.display()))
}

fn is_within(real: &Path, store: &Path) -> bool {
    store
        .canonicalize()
        .is_ok_and(|store| real.starts_with(store))
}

fn is_second_name(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    path.symlink_metadata().is_ok_and(|found| found.nlink() > 1)
}

/// Removes what has a name, and no file that a link leads to.
fn clear(path: &Path) -> io::Result<()> {
    let is_folder = path.symlink_metadata().is_ok_and(|found| found.is_dir());
    lenient(if is_folder {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    })
}

/// A name may be gone, or lie in what is no folder any more, by what was planted before.
fn lenient(done: io::Result<()>) -> io::Result<()> {
    done.or_else(|error| match error.kind() {
        io::ErrorKind::StorageFull => Err(error),
        _ => Ok(()),
    })
}

/// Does to a store what reads, writes and removes its files.
fn use_store(path: &Path, copy: &Path) -> Result<(), Error> {
    drop(verify_damaged(path));
    let used = Store::open(path, options(3, 1)).and_then(|store| {
        let address = store.put(Draft::event("green tea, again"))?;
        drop(store.search("tea", &Filter::new(), 5));
        drop(store.maintenance()?.check());
        let listed = store.list(None, 20)?;
        for address in listed.addresses.iter().take(3).chain([&address]) {
            drop(store.get(address));
            drop(store.admin()?.delete(address, ASKED));
        }
        drop(store.maintenance()?.compact());
        drop(store.maintenance()?.backup(copy));
        Ok(())
    });
    // As the target of a backup of a sound store, and of a repair.
    let sound = Store::in_memory(options(3, 2))?;
    sound.put(Draft::event("another store"))?;
    drop(sound.maintenance()?.backup(path));
    drop(grainstore::recovery::repair(path, options(3, 3)));
    used
}

const ASKED: Authorization<'_> = Authorization {
    reason: "a campaign",
    authority: "did:web:example.org",
};

const FIRST: [&str; 8] = [
    "LOCK",
    "WRITER",
    "MANIFEST",
    "MANIFEST.copy",
    "ballast",
    "index",
    "ledger",
    "text",
];

/// Names that a store would give next, and one that it never gives.
const NEXT: [&str; 13] = [
    "MANIFEST.new",
    "MANIFEST.copy.new",
    "ballast",
    "index/CURRENT.new",
    "index/accesses",
    "index/accesses.new",
    "index/0000000000000009.run",
    "ledger/torn-1",
    "ledger/0000000000000009.seg",
    "ledger/0000000000000001.seg.new",
    "text/meta.json.new",
    "text/0123456789abcdef0123456789abcdef.store",
    "text/mine",
];

/// Returns a directory of this process for the campaign.
pub fn planted_folder() -> PathBuf {
    std::env::temp_dir().join(format!("grainstore-planted-{}", std::process::id()))
}
