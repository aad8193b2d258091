//! Files that are to be shared: without the ids of the platforms that records came from (PAM 21, OMI
//! 16.2), and without the grains that have them.

use std::fs;
use std::path::Path;

use grainstore::interchange::{Format, ImportFile, Loss, ReadOptions, WriteOptions};
use grainstore::{Draft, Filter, Options, Store, Time};

use super::schema::{full_conversation, full_store};

/// A store of a memory and a conversation with every member that PAM has, and of an own grain.
fn store() -> Store {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| fs::write(folder.path().join(name), text).unwrap();
    write("memory-store.json", full_store().to_string());
    write("c.json", full_conversation().to_string());
    let reading = ImportFile::open(folder.path(), None, &ReadOptions::default()).unwrap();
    assert!(reading.errors.is_empty(), "{:?}", reading.errors);
    let store = Store::in_memory(Options::default()).unwrap();
    assert!(store.import(reading).unwrap().is_complete());
    let own = Draft::event("likes ferns")
        .user("o")
        .created_at(Time::from_ms(1));
    store.put(own.session("s1")).unwrap();
    store
}

/// Writes to a folder, and returns the texts of all files there.
fn written(store: &Store, format: Format, redact: bool, to: &Path) -> (String, Loss) {
    let options = WriteOptions {
        redact,
        history: true,
        ..WriteOptions::default()
    };
    let filter = Filter::new().with_superseded();
    let path = match format {
        Format::Pam => to.to_owned(),
        _ => to.join("file"),
    };
    let exported = store
        .admin()
        .unwrap()
        .export_file(format, &filter, &options, &path);
    let mut texts = String::new();
    for folder in [to.to_owned(), to.join("conversations")] {
        for file in fs::read_dir(folder).into_iter().flatten() {
            let path = file.unwrap().path();
            if path.is_file() {
                texts += &fs::read_to_string(path).unwrap();
            }
        }
    }
    (texts, exported.unwrap().loss)
}

#[test]
fn a_redacted_export_names_no_account_and_no_place_on_another_platform() {
    let store = store();
    let of_pam = [
        "platform_user_id",
        "account_id",
        "conversation_id",
        "provider_id",
        "provider_message_id",
        "raw_metadata",
        "x_oms",
    ];
    let of_omi = [
        "\"ref\"",
        "io.github.grainstore.grainstore",
        "platform_user_id",
    ];
    for (format, names) in [
        (Format::Pam, &of_pam[..]),
        (Format::Omi, &of_omi[..2]),
        (Format::OmiJsonl, &of_omi[..2]),
    ] {
        let (whole, shared) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (text, loss) = written(&store, format, false, whole.path());
        assert!(names.iter().all(|name| text.contains(name)), "{text}");
        assert!(loss.iter().all(|(name, _)| !name.ends_with(": redacted")));
        let (text, loss) = written(&store, format, true, shared.path());
        for name in names {
            assert!(!text.contains(name), "{name}: {text}");
        }
        assert!(
            text.contains("likes ferns") && text.contains("tea"),
            "{text}"
        );
        let counted = loss.iter().filter(|(name, _)| name.ends_with(": redacted"));
        assert!(counted.count() >= 2, "{loss:?}");
        let strict = ReadOptions {
            is_strict: true,
            ..ReadOptions::default()
        };
        let path = match format {
            Format::Pam => shared.path().to_owned(),
            _ => shared.path().join("file"),
        };
        let reading = ImportFile::open(&path, Some(format), &strict).unwrap();
        assert!(reading.errors.is_empty(), "{:?}", reading.errors);
    }
}

#[test]
fn what_cannot_be_redacted_is_refused() {
    let store = store();
    let options = WriteOptions {
        redact: true,
        ..WriteOptions::default()
    };
    let folder = tempfile::tempdir().unwrap();
    for format in [
        Format::Mg,
        Format::Jsonl,
        Format::Aimem,
        Format::AimemNdjson,
    ] {
        let admin = store.admin().unwrap();
        let refused = admin.export(format, &Filter::new(), &options, &mut Vec::new());
        assert_eq!(refused.unwrap_err().code(), "ERR_UNSUPPORTED");
        let path = folder.path().join("file");
        let refused = admin.export_file(format, &Filter::new(), &options, &path);
        assert_eq!(refused.unwrap_err().code(), "ERR_UNSUPPORTED");
        assert!(!path.exists());
    }
}
