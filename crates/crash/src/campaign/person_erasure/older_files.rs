//! Files that the store wrote before a crash, each imported after it: an erased person comes back out
//! of none, and who lives keeps every grain.

use grainstore::interchange::{Format, ImportFile, ReadOptions, WriteOptions};
use grainstore::{Filter, Store};

use crate::disk::sim_disk::SimDisk;
use crate::random::Random;
use crate::workload::oracle::Verdict;

use super::recovery::{grains, unlock_all};
use super::workload::{Run, open, text};

/// A file of everything that the store held.
#[derive(Debug)]
pub(super) struct OldExport {
    format: Format,
    bytes: Vec<u8>,
    /// The number of operations of the log before it.
    pub(super) at: usize,
}

/// The formats that one file holds.
const FORMATS: [Format; 5] = [
    Format::Mg,
    Format::Jsonl,
    Format::Pam,
    Format::Aimem,
    Format::Omi,
];

/// Writes a file of everything, in one of the formats; those of AIMEM and PAM are of one of the users.
pub(super) fn write_out(
    store: &Store,
    random: &mut Random,
    users: &[String],
    at: impl FnOnce() -> usize,
) -> Verdict<Option<OldExport>> {
    let Some(format) = random.pick(&FORMATS).copied() else {
        return Ok(None);
    };
    let filter = Filter::new().with_superseded();
    let filter = match (format, random.pick(users)) {
        (Format::Aimem | Format::Pam, Some(user)) => filter.user(user),
        (Format::Aimem | Format::Pam, None) => return Ok(None),
        _ => filter,
    };
    let mut bytes = Vec::new();
    let options = WriteOptions::default();
    let admin = store.admin().map_err(text)?;
    admin
        .export(format, &filter, &options, &mut bytes)
        .map_err(text)?;
    Ok(Some(OldExport {
        format,
        bytes,
        at: at(),
    }))
}

/// A file of another program about a person, whose envelope and extension name them and hold `word`.
pub(super) fn foreign(user: &str, word: &str, nth: usize) -> Vec<u8> {
    format!(
        r#"{{"format": "open-memory-interchange", "version": "0.7",
        "subject": {{"id": "{user}", "type": "person", "label": "{word} {nth}"}},
        "ext": {{"com.example": {{"nickname": "{word}"}}}},
        "memories": [{{"id": "{nth}", "content": "{word} {nth}", "type": "episodic",
            "created": "2026-01-15T10:30:00Z", "entities": [{{"id": "{user}", "name": "{word}"}}],
            "ext": {{"com.example": {{"of": "{word}"}}}}}}]}}"#
    )
    .into_bytes()
}

/// Imports a note about a person, as the owner does: its title names them, and its description and its
/// item say `word`.
pub(super) fn import_note(store: &Store, user: &str, word: &str, nth: usize) -> Verdict {
    let tree = tempfile::tempdir().map_err(|error| error.to_string())?;
    let note = format!(
        "---\ntype: subject\ntitle: {user}\ndescription: {word} {nth}\n\
         created: 2026-01-15T10:30:00Z\n---\n\n- {word} {nth}\n"
    );
    let path = tree.path().join(format!("{nth}.md"));
    std::fs::write(path, note).map_err(|error| error.to_string())?;
    let options = ReadOptions {
        scope: Some(format!("notes {nth}")),
        ..ReadOptions::default()
    };
    let reading = ImportFile::open(tree.path(), Some(Format::Markdown), &options);
    let reading = reading.map_err(|error| error.to_string())?;
    store.import(reading).map(drop).map_err(text)
}

/// Imports a file as the owner does.
pub(super) fn import(store: &Store, bytes: &[u8], format: Format) -> Verdict {
    let reading = ImportFile::of_bytes(bytes, Some(format), &ReadOptions::default());
    let reading = reading.map_err(|error| error.to_string())?;
    store.import(reading).map(drop).map_err(text)
}

impl Run {
    /// Imports a file of before into the store that a crash left, which is in a state.
    pub(super) fn import_old(&self, old: &OldExport, state: usize, disk: &SimDisk) -> Verdict {
        let present = self.states.get(state).ok_or("no such state")?;
        let store = open(disk, self.seed, 103)?;
        unlock_all(&store)?;
        import(&store, &old.bytes, old.format)?;
        for user in self.gone(state)?.into_keys() {
            if !grains(&store, user)?.is_empty() {
                return Err(format!(
                    "a file of before brings {user} back ({:?})",
                    old.format
                ));
            }
        }
        for (user, of) in &present.persons {
            if !of.grains.is_subset(&grains(&store, user)?) {
                return Err(format!("a file of before costs {user} a grain"));
            }
        }
        drop(store);
        let image = disk.image();
        self.lacks_erased_words(state, &image)?;
        match self.attack(state, &image)?.as_slice() {
            [] => Ok(()),
            found => Err(format!("a file of before brings {found:?} into the files")),
        }
    }
}
