//! What another program left in the directory of a store: links, second names, pipes, and files that
//! were replaced while it was open. Nothing outside the directory is touched.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use grainstore::store::Authorization;

use super::*;

const ASKED: Authorization<'_> = Authorization {
    reason: "a test",
    authority: "did:web:example.org",
};

/// A directory with a store in it, and beside it files that no store may touch.
struct Planted {
    home: tempfile::TempDir,
    before: BTreeMap<PathBuf, Vec<u8>>,
}

impl Planted {
    /// Creates a store with runs, a text view and counters on disk.
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let outside = home.path().join("outside");
        fs::create_dir_all(outside.join("folder/deeper")).unwrap();
        for name in ["file", "folder/CURRENT", "folder/0000000000000001.run"] {
            fs::write(outside.join(name), format!("mine: {name}")).unwrap();
        }
        fs::write(outside.join("folder/deeper/meta.json"), "mine").unwrap();
        let planted = Self {
            before: files_of(&outside),
            home,
        };
        let store = planted.open().unwrap();
        for n in 0..5 {
            let address = store.put(prefers(&n.to_string())).unwrap();
            store.get(&address).unwrap();
        }
        store.maintenance().unwrap().compact().unwrap();
        drop(store);
        planted
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join("s").join(name)
    }

    fn outside(&self, name: &str) -> PathBuf {
        self.home.path().join("outside").join(name)
    }

    fn open(&self) -> Result<Store, grainstore::Error> {
        let options = Options {
            accesses: Some(Duration::from_secs(60)),
            ..at(1).0
        };
        Store::open(self.path(""), options)
    }

    /// Puts a link in the place of a name.
    fn link(&self, name: &str, target: &str) {
        let path = self.path(name);
        if path.is_dir() {
            fs::remove_dir_all(&path).unwrap();
        } else if path.exists() {
            fs::remove_file(&path).unwrap();
        }
        symlink(self.outside(target), path).unwrap();
    }

    /// Opens the store and does to it what writes and removes files.
    fn use_it(&self) -> Result<(), grainstore::Error> {
        let store = self.open()?;
        let address = store.put(prefers("more"))?;
        store.search("more", &Filter::new(), 3)?;
        store.maintenance()?.check()?;
        store.admin()?.delete(&address, ASKED)?;
        store.maintenance()?.compact()?;
        Ok(())
    }

    #[track_caller]
    fn assert_outside_is_untouched(&self, about: &str) {
        assert_eq!(files_of(&self.outside("")), self.before, "{about}");
    }
}

fn files_of(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_of(&path));
        } else {
            found.insert(path.clone(), fs::read(path).unwrap());
        }
    }
    found
}

#[test]
fn a_link_in_the_place_of_a_folder_or_file_of_a_store_is_refused_by_name() {
    for (name, target) in [
        ("text", "folder"),
        ("index", "folder"),
        ("ledger", "folder"),
        ("LOCK", "file"),
        ("LOCK", "missing"),
        ("ballast", "file"),
        ("ballast", "missing"),
        ("MANIFEST.new", "file"),
    ] {
        let planted = Planted::new();
        planted.link(name, target);
        let error = planted.open().unwrap_err();
        assert_eq!(error.code(), "ERR_NOT_A_STORE", "{name}: {error}");
        assert!(error.to_string().contains(name), "{name}: {error}");
        planted.assert_outside_is_untouched(name);
        // A directory that is to become a store, as a cloned repository may hold one.
        fs::remove_file(planted.path("MANIFEST")).unwrap();
        assert!(planted.open().is_err(), "{name}");
        planted.assert_outside_is_untouched(name);
    }
}

#[test]
fn a_link_to_a_manifest_is_no_store() {
    let (planted, other) = (Planted::new(), Planted::new());
    let manifest = fs::read(other.path("MANIFEST")).unwrap();
    fs::remove_file(planted.path("MANIFEST")).unwrap();
    symlink(other.path("MANIFEST"), planted.path("MANIFEST")).unwrap();
    let error = planted.open().unwrap_err();
    assert_eq!(error.code(), "ERR_NOT_A_STORE");
    assert!(error.to_string().contains("MANIFEST"), "{error}");
    assert_eq!(fs::read(other.path("MANIFEST")).unwrap(), manifest);
}

#[test]
fn a_link_inside_a_folder_of_a_store_is_not_followed() {
    let sound = Planted::new();
    let mut names = Vec::new();
    for folder in ["ledger", "index", "text"] {
        for entry in fs::read_dir(sound.path(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            names.push(format!("{folder}/{name}"));
        }
    }
    // The names that are written next.
    names.extend(
        [
            "index/CURRENT.new",
            "index/accesses",
            "index/accesses.new",
            "text/meta.json.new",
            "text/.managed.json.new",
        ]
        .map(str::to_owned),
    );
    // Names that a store gives to no file; they stay.
    names.extend(["index/mine", "text/mine", "ledger/mine"].map(str::to_owned));
    for name in &names {
        for target in ["file", "folder", "missing"] {
            let planted = Planted::new();
            let has_ledger = !name.ends_with(".seg");
            let path = planted.path(name);
            if path.exists() {
                fs::remove_file(&path).unwrap();
            }
            symlink(planted.outside(target), &path).unwrap();
            let about = format!("{name} -> {target}");
            let used = planted.use_it();
            planted.assert_outside_is_untouched(&about);
            if has_ledger {
                used.unwrap_or_else(|error| panic!("{about}: {error:?}"));
            } else {
                let code = used.unwrap_err().code();
                assert!(["ERR_STORAGE_IO", "ERR_STORAGE_DAMAGED"].contains(&code.as_str()));
            }
            if name.ends_with("/mine") {
                assert!(path.symlink_metadata().is_ok(), "{about} was removed");
            }
        }
    }
}

#[test]
fn files_that_no_store_writes_stay_when_a_view_is_built_anew() {
    let planted = Planted::new();
    fs::create_dir_all(planted.path("text/notes/deeper")).unwrap();
    let kept = ["text/notes/deeper/diary", "text/diary", "index/diary"];
    for name in kept {
        fs::write(planted.path(name), "mine").unwrap();
    }
    fs::write(planted.path("text/meta.json"), "garbage").unwrap();
    fs::write(planted.path("index/CURRENT"), "garbage").unwrap();
    let report = planted
        .open()
        .unwrap()
        .maintenance()
        .unwrap()
        .recovery_report()
        .clone();
    assert!(report.text_rebuilt.is_some() && report.index_rebuilt.is_some());
    drop(grainstore::recovery::repair(planted.path(""), at(1).0).unwrap());
    for name in kept {
        assert_eq!(fs::read(planted.path(name)).unwrap(), b"mine", "{name}");
    }
}

#[test]
fn a_file_with_a_second_name_outside_is_not_written() {
    for name in ["LOCK", "WRITER", "ballast", "ledger/0000000000000001.seg"] {
        let mut planted = Planted::new();
        fs::hard_link(planted.path(name), planted.outside("second")).unwrap();
        planted.before = files_of(&planted.outside(""));
        // No room is kept where the ballast cannot be written; all else does without the store.
        let is_open = planted.use_it().is_ok();
        assert_eq!(is_open, name == "ballast", "{name}");
        planted.assert_outside_is_untouched(name);
    }
}

#[test]
fn a_pipe_in_the_place_of_a_file_does_not_halt_the_opening() {
    for name in [
        "MANIFEST",
        "LOCK",
        "WRITER",
        "ballast",
        "ledger/0000000000000001.seg",
    ] {
        let planted = Planted::new();
        fs::remove_file(planted.path(name)).unwrap();
        let made = Command::new("mkfifo").arg(planted.path(name)).status();
        assert!(made.unwrap().success());
        assert!(planted.open().is_err(), "{name}");
    }
}

#[test]
fn a_backup_is_not_written_through_links() {
    for (name, target) in [
        ("ledger", "folder"),
        ("LOCK", "file"),
        ("ledger", "missing"),
    ] {
        let planted = Planted::new();
        let store = planted.open().unwrap();
        let copy = planted.home.path().join("backup");
        fs::create_dir(&copy).unwrap();
        symlink(planted.outside(target), copy.join(name)).unwrap();
        let error = store.maintenance().unwrap().backup(&copy).unwrap_err();
        let told = format!("{error:?}");
        assert!(told.contains(name), "{told}");
        planted.assert_outside_is_untouched(name);
        // A segment of the target, and its temporary name.
        let copy = planted.home.path().join("second");
        fs::create_dir_all(copy.join("ledger")).unwrap();
        for name in ["0000000000000001.seg", "0000000000000001.seg.new"] {
            symlink(planted.outside("file"), copy.join("ledger").join(name)).unwrap();
        }
        drop(store.maintenance().unwrap().backup(&copy));
        planted.assert_outside_is_untouched(name);
    }
}

#[test]
fn what_a_store_creates_is_its_owners_alone() {
    let home = tempfile::tempdir().unwrap();
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let path = home.path().join("open to all");
    fs::create_dir(&path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let store = Store::open(&path, at(1).0).unwrap();
    for n in 0..5 {
        store.put(prefers(&n.to_string())).unwrap();
    }
    store.maintenance().unwrap().compact().unwrap();
    let copy = home.path().join("backup");
    fs::create_dir(&copy).unwrap();
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o755)).unwrap();
    store.maintenance().unwrap().backup(&copy).unwrap();
    for folder in [path, copy] {
        let mut found = 0;
        for entry in fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap();
            let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
            let expected = if entry.path().is_dir() { 0o700 } else { 0o600 };
            assert_eq!(mode, expected, "{}: {mode:o}", entry.path().display());
            found += 1;
        }
        assert!(found >= 3, "{found}");
    }
}

#[test]
fn a_file_removed_or_replaced_under_an_open_store_ends_the_acknowledging() {
    for name in ["LOCK", "WRITER", "MANIFEST", "ledger/0000000000000001.seg"] {
        for replaced in [false, true] {
            let planted = Planted::new();
            let store = planted.open().unwrap();
            store.put(prefers("acknowledged")).unwrap();
            let aside = planted.home.path().join("aside");
            fs::rename(planted.path(name), &aside).unwrap();
            if replaced {
                fs::copy(&aside, planted.path(name)).unwrap();
            }
            let error = store.put(prefers("lost")).unwrap_err();
            assert!(
                ["ERR_STORE_LOCKED", "ERR_STORAGE_DAMAGED"].contains(&error.code().as_str()),
                "{name}: {error}"
            );
            assert!(store.put(prefers("lost too")).is_err(), "{name}");
            drop(store);
            fs::rename(&aside, planted.path(name)).unwrap();
            let store = planted.open().unwrap();
            assert!(store.put(prefers("goes on")).is_ok(), "{name}");
        }
    }
}

#[test]
fn a_closed_segment_removed_or_replaced_under_an_open_store_ends_the_acknowledging() {
    for replaced in [false, true] {
        for first_opened in [false, true] {
            let planted = Planted::new();
            let mut options = at(1).0;
            options.segment_bytes = 600;
            let open = || Store::open(planted.path(""), options.clone());
            let mut store = open().unwrap();
            for n in 0..12 {
                store.put(prefers(&format!("acknowledged {n}"))).unwrap();
            }
            if first_opened {
                drop(store);
                store = open().unwrap();
            }
            let name = planted.path("ledger/0000000000000002.seg");
            let aside = planted.home.path().join("aside");
            fs::rename(&name, &aside).unwrap();
            if replaced {
                fs::copy(&aside, &name).unwrap();
            }
            let error = store.put(prefers("lost")).unwrap_err();
            assert_eq!(error.code(), "ERR_STORAGE_DAMAGED");
            assert!(error.to_string().contains("segment 2"), "{error}");
            assert!(store.put(prefers("lost too")).is_err());
            drop(store);
            fs::rename(&aside, &name).unwrap();
            assert!(open().unwrap().put(prefers("goes on")).is_ok());
        }
    }
}
