//! The directory of a store: checking and creating it, and the names of its files.

use std::path::{Path, PathBuf};

use crate::ledger::{self, Disk, END, FileDisk, OpenMode};
use crate::store::records::{COPY, COPY_TEMPORARY, MANIFEST, TEMPORARY};
use crate::store::{Create, Error};

/// Makes sure that the folder exists and is empty or a store's.
pub(crate) fn prepare_folder(path: &Path, create: Create) -> Result<(), Error> {
    let not_a_store = |reason: String| Error::NotAStore {
        path: path.to_owned(),
        reason,
    };
    // Whether it is a store is not known of a folder that the system does not show.
    let failed = |error| ledger::Error::io("open", &path.display().to_string(), error);
    match path.metadata() {
        Ok(found) if !found.is_dir() => Err(not_a_store("it is a file".into())),
        Ok(_)
            if path.join(MANIFEST).try_exists().map_err(failed)?
                || path.join(COPY).try_exists().map_err(failed)? =>
        {
            Ok(())
        }
        Ok(_) if !create.creates() => Err(no_manifest(path)),
        Ok(_) => {
            // Only the remains of an earlier, interrupted creation may be there, or the manifest of
            // another process that has created the store since it was looked for.
            for item in path.read_dir().map_err(failed)? {
                let name = item.map_err(failed)?.file_name();
                let ours = [
                    MANIFEST,
                    COPY,
                    "ledger",
                    "index",
                    TEXT,
                    LOCK,
                    WRITER,
                    NEXT,
                    BALLAST,
                    END,
                    TEMPORARY,
                    COPY_TEMPORARY,
                    SERVER,
                    REPLICA,
                ];
                if !ours.iter().any(|known| name == *known) {
                    let name = PathBuf::from(name);
                    return Err(not_a_store(format!(
                        "it holds {} and no MANIFEST",
                        name.display()
                    )));
                }
            }
            Ok(())
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            if !create.creates() {
                return Err(not_a_store("it does not exist".into()));
            }
            Ok(create_private(path).map_err(failed)?)
        }
        Err(error) => Err(failed(error).into()),
    }
}

/// Refuses a folder in which a link or another kind of file has the name of one of the store's:
/// it would lead writes and removals out of the folder.
pub(crate) fn refuse_planted(disk: &FileDisk, path: &Path) -> Result<(), Error> {
    let files = [
        MANIFEST,
        TEMPORARY,
        COPY,
        COPY_TEMPORARY,
        LOCK,
        WRITER,
        NEXT,
        BALLAST,
        END,
    ];
    disk.check_kinds(&["ledger", "index", TEXT, SERVER, REPLICA], &files)
        .map_err(|error| Error::NotAStore {
            path: path.to_owned(),
            reason: error.to_string(),
        })
}

/// Refuses to write a folder that a follower brings after a ledger elsewhere: with an entry of its own
/// it would be of another history.
pub(crate) fn refuse_follower(disk: &FileDisk) -> Result<(), Error> {
    match disk.exists(FOLLOWS) {
        Ok(false) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Ok(true) => {
            let source = std::io::Error::other("it follows a copy; `restore` makes a store of it");
            Err(ledger::Error::ReadOnly {
                action: "write",
                name: "the folder of a follower".to_owned(),
                source,
            }
            .into())
        }
        Err(source) => Err(ledger::Error::io("look for", FOLLOWS, source).into()),
    }
}

/// Creates the folder of a store, readable by its owner only, and makes its name durable.
pub(crate) fn create_private(path: &Path) -> std::io::Result<()> {
    let missing = path.ancestors().take_while(|path| !path.exists());
    let parents: Vec<_> = missing.filter_map(Path::parent).collect();
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)?;
    for parent in parents {
        // The parent of a plain name is the empty path.
        let here = Path::new(".");
        let parent = if parent.as_os_str().is_empty() {
            here
        } else {
            parent
        };
        FileDisk::new(parent).sync_folder("")?;
    }
    Ok(())
}

/// Returns the line in a lock's file that identifies this process.
pub(crate) fn this_process() -> String {
    let program = std::env::current_exe().ok();
    let name = program.as_deref().and_then(Path::file_stem);
    let name = name.map_or("unknown".into(), |name| name.to_string_lossy());
    format!("process {} ({name})", std::process::id())
}

pub(crate) fn no_manifest(path: &Path) -> Error {
    Error::NotAStore {
        path: path.to_owned(),
        reason: "it has no MANIFEST".into(),
    }
}

/// Deletes the files of the text view. The folder stays, and in it any file that has another name.
///
/// # Errors
/// `ERR_STORAGE_IO`.
pub(super) fn remove_text(disk: &dyn Disk) -> Result<(), Error> {
    let failed = |source| ledger::Error::io("empty", TEXT, source);
    let mut names = match disk.list(TEXT) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        names => names.map_err(failed)?,
    };
    names.retain(|name| is_text_file(name));
    // The list of segments first, and durably: without it the other files are remains, not damage.
    names.sort_by_key(|name| name != TEXT_LIST);
    for name in names {
        match disk.remove(&format!("{TEXT}/{name}")) {
            // The process that keeps the view empties a view that it cannot use.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            removed => removed.map_err(failed)?,
        }
        if name == TEXT_LIST {
            disk.sync_folder(TEXT).map_err(failed)?;
        }
    }
    Ok(disk.sync_folder(TEXT).map_err(failed)?)
}

/// Returns whether a file in the folder of the text view has a name that the view gives: those of
/// segments begin with 32 hexadecimal digits.
fn is_text_file(name: &str) -> bool {
    let name = name.strip_suffix(".new").unwrap_or(name);
    let (stem, ending) = name.split_once('.').unwrap_or((name, ""));
    let is_segment = stem.len() == 32 && stem.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_segment && !ending.is_empty() || TEXT_FILES.contains(&name)
}

const TEXT_FILES: [&str; 4] = [
    TEXT_LIST,
    ".managed.json",
    ".tantivy-writer.lock",
    ".tantivy-meta.lock",
];

/// Held, for as long as it has the store open, by the process that keeps the derived files.
pub(crate) const LOCK: &str = "LOCK";
/// Held for a commit by the process that writes it, and while waiting for that.
pub(crate) const WRITER: &str = "WRITER";
pub(super) const NEXT: &str = "NEXT";
pub(super) const TEXT: &str = "text";
/// The folder of a server, with its tokens. The store neither reads nor writes it.
const SERVER: &str = "server";
/// The folder of copies elsewhere: how far they are. The store does not write it.
const REPLICA: &str = "replica";
/// There while the folder is brought after a ledger elsewhere.
const FOLLOWS: &str = "replica/FOLLOWS";
const TEXT_LIST: &str = "meta.json";
pub(super) const BALLAST: &str = "ballast";

/// Returns what names the derived files: it changes with them.
pub(super) fn derived_files(disk: &dyn Disk) -> [Option<Vec<u8>>; 2] {
    ["index/CURRENT", "text/meta.json"].map(|name| {
        let file = disk.open(name, OpenMode::Read).ok()?;
        let mut bytes = vec![0; usize::try_from(file.len_bytes().ok()?).ok()?];
        file.read_at(&mut bytes, 0).ok()?;
        Some(bytes)
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::process::Mutex;

    use super::*;
    use crate::ledger::{DiskFile, Lock, MemoryDisk, OpenMode};

    /// A disk that remembers what was removed and which folders were synced.
    #[derive(Debug, Default)]
    struct Recorded(MemoryDisk, Mutex<Vec<String>>);

    impl Disk for Recorded {
        fn open(&self, name: &str, mode: OpenMode) -> std::io::Result<Arc<dyn DiskFile>> {
            self.0.open(name, mode)
        }

        fn create(&self, name: &str) -> std::io::Result<Arc<dyn DiskFile>> {
            self.0.create(name)
        }

        fn create_folder(&self, folder: &str) -> std::io::Result<()> {
            self.0.create_folder(folder)
        }

        fn rename(&self, from: &str, to: &str) -> std::io::Result<()> {
            self.0.rename(from, to)
        }

        fn remove(&self, name: &str) -> std::io::Result<()> {
            self.1.lock().push(format!("remove {name}"));
            self.0.remove(name)
        }

        fn list(&self, folder: &str) -> std::io::Result<Vec<String>> {
            self.0.list(folder)
        }

        fn sync_folder(&self, folder: &str) -> std::io::Result<()> {
            self.1.lock().push(format!("sync {folder}"));
            self.0.sync_folder(folder)
        }

        fn lock(&self, name: &str) -> std::io::Result<Lock> {
            self.0.lock(name)
        }
    }

    #[test]
    fn the_list_of_text_segments_is_gone_for_good_before_a_segment_is() {
        let disk = Recorded::default();
        disk.create_folder(TEXT).unwrap();
        let segment = format!("{TEXT}/{}.pos", "0a".repeat(16));
        for name in [&segment, "text/meta.json", "text/mine"] {
            drop(disk.create(name).unwrap());
        }
        remove_text(&disk).unwrap();
        let removed = format!("remove {segment}");
        let expected = ["remove text/meta.json", "sync text", &removed, "sync text"];
        assert_eq!(*disk.1.lock(), expected);
        assert_eq!(disk.list(TEXT).unwrap(), ["mine"]);
    }
}
