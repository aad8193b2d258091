//! A file is no way around a regime: what a put would be refused for, an import is.

use std::path::Path;

use grainstore::codec::Map;
use grainstore::interchange::{Format, ImportFile, ReadOptions};
use grainstore::ledger::Kind;
use grainstore::policy::{Purpose, Regime};
use grainstore::store::Summary;
use grainstore::{Filter, Store};

use crate::foreign::{edit, text_of};

use super::{FORMATS, TEST, export_bytes, fact, memory, under};

pub(super) fn read(bytes: &[u8], format: Format) -> ImportFile {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in");
    std::fs::write(&path, bytes).unwrap();
    ImportFile::open(&path, Some(format), &ReadOptions::default()).unwrap()
}

fn denials(store: &Store) -> u64 {
    let snapshot = store.maintenance().unwrap().index_snapshot();
    snapshot.of_kind(Kind::Denial).rows().unwrap().len()
}

fn refused(summary: &Summary) -> Vec<(&'static str, String)> {
    let refused = summary.refused.iter();
    refused
        .map(|error| (error.code().as_str(), error.to_string()))
        .collect()
}

#[test]
fn what_a_regime_forbids_is_kept_out_of_every_format_and_the_rest_comes_in() {
    let source = memory();
    source.put(fact("code 123").tag("pci:cvv")).unwrap();
    source.put(fact("paid by card")).unwrap();
    source.put(fact("paid in cash")).unwrap();
    let mut kept_out = Vec::new();
    for format in FORMATS {
        let (file, exported) = export_bytes(&source, format, Purpose::Transfer);
        assert_eq!(exported.grains, 3, "{format}");
        // Without the regime it is a file like any other, and shows whether it carries the tag.
        let free = memory();
        let summary = free.import(read(&file, format)).unwrap();
        let (inserted, refused_there) = (summary.inserted, summary.refused.len());
        assert!(inserted >= 3 && refused_there == 0, "{format}");
        let tagged = free.query(&Filter::new().tag("pci:cvv"), 10, None);
        let tagged = tagged.unwrap().total;

        let store = under("pci");
        let foreseen = store
            .admin()
            .unwrap()
            .preview_import(read(&file, format))
            .unwrap();
        assert_eq!((foreseen.inserted, denials(&store)), (inserted - tagged, 0));
        let summary = store.import(read(&file, format)).unwrap();
        assert_eq!(refused(&summary), refused(&foreseen), "{format}");
        assert_eq!(summary.inserted, inserted - tagged, "{format}");
        assert_eq!(denials(&store), tagged, "{format}");
        assert_eq!(summary.is_complete(), tagged == 0, "{format}");
        let filter = Filter::new().with_envelopes();
        let all = store.query(&filter, 10, None).unwrap();
        assert_eq!(all.total, inserted - tagged, "{format}");
        for (code, message) in refused(&summary) {
            assert_eq!(code, "ERR_POLICY_DENIED");
            let clause = "pci/sensitive-authentication-data";
            assert!(message.contains(clause), "{format}: {message}");
            kept_out.push(format);
        }
    }
    // What other formats make of tags is theirs; these keep them.
    assert!(
        kept_out.starts_with(&[Format::Jsonl, Format::Mg]),
        "{kept_out:?}"
    );
}

#[test]
fn memories_of_a_person_want_the_basis_that_a_regime_wants() {
    let data = || {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data/pam");
        ImportFile::open(&data, None, &ReadOptions::default()).unwrap()
    };
    let all = memory().import(data()).unwrap().inserted;
    let store = under("gdpr");
    let summary = store.import(data()).unwrap();
    let kept_out = refused(&summary);
    assert!(!kept_out.is_empty());
    assert_eq!(summary.inserted + kept_out.len() as u64, all);
    for (code, message) in kept_out {
        assert_eq!(code, "ERR_POLICY_DENIED");
        assert!(message.contains("gdpr/"), "{message}");
    }
    assert_eq!(denials(&store), summary.refused.len() as u64);
    assert_eq!(
        store.maintenance().unwrap().stats().unwrap().grains,
        summary.inserted
    );
}

#[test]
fn what_is_here_already_is_no_breach_of_a_file() {
    let store = memory();
    store.put(fact("code 123").tag("pci:cvv")).unwrap();
    let (file, _) = export_bytes(&store, Format::Jsonl, Purpose::Transfer);
    store
        .admin()
        .unwrap()
        .set_regimes(vec![Regime::preset("pci").unwrap()], TEST)
        .unwrap();
    let summary = store.import(read(&file, Format::Jsonl)).unwrap();
    assert_eq!((summary.unchanged, summary.refused.len()), (1, 0));
    let report = store.admin().unwrap().policy_report().unwrap();
    let clause = "pci/sensitive-authentication-data";
    let mut clauses = report.clauses.iter();
    let clause = clauses.find(|one| one.name == clause).unwrap();
    assert_eq!(clause.broken_by, 1);
}

/// The sample store of memories, whose fourth was changed.
fn changed_memories() -> ImportFile {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data/pam");
    let text = std::fs::read_to_string(data.join("memory-store.json")).unwrap();
    let mut document: serde_json::Value = serde_json::from_str(&text).unwrap();
    document["memories"][3]["tags"] = serde_json::json!(["changed"]);
    document["conversations_index"] = serde_json::json!([]);
    let options = ReadOptions {
        accept_bad_checksum: true,
        ..ReadOptions::default()
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory-store.json");
    std::fs::write(&path, document.to_string()).unwrap();
    ImportFile::open(&path, Some(Format::Pam), &options).unwrap()
}

const REASONS: &str = r#"
name = "own"
title = "ours"
[[clause]]
id = "why"
cites = "our book"
says = "changes are explained"
requires = { justification = true, review = true }
"#;

#[test]
fn a_record_that_changed_needs_the_reason_that_a_supersession_needs() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data/pam");
    let store = memory();
    let reading = ImportFile::open(&data, None, &ReadOptions::default()).unwrap();
    store.import(reading).unwrap();
    store
        .admin()
        .unwrap()
        .set_regimes(vec![Regime::parse(REASONS).unwrap()], TEST)
        .unwrap();
    for is_dry in [true, false] {
        let summary = match is_dry {
            true => store.admin().unwrap().preview_import(changed_memories()),
            false => store.import(changed_memories()),
        };
        let summary = summary.unwrap();
        let [(code, message)] = refused(&summary).try_into().unwrap();
        assert_eq!((code, summary.updated), ("ERR_POLICY_DENIED", 0));
        assert!(message.contains("own/why"), "{message}");
        assert_eq!(denials(&store), u64::from(!is_dry));
    }
    let found = store
        .query(&Filter::new().tag("changed"), 10, None)
        .unwrap();
    assert_eq!(found.total, 0);
    // Where only a look is asked for, it is opened.
    let looks = REASONS.replace("justification = true, ", "");
    store
        .admin()
        .unwrap()
        .set_regimes(vec![Regime::parse(&looks).unwrap()], TEST)
        .unwrap();
    assert_eq!(store.import(changed_memories()).unwrap().updated, 1);
    assert_eq!(
        store.admin().unwrap().reviews().unwrap()[0].operation,
        "import"
    );
}

#[test]
fn a_conflict_is_resolved_with_the_reason_that_a_contradiction_needs() {
    let store = memory();
    let mut file = crate::omi::sample();
    let import = |file: &Map| {
        let bytes = text_of(file);
        store.import(read(bytes.as_ref(), Format::Omi)).unwrap()
    };
    import(&file);
    edit(&mut file, "memories/3/content", Some("\"boil less water\""));
    let keep = import(&file).conflicts[0].versions[0];
    let admin = store.admin().unwrap();
    admin
        .set_regimes(vec![Regime::parse(REASONS).unwrap()], TEST)
        .unwrap();
    let refused = admin.resolve_conflict(&keep, None).unwrap_err();
    assert_eq!(refused.code(), "ERR_POLICY_DENIED");
    assert_eq!((denials(&store), admin.conflicts().unwrap().len()), (1, 1));
    admin.resolve_conflict(&keep, Some("measured")).unwrap();
    assert_eq!(admin.conflicts().unwrap(), []);
    assert_eq!(admin.reviews().unwrap()[0].operation, "contradict");
}
