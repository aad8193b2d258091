//! A file of a store brings the store nothing: imported again, it changes nothing, whatever was done
//! to the store before.

use std::collections::BTreeSet;

use grainstore::store::{Authorization, Embedding};
use grainstore::{ContentAddress, Search};

use super::*;
use crate::foreign::FORMATS;
use crate::random::{Random, seeds};

/// The files of other tools that a workload may begin with.
fn samples() -> [String; 4] {
    [
        String::new(),
        text_of(&crate::aimem::sample()),
        text_of(&crate::omi::sample()),
        text_of(&crate::pam::store::small(&[
            ("a", "likes tea"),
            ("b", "is \u{1f600}"),
        ])),
    ]
}

fn addresses(store: &Store) -> BTreeSet<ContentAddress> {
    let listed = store.list(None, usize::MAX).unwrap();
    listed.addresses.into_iter().collect()
}

fn import(store: &Store, bytes: &[u8], format: Format) -> grainstore::store::Summary {
    let reading = ImportFile::of_bytes(bytes, Some(format), &ReadOptions::default()).unwrap();
    assert!(reading.errors.is_empty(), "{format}: {:?}", reading.errors);
    store.import(reading).unwrap()
}

/// Exports everything, as the producer that is asked for; `None` where a bundle would have several.
fn file_of(store: &Store, format: Format, options: &WriteOptions) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let admin = store.admin().unwrap();
    match admin.export(format, &all().0, options, &mut bytes) {
        Ok(_) => Some(bytes),
        Err(error) => {
            assert_eq!(error.code(), "mixed_producers", "{format}: {error}");
            None
        }
    }
}

/// Does some of what people do to a store.
fn work(store: &Store, random: &mut Random, user: Option<&str>) {
    let office = Authorization {
        reason: "a test",
        authority: "the office",
    };
    let mut known: Vec<_> = store.list(None, usize::MAX).unwrap().addresses;
    for step in 0..random.within(4..14) {
        let time = Time::from_ms(1_750_000_000_000 + i64::try_from(step).unwrap() * 7);
        let draft = match random.below(6) {
            0 => Draft::belief("Ana", "likes", format!("tea {step}")).confidence(0.7),
            1 => Draft::event(format!("met Zoe\u{308} {step}")).session("s"),
            2 => Draft::goal(format!("learn {step}")),
            3 => Draft::reasoning(format!("since {step}")),
            4 => Draft::observation("probe", format!("{step} degrees")),
            _ => Draft::belief("Ana", "mg:prefers", format!("quiet {step}")).confidence(1.0),
        };
        let draft = user
            .map_or(draft.clone(), |user| draft.user(user))
            .created_at(time);
        let picked = (!known.is_empty()).then(|| known[random.below(known.len())]);
        let admin = store.admin().unwrap();
        match (random.below(10), picked) {
            // What policy refuses is left as it is.
            (0, Some(old)) => drop(store.supersede(&old, draft.derived_from(old), Some("why"))),
            (1, Some(old)) => drop(store.contradict(&old, None)),
            (2, Some(old)) => drop(admin.delete(&old, office)),
            (3, Some(old)) => drop(admin.place_hold(&old, office)),
            (4, Some(old)) => drop(admin.lift_hold(&old, office)),
            _ => known.extend(store.put(draft).ok()),
        }
    }
}

#[test]
fn a_file_of_a_store_brings_it_nothing_whatever_was_done_to_it() {
    for seed in seeds(24) {
        let mut random = Random::new(seed);
        let store = memory();
        let sample = &samples()[random.below(4)];
        let user = (sample.is_empty() && random.flag()).then_some("Zoë X");
        if !sample.is_empty() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("sample");
            std::fs::write(&path, sample).unwrap();
            read_file(&store, &path);
        }
        work(&store, &mut random, user);
        let earlier = FORMATS.map(|format| (format, file_of(&store, format, &all().1)));
        let was_there = addresses(&store);
        work(&store, &mut random, user);
        let before = contents(&store);
        for format in FORMATS {
            for producer in [None, Some("test"), Some("grainstore")] {
                let options = WriteOptions {
                    producer: producer.map(str::to_owned),
                    with_embeddings: random.flag(),
                    ..all().1
                };
                let Some(bytes) = file_of(&store, format, &options) else {
                    continue;
                };
                let summary = import(&store, &bytes, format);
                let brought = (summary.inserted, summary.updated, summary.embedded);
                let text = String::from_utf8_lossy(&bytes);
                assert_eq!(brought, (0, 0, 0), "{seed} {format}: {summary:?}\n{text}");
                assert!(summary.conflicts.is_empty(), "{seed} {format}: {summary:?}");
                // A relation that was deleted stands in its record all the same, and stays deleted.
                assert!(summary.refused.is_empty(), "{seed} {format}: {summary:?}");
                assert!(summary.denied.is_empty(), "{seed} {format}: {summary:?}");
                assert_eq!(contents(&store), before, "{seed} {format}");
            }
        }
        let deleted: BTreeSet<_> = was_there.difference(&addresses(&store)).copied().collect();
        for (format, bytes) in earlier {
            bytes.map(|bytes| import(&store, &bytes, format));
            let back = deleted.intersection(&addresses(&store)).count();
            assert_eq!(back, 0, "{seed} {format}");
        }
    }
}

#[test]
fn the_user_of_a_bundle_of_ours_is_the_same_user() {
    let store = memory();
    store.put(Draft::event("hello").user("Zoë X/%41")).unwrap();
    let (bundle, _) = export(&store, Format::Aimem, &all().1);
    assert!(bundle.contains("urn:grainstore:user:Zo%C3%AB%20X%2F%2541"));
    let copy = store_of(bundle.as_bytes());
    let found = copy
        .query(&Filter::new().user("Zoë X/%41"), 10, None)
        .unwrap();
    assert_eq!(found.total, 1);
}

#[test]
fn a_chunk_of_ours_that_was_edited_elsewhere_comes_in_as_another_memory() {
    let store = memory();
    store.put(Draft::event("hello")).unwrap();
    let (bundle, _) = export(&store, Format::Aimem, &all().1);
    let mut bundle = json(&bundle);
    super::super::foreign::edit(&mut bundle, "chunks/0/content", Some("\"hallo\""));
    super::super::foreign::edit(&mut bundle, "chunks/0/content_hash", None);
    crate::aimem::seal(&mut bundle);
    let summary = import(&store, text_of(&bundle).as_bytes(), Format::Aimem);
    // With it the envelope of the file.
    assert_eq!(summary.inserted, 2, "{summary:?}");
}

#[test]
fn envelopes_of_files_are_no_answers_unless_they_are_asked_for() {
    for sample in samples().into_iter().skip(1) {
        let store = store_of(sample.as_bytes());
        let all = Filter::new().with_superseded();
        let is_envelope = |found: &grainstore::query::Found| {
            let tags = found.grain.field("structural_tags").into_iter();
            tags.flat_map(Value::texts)
                .any(|tag| tag == "grainstore:envelope")
        };
        let count = |filter: &Filter| {
            let found = store.query(filter, 100, None).unwrap();
            let envelopes = found.results.iter().filter(|it| is_envelope(it)).count();
            (envelopes, found.total)
        };
        let (hidden, total) = count(&all);
        assert_eq!(hidden, 0);
        assert_eq!(count(&all.with_envelopes()), (1, total + 1));
        let by_tag = Filter::new().tag("grainstore:envelope");
        assert_eq!(count(&by_tag), (1, 1));
    }
}

#[test]
fn a_vector_in_a_bundle_is_found_by_and_leaves_with_its_chunk() {
    let mut bundle = crate::aimem::sample();
    let edit = super::super::foreign::edit;
    edit(&mut bundle, "embedding_dim", Some("2"));
    edit(&mut bundle, "embedding_model", Some("\"tiny\""));
    let vector = |numbers: [f32; 2]| {
        let bytes: Vec<u8> = numbers.into_iter().flat_map(f32::to_le_bytes).collect();
        format!("\"{}\"", data_encoding::BASE64.encode(&bytes))
    };
    edit(&mut bundle, "chunks/0/embedding", Some(&vector([1.0, 0.0])));
    edit(&mut bundle, "chunks/1/embedding", Some(&vector([0.0, 2.0])));
    // A vector without a direction stays in its record, and answers no question.
    edit(&mut bundle, "chunks/2/embedding", Some(&vector([0.0, 0.0])));
    crate::aimem::seal(&mut bundle);
    let store = memory();
    let summary = import(&store, text_of(&bundle).as_bytes(), Format::Aimem);
    assert_eq!(summary.embedded, 2, "{summary:?}");
    assert_eq!(summary.findings.len(), 1, "{:?}", summary.findings);
    let near = store
        .find(&Search::near("tiny", &[0.1, 1.0]).limit(1))
        .unwrap();
    assert_eq!(near.results[0].grain.text("object"), Some("preference"));
    let (out, loss) = export(&store, Format::Aimem, &all().1);
    assert_eq!((json(&out), loss.is_empty()), (bundle.clone(), true));
    // The same bundle again, and one without its vectors.
    for with_embeddings in [true, false] {
        let options = WriteOptions {
            with_embeddings,
            ..all().1
        };
        let (out, _) = export(&store, Format::Aimem, &options);
        let again = import(&store, out.as_bytes(), Format::Aimem);
        let brought = (
            again.inserted,
            again.updated,
            again.embedded,
            again.conflicts.len(),
        );
        assert_eq!(brought, (0, 0, 0, 0), "{again:?}");
    }
    // Formats without a place for vectors say so.
    for format in [Format::Mg, Format::Jsonl, Format::Omi] {
        let mut bytes = Vec::new();
        let admin = store.admin().unwrap();
        let exported = admin
            .export(format, &all().0, &all().1, &mut bytes)
            .unwrap();
        assert!(
            exported.loss.iter().any(|lost| lost == ("embedding", 2)),
            "{format}"
        );
    }
}

#[test]
fn records_of_equal_ids_in_several_namespaces_contradict_each_other_nowhere() {
    let file = |namespace: &str| {
        let mut file = crate::omi::sample();
        file.insert("id_namespace", namespace);
        text_of(&file)
    };
    let store = store_of(file("urn:omi:a:").as_bytes());
    import(&store, file("urn:omi:b:").as_bytes(), Format::Omi);
    let (text, loss) = export(&store, Format::Omi, &all().1);
    assert!(loss.is_empty(), "{loss:?}");
    // Another store takes all of them, too; a relation to an id that comes twice resolves to nothing.
    for target in [&store, &memory()] {
        let summary = import(target, text.as_bytes(), Format::Omi);
        assert!(summary.conflicts.is_empty(), "{summary:?}");
        assert!(summary.is_complete(), "{summary:?}");
    }
}

#[test]
fn vectors_come_back_from_every_format_that_has_a_place_for_them() {
    let store = memory();
    let put = |text: &str| store.put(Draft::event(text)).unwrap();
    let embedding = |of, vector: [f32; 2]| Embedding::new(of, "tiny", &vector);
    let (tea, bicycle) = (put("a cup of tea"), put("a bicycle"));
    let vectors = [embedding(tea, [1.0, 0.0]), embedding(bicycle, [0.0, 1.0])];
    store.put_embeddings(&vectors).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (filter, options) = all();
    for (format, name) in [
        (Format::Mg, "tea.mg"),
        (Format::Jsonl, "tea.jsonl"),
        (Format::Pam, "tea.zip"),
        (Format::Aimem, "tea.json"),
        (Format::AimemNdjson, "tea.ndjson"),
    ] {
        let path = folder.path().join(name);
        let admin = store.admin().unwrap();
        let exported = admin.export_file(format, &filter, &options, &path);
        let lost = exported.unwrap().loss;
        assert!(lost.iter().all(|(name, _)| name != "embedding"), "{name}");
        for target in [&store, &memory()] {
            let reading = ImportFile::open(&path, Some(format), &ReadOptions::default()).unwrap();
            assert!(reading.errors.is_empty(), "{name}: {:?}", reading.errors);
            let summary = target.import(reading).unwrap();
            let is_own = std::ptr::eq(target, &store);
            assert_eq!(summary.embedded, if is_own { 0 } else { 2 }, "{name}");
            assert!(!is_own || summary.inserted == 0, "{name}: {summary:?}");
            let near = target.find(&Search::near("tiny", &[0.9, 0.1]).limit(1));
            let near = near.unwrap().results;
            assert!(near[0].grain.to_json().contains("tea"), "{name}");
        }
    }
    // A stream has no file beside it, and nothing is written that was not asked for.
    for format in [Format::Mg, Format::Jsonl] {
        let mut bytes = Vec::new();
        let admin = store.admin().unwrap();
        let exported = admin.export(format, &filter, &options, &mut bytes).unwrap();
        assert!(exported.loss.iter().any(|lost| lost == ("embedding", 2)));
    }
    let path = folder.path().join("plain.mg");
    let plain = WriteOptions::default();
    let admin = store.admin().unwrap();
    let exported = admin
        .export_file(Format::Mg, &filter, &plain, &path)
        .unwrap();
    assert_eq!(exported.files, 1);
    assert!(exported.loss.iter().any(|lost| lost == ("embedding", 2)));
}

#[test]
fn messages_of_the_same_time_keep_their_order_in_every_format() {
    let store = memory();
    let texts: Vec<_> = (0..40)
        .map(|at| format!("message {}", at * 7 % 40))
        .collect();
    for text in &texts {
        let time = Time::from_ms(1_750_000_000_000);
        let draft = Draft::event(text.as_str()).session("s").created_at(time);
        store.put(draft).unwrap();
    }
    for format in FORMATS {
        let mut bytes = Vec::new();
        let admin = store.admin().unwrap();
        admin
            .export(format, &all().0, &all().1, &mut bytes)
            .unwrap();
        let copy = memory();
        import(&copy, &bytes, format);
        let found = copy.query(&Filter::new(), 100, None).unwrap().results;
        let said = found.iter().filter_map(|it| it.grain.text("content"));
        assert!(said.eq(texts.iter().map(String::as_str)), "{format}");
    }
}
