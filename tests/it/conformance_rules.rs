//! Rules of OMS 1.3 that need a store, or the source itself, to be seen.

use std::fs;
use std::path::Path;

use grainstore::codec::{Canonical, ContentAddress, Encoding, Map, Profile};
use grainstore::grain::{Draft, Status, Time};
use grainstore::interchange::WriteOptions;
use grainstore::interchange::{ImportFile, ReadOptions};
use grainstore::query::{Sort, SortBy};
use grainstore::{Filter, Options, Store};

use crate::sample::addresses_of;
use crate::store::at;

fn prefers(object: &str) -> Draft {
    Draft::belief("user", "mg:prefers", object).confidence(0.9)
}

fn memory() -> Store {
    Store::in_memory(at(1_768_471_200_000).0).unwrap()
}

#[test]
fn an_observer_type_nobody_has_heard_of_is_stored_and_found_like_any_other() {
    // OMS 17.3: what kinds of observers there are is the application's to say.
    let store = memory();
    let types = [
        "lidar",
        "llm",
        "trigger:cron",
        "acme:nose",
        "Ünbekannt 7",
        "physical",
    ];
    let observations = types.map(|of| {
        let draft = Draft::observation("observer-1", of).set("subject", "room-4");
        draft.set("object", format!("smells of pears, says {of}"))
    });
    let addresses = addresses_of(&store.put_batch(observations).unwrap());
    let asked = Filter::new().subject("room-4");
    let found = store.query(&asked, 10, None).unwrap();
    let found: Vec<_> = found.results.iter().map(|found| found.address).collect();
    assert_eq!(found, addresses);
    let hits = store.search("pears", &Filter::new(), 10).unwrap();
    assert_eq!(hits.total, types.len() as u64);
}

#[test]
fn what_an_observer_is_called_changes_no_answer() {
    // OMS 17.3, 24: of two stores that differ in the name alone, the answers differ in it alone.
    let answers = |name: &str| {
        let store = memory();
        let draft = |n: i64, of: &str| {
            let draft = Draft::observation(format!("observer-{n}"), of).set("subject", "room-4");
            draft
                .set("object", format!("pears {n}"))
                .created_at(Time::from_ms(9 - n))
        };
        let others = ["one kind", "another kind"];
        let all = [others[0], name, name, others[1]];
        let drafts = (0..).zip(all).map(|(n, of)| draft(n, of));
        store.put_batch(drafts.collect::<Vec<_>>()).unwrap();
        let mut shown = Vec::new();
        for filter in [Filter::new(), Filter::new().subject("room-4")] {
            shown.push(store.query(&filter, 9, None).unwrap());
            let sort = Sort::by(SortBy::CreatedAt);
            shown.push(store.query(&filter.clone().sorted(sort), 9, None).unwrap());
        }
        let texts = |found: &grainstore::query::Page| {
            let grains = found.results.iter().map(|found| found.grain.to_json());
            grains
                .map(|json| json.replace(name, "NAME"))
                .collect::<Vec<_>>()
        };
        let mut all: Vec<_> = shown.iter().map(texts).collect();
        // What fits alike follows in the order of the addresses, which the name is a part of.
        let hits = store.search("pears", &Filter::new(), 9).unwrap();
        let mut hits = texts(&hits);
        hits.sort_unstable();
        all.push(hits);
        all
    };
    let registered = [
        "lidar",
        "camera",
        "imu",
        "gps",
        "temperature",
        "pressure",
        "accelerometer",
        "magnetometer",
        "ultrasonic",
        "radar",
        "microphone",
        "llm",
        "reflector",
        "classifier",
        "detector",
        "human",
        "hybrid",
    ];
    let expected = answers("of tomorrow");
    assert_eq!(expected.iter().map(Vec::len).sum::<usize>(), 20);
    for name in registered
        .into_iter()
        .chain(["acme:nose", "trigger:cron", "Lidar"])
    {
        assert_eq!(answers(name), expected, "{name}");
    }
    no_room_of_storage_names_one(&registered);
}

/// No list of the names decides where an observation goes.
fn no_room_of_storage_names_one(registered: &[&str]) {
    for (place, line) in code() {
        let is_of_storage = [
            "/store/", "/index/", "/query/", "/text/", "/vector/", "/ledger/",
        ]
        .iter()
        .any(|room| place.contains(room));
        let is_code = !line.trim_start().starts_with("//");
        let names_one = |name: &&&str| line.contains(&format!("\"{name}\""));
        let named = registered.iter().find(names_one);
        assert!(
            !(is_of_storage && is_code && named.is_some()),
            "{place}: {line}"
        );
    }
}

#[test]
fn a_session_is_found_whole_with_nothing_else_in_it() {
    // OMS 28.6, whatever is stored between its events and in whatever order they came.
    let store = memory();
    let names = ["s1", "s2", "S1", "s1 ", "s1:a", "s"];
    for n in 0..60 {
        // A fixed shuffle: 37 and 60 have no common factor.
        let turn = n * 37 % 60;
        let draft =
            Draft::event(format!("turn {turn}")).session(names[usize::try_from(turn % 6).unwrap()]);
        store.put(draft.created_at(Time::from_ms(turn))).unwrap();
        store.put(Draft::event(format!("aside {turn}"))).unwrap();
    }
    for (n, name) in (0..).zip(names) {
        let filter = Filter::new().session(name);
        let sort = Sort::by(SortBy::CreatedAt);
        let found = store.query(&filter.clone().sorted(sort), 99, None).unwrap();
        let turns = found
            .results
            .iter()
            .map(|found| found.grain.created_at().ms());
        let expected = (0..60).filter(|turn| turn % 6 == n);
        assert!(turns.eq(expected), "{name}");
    }
}

#[test]
fn index_fields_inside_an_imported_blob_are_kept_and_say_nothing() {
    // Ruling I2: the blob claims that another grain has replaced it.
    let mut payload = Map::from_iter([("t", "event"), ("content", "a"), ("vstatus", "retracted")]);
    payload.insert("sb", "0".repeat(64));
    payload.insert("svt", 5);
    payload.insert("ca", 1);
    let payload = Canonical::new(payload, Profile::Extended).unwrap();
    let mut blob = vec![1, 0, 2, 0, 0, 0, 0, 0, 0];
    Encoding::MessagePack.encode_into(&mut blob, &payload);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("foreign.jsonl");
    let hex = data_encoding::HEXLOWER.encode(&blob);
    fs::write(&path, format!("{{\"blob\":\"{hex}\"}}\n")).unwrap();
    let store = memory();
    let reading = ImportFile::open(&path, None, &ReadOptions::default()).unwrap();
    assert_eq!(store.import(reading).unwrap().inserted, 1);

    let address = ContentAddress::of(&blob);
    assert_eq!(store.get(&address).unwrap().unwrap().blob(), blob);
    assert_eq!(store.status(&address).unwrap(), Status::default());
    assert_eq!(store.query(&Filter::new(), 10, None).unwrap().total, 1);
}

#[test]
fn a_policy_whose_mode_is_not_understood_is_locked() {
    // OMS 23.3: only a policy that is not there is open.
    let nothing = Map::new();
    let mut number = Map::new();
    number.insert("mode", 7);
    for policy in [
        nothing,
        number,
        Map::from_iter([("mode", "")]),
        Map::from_iter([("mode", "Open")]),
        Map::from_iter([("scope", "grain")]),
    ] {
        let store = memory();
        let draft = prefers("a").set("invalidation_policy", policy.clone());
        let old = store.put(draft).unwrap();
        let denied = store.supersede(&old, prefers("b").derived_from(old), Some("please"));
        let denied = denied.unwrap_err();
        assert_eq!(denied.code(), "ERR_INVALIDATION_DENIED", "{policy:?}");
        assert!(denied.to_string().contains("protected: locked"), "{denied}");
    }
}

#[test]
fn a_consent_is_soft_locked_unless_it_says_otherwise() {
    let store = memory();
    let consent = || Draft::consent("did:a", "did:b", ["store"]);
    let grant = store.put(consent()).unwrap();
    let denied = store.supersede(&grant, consent().set("prior_consent", grant), None);
    let denied = denied.unwrap_err();
    assert!(
        denied.to_string().contains("protected: soft_locked"),
        "{denied}"
    );
    // Ruling I5: a Consent names what it replaces in prior_consent.
    let open = Map::from_iter([("mode", "open")]);
    let open = consent().set("invalidation_policy", open).session("open");
    let grant = store.put(open).unwrap();
    let withdrawal = consent()
        .set("is_withdrawal", true)
        .set("prior_consent", grant);
    let withdrawal = store.supersede(&grant, withdrawal, None).unwrap();
    assert_eq!(
        store.status(&grant).unwrap().superseded_by,
        Some(withdrawal)
    );
    let belief = store.put(prefers("a")).unwrap();
    let nameless = prefers("b").set("prior_consent", belief);
    let nameless = nameless
        .created_at(Time::from_ms(1))
        .finish(Profile::Extended);
    let nameless = nameless.unwrap();
    let error = store.supersede(&belief, nameless, None).unwrap_err();
    assert_eq!(
        error.code(),
        "ERR_SCHEMA",
        "a belief names it in derived_from"
    );
}

#[test]
fn a_supersession_cut_off_anywhere_never_happened() {
    // OMS 28.4: the new grain and the old one's status are there together or not at all.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let segment = |path: &Path| path.join("ledger/0000000000000001.seg");
    let old = Store::open(&path, at(1).0)
        .unwrap()
        .put(prefers("a"))
        .unwrap();
    let before = fs::read(segment(&path)).unwrap().len();
    let new = {
        let store = Store::open(&path, at(2).0).unwrap();
        let new = prefers("b").derived_from(old);
        store.supersede(&old, new, None).unwrap()
    };
    let ledger = fs::read(segment(&path)).unwrap();
    let ends = (before..ledger.len()).step_by(19).chain([ledger.len()]);
    for end in ends {
        let copy = folder.path().join(end.to_string());
        fs::create_dir_all(copy.join("ledger")).unwrap();
        fs::copy(path.join("MANIFEST"), copy.join("MANIFEST")).unwrap();
        fs::write(segment(&copy), &ledger[..end]).unwrap();
        let store = Store::open(&copy, at(3).0).unwrap();
        let happened = end == ledger.len();
        assert_eq!(store.exists(&new).unwrap(), happened, "{end}");
        assert_eq!(store.status(&old).unwrap().is_current(), !happened, "{end}");
        let current = store.query(&Filter::new(), 10, None).unwrap();
        let current: Vec<_> = current.results.iter().map(|found| found.address).collect();
        assert_eq!(current, [if happened { new } else { old }], "{end}");
    }
}

#[test]
fn an_answer_has_the_members_of_the_envelope_and_a_score_that_is_not_the_confidence() {
    let store = memory();
    for (subject, confidence) in [("ann", 0.1), ("bob", 0.9)] {
        let draft = Draft::belief(subject, "likes", "walking in the rain");
        store.put(draft.confidence(confidence)).unwrap();
    }
    let found = store.search("rain", &Filter::new(), 10).unwrap();
    assert_eq!(found.results.len(), 2);
    assert!((found.results[0].score - found.results[1].score).abs() < 1e-9);
    assert!(
        found
            .results
            .iter()
            .all(|found| (0.0..=1.0).contains(&found.score))
    );

    let answer: serde_json::Value = serde_json::from_str(&found.to_json()).unwrap();
    assert_eq!(answer["total"], 2);
    assert!(answer["next_cursor"].is_null());
    for (result, found) in answer["results"]
        .as_array()
        .unwrap()
        .iter()
        .zip(&found.results)
    {
        assert_eq!(result["content_address"], found.address.to_string());
        assert_eq!(result["grain"]["relation"], "likes");
        assert_eq!(result["score"], found.score);
        assert_eq!(result["matched_fields"], serde_json::json!(["object"]));
    }
}

#[test]
fn a_file_ends_before_its_offsets_would() {
    // Ruling M10: offsets have 32 bits.
    let longest = WriteOptions::default().volume_len_max;
    assert!(longest.is_none_or(|len| len <= u64::from(u32::MAX)));
}

#[test]
fn the_same_second_does_not_make_two_grains_simultaneous() {
    // OMS 3.1.1: the header's seconds are a hint; the payload's milliseconds put grains in order.
    let store = memory();
    let at_ms = |ms| Draft::event("a").created_at(Time::from_ms(ms));
    store.put(at_ms(1_999)).unwrap();
    store.put(at_ms(1_001)).unwrap();
    let mut file = Vec::new();
    let format = grainstore::interchange::Format::Jsonl;
    let all = Filter::new();
    store
        .admin()
        .unwrap()
        .export(format, &all, &Default::default(), &mut file)
        .unwrap();
    let window = Filter::new().since(Time::from_ms(1_500));
    assert_eq!(store.query(&window, 10, None).unwrap().total, 1);
    let text = String::from_utf8(file).unwrap();
    let places = ["1001", "1999"].map(|ms| text.find(ms));
    assert!(places[0].is_some() && places[0] < places[1], "{text}");
}

#[test]
fn addresses_are_verified_in_constant_time() {
    // No test can time it; that the one comparison is the constant-time one can be read.
    let source = fs::read_to_string(src().join("codec/address.rs")).unwrap();
    for (head, compares) in [
        ("pub fn verifies", "self.is("),
        ("pub(crate) fn is(", ".ct_eq("),
    ] {
        let (_, function) = source.split_once(head).unwrap();
        let (body, _) = function.split_once("\n    }").unwrap();
        assert!(body.contains(compares) && !body.contains("=="), "{body}");
    }
    for (place, line) in code() {
        let compares = line.contains("==") || line.contains("!=");
        let hashes = line.contains("ContentAddress::of(") || line.contains("Sha256::digest(");
        assert!(!(compares && hashes), "{place}: {line}");
    }
}

#[test]
fn the_library_opens_no_connection() {
    // OMS 20.5: a reference is never followed.
    for (place, line) in code() {
        for network in [
            "TcpStream",
            "UdpSocket",
            "UnixStream",
            "ToSocketAddrs",
            "std::process::Command",
        ] {
            assert!(!line.contains(network), "{place}: {line}");
        }
    }
    let manifest = fs::read_to_string(src().with_file_name("Cargo.toml")).unwrap();
    for client in ["reqwest", "ureq", "hyper", "curl", "tokio", "socket2"] {
        let names_it = |line: &str| line.split(['=', '.', ' ']).next() == Some(client);
        assert!(!manifest.lines().any(names_it), "{client}");
    }
}

#[test]
fn no_embedding_is_made_here_and_a_grain_has_the_references_it_was_given() {
    // OMS 7.2 binds whoever makes embeddings. Nothing here does: there is no model on board, and
    // the test above says that none is asked over a network.
    let manifest = fs::read_to_string(src().with_file_name("Cargo.toml")).unwrap();
    for model in [
        "ort",
        "candle",
        "tch",
        "fastembed",
        "burn",
        "tract",
        "tokenizers",
        "llama",
        "onnx",
    ] {
        let names_it = |line: &str| {
            let name = line.split(['=', '.', ' ']).next().unwrap_or_default();
            name == model || name.starts_with(&format!("{model}-"))
        };
        assert!(!manifest.lines().any(names_it), "{model}");
    }
    let store = Store::in_memory(Options::default()).unwrap();
    let refs = r#"[{"vector_id":"v1","model":"theirs","dimensions":3}]"#;
    for given in ["[]", refs] {
        let json = format!(
            r#"{{"type":"event","content":"tea","created_at":1,"embedding_refs":{given}}}"#
        );
        let draft = Draft::from_json(&json).unwrap();
        let expected = draft.clone().finish(Default::default()).unwrap();
        let address = store.put(draft).unwrap();
        assert_eq!(
            store.get(&address).unwrap().unwrap().blob(),
            expected.blob()
        );
    }
}

/// Every line of the library, with its place.
fn code() -> Vec<(String, String)> {
    let mut pending = vec![src()];
    let mut lines = Vec::new();
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path).unwrap();
            pending.extend(entries.map(|entry| entry.unwrap().path()));
        } else {
            let text = fs::read_to_string(&path).unwrap();
            let numbered = text.lines().enumerate();
            lines.extend(numbered.map(|(n, line)| {
                let place = format!("{}:{}", path.display(), n + 1);
                (place, line.to_owned())
            }));
        }
    }
    assert!(lines.len() > 10_000);
    lines
}

fn src() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}
