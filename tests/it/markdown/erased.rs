//! An item or a person that is erased: no State of a file tells of them, and no copy of the tree brings
//! them back.

use grainstore::codec::ContentAddress;
use grainstore::ledger::MemoryDisk;
use grainstore::store::{Authorization, ErasureScope, Person};

use super::*;
use crate::sealing::{files as files_of, open, with_persons};

const ASKED: Authorization<'static> = Authorization {
    reason: "asked",
    authority: "office",
};

const SECRET: &str = "prefers: xylitol";

/// A tree as another store exports it: descriptions, claims with digests and addresses.
fn exported() -> (TempDir, Vec<ContentAddress>) {
    let store = memory();
    let put = |draft: Draft| store.put(draft.created_at(Time::from_ms(5))).unwrap();
    let secret = put(Draft::belief("Ana", "prefers", "xylitol").confidence(0.5));
    put(Draft::belief("Ana", "knows", "Ben").confidence(1.0));
    put(Draft::belief("Ben", "likes", "tea").confidence(1.0));
    let folder = tempfile::tempdir().unwrap();
    export(&store, folder.path(), "okf");
    (folder, vec![secret])
}

/// What tells a text to who guesses it.
fn traces(text: &str) -> Vec<String> {
    let digest = ContentAddress::of(text.as_bytes()).to_string();
    let word = text.rsplit(' ').next().unwrap();
    vec![word.to_owned(), digest[..16].to_owned()]
}

fn assert_gone(disk: &MemoryDisk, traces: &[String]) {
    for (name, content) in files_of(disk) {
        for trace in traces {
            let found = content
                .windows(trace.len())
                .any(|part| part == trace.as_bytes());
            assert!(!found, "{trace} in {name}");
        }
    }
}

#[test]
fn a_deleted_item_leaves_no_text_and_no_digest() {
    let (folder, addresses) = exported();
    let disk = MemoryDisk::default();
    let store = open(&disk);
    import(&store, folder.path());
    let found = store
        .query(&Filter::new().object("xylitol"), 1, None)
        .unwrap();
    let item = found.results[0].grain.address();
    store.admin().unwrap().delete(&item, ASKED).unwrap();
    let mut all = traces(SECRET);
    all.extend(addresses.iter().map(ToString::to_string));
    assert_gone(&disk, &all);

    let summary = store.import(reading(folder.path(), None)).unwrap();
    assert_eq!(summary.erased.len(), 1, "{summary:?}");
    assert_gone(&disk, &all);
    let out = tempfile::tempdir().unwrap();
    export(&store, out.path(), "okf");
    assert!(
        !files(out.path())
            .values()
            .any(|text| text.contains("xylitol"))
    );
}

#[test]
fn an_erased_person_takes_the_files_of_notes_about_them() {
    let (folder, addresses) = exported();
    let disk = MemoryDisk::default();
    let store = open(&disk);
    import(&store, folder.path());
    let admin = store.admin().unwrap();
    let report = admin.person_report(&Person::new("Ana")).unwrap();
    assert_eq!((report.about.len(), report.mentions.len()), (3, 0));
    let done = admin.erase_person(&Person::new("Ana"), ErasureScope::default(), ASKED);
    assert_eq!(done.unwrap().erased.len(), 3);
    let mut all = traces(SECRET);
    all.extend(addresses.iter().map(ToString::to_string));
    all.push("subjects/Ana.md".to_owned());
    assert_gone(&disk, &all);

    let summary = store.import(reading(folder.path(), None)).unwrap();
    assert_eq!(summary.erased.len(), 3, "{summary:?}");
    assert_gone(&disk, &all);
    assert_eq!(said(&store), ["\"Ben\" \"likes\" \"tea\""]);
}

#[test]
fn a_note_about_a_sealed_person_is_sealed_with_its_file() {
    let (folder, _) = exported();
    let disk = MemoryDisk::default();
    let store = with_persons(&disk, &["Ana"]);
    import(&store, folder.path());
    let mut all = traces(SECRET);
    all.push("subjects/Ana.md".to_owned());
    assert_gone(&disk, &all);
    assert_eq!(counts(&import(&store, folder.path()))[..2], [0, 0]);
}

#[test]
fn a_file_that_names_a_person_is_a_mention() {
    let files = [
        ("team/Ana.md", "# The first\n\n- is here\n"),
        (
            "MEMORY.md",
            "- [Ana](people/a.md) — likes sweets\n\n## More\n\nSaid.\n",
        ),
        ("list.md", "# List\n\n## Ana\n\n- one\n"),
        ("front.md", "---\npeople: [Ben, \"Ana\"]\n---\n- two\n"),
        (
            "other.md",
            "# Other\n\nAna is in a sentence, and not found.\n",
        ),
    ];
    let folder = tree(&files);
    let store = memory();
    store
        .import(reading(folder.path(), Some("claude-code")))
        .unwrap();
    let admin = store.admin().unwrap();
    let report = admin.person_report(&Person::new("Ana")).unwrap();
    assert_eq!(report.about.len(), 0);
    let found: Vec<&str> = report
        .mentions
        .iter()
        .flat_map(|it| it.found_by.iter().map(String::as_str))
        .collect();
    let is_of = |place: &str| found.iter().filter(|it| **it == place).count();
    assert_eq!(is_of("context.x-markdown.path"), 1, "{found:?}");
    assert_eq!(is_of("context.x-markdown.parts"), 2, "{found:?}");
    assert_eq!(is_of("context.x-markdown.head"), 1, "{found:?}");
    assert_eq!(is_of("context.file"), 1, "{found:?}");
    assert_eq!(is_of("context.section"), 1, "{found:?}");
}

#[test]
fn a_file_in_the_clear_names_no_grain_of_a_sealed_person() {
    let disk = MemoryDisk::default();
    let store = with_persons(&disk, &["Ana"]);
    let draft = Draft::event("a sealed turn").user("Ana");
    let sealed = store.put(draft.created_at(Time::from_ms(5))).unwrap();
    let folder = tempfile::tempdir().unwrap();
    export(&store, folder.path(), "okf");
    let summary = store.import(reading(folder.path(), None)).unwrap();
    assert_eq!((summary.inserted, summary.unchanged), (0, 1));
    let refused = summary.refused.iter().map(ToString::to_string);
    let refused: Vec<String> = refused.collect();
    assert!(refused[0].contains("is sealed"), "{refused:?}");
    assert_gone(&disk, &[sealed.to_string()]);
}
