//! Chains of conversions: whatever formats a memory goes through, no text, speaker, time, person,
//! relation or ending is lost without being named at the step where it happens.
//!
//! The comparison is its own: it reads the grains before and after a step and knows nothing of what
//! writers count.

use std::collections::BTreeMap;
use std::path::Path;

use grainstore::codec::Value;
use grainstore::grain::Grain;
use grainstore::interchange::{Format, ImportFile, Loss, ReadOptions, WriteOptions};
use grainstore::query::Found;
use grainstore::{ContentAddress, Draft, Filter, Options, Store, Time, Type};

/// The chains that are run; `just chains` runs 500.
const CHAINS: u64 = match option_env!("GRAINSTORE_CHAINS") {
    Some(_) => 500,
    None => 12,
};

fn memory() -> Store {
    Store::in_memory(Options::default()).unwrap()
}

fn read(store: &Store, path: &Path, user: Option<&str>) -> (Loss, bool) {
    let options = ReadOptions {
        user: user.map(str::to_owned),
        ..ReadOptions::default()
    };
    let reading = ImportFile::open(path, None, &options).unwrap();
    assert!(reading.errors.is_empty(), "{path:?}: {:?}", reading.errors);
    let summary = store.import(reading).unwrap();
    let is_told = !summary.is_complete() || !summary.findings.is_empty();
    (summary.loss, is_told)
}

/// A memory of one person with records of every kind, corrections, and events with times of their own.
fn material() -> Store {
    let store = memory();
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("test-vectors/interchange");
    for name in [
        "omi/notes.json",
        "aimem/notes.json",
        "chatgpt",
        "claude-blocks",
        "deepseek",
    ] {
        read(&store, &vectors.join(name), Some("mira"));
    }
    let at = |n: i64| Time::from_ms(1_780_000_000_000 + n);
    let belief = |relation: &str, object: &str, n: i64| {
        let belief = Draft::belief("mira", relation, object).confidence(0.8);
        belief.user("mira").created_at(at(n))
    };
    let old = store.put(belief("lives_in", "Porto", 1)).unwrap();
    let new = belief("lives_in", "Lisbon", 2).derived_from(old);
    store.supersede(&old, new, Some("she moved")).unwrap();
    let refuted = store.put(belief("is_allergic_to", "peanuts", 3)).unwrap();
    store.contradict(&refuted, Some("tested")).unwrap();
    store.put(belief("prefers", "tea", 4)).unwrap();
    for (n, role) in [(5, "user"), (6, "assistant"), (7, "tool")] {
        let event = Draft::event(format!("said by the {role}")).user("mira");
        let event = event.session("own").created_at(at(n)).set("role", role);
        store
            .put(event.set("timestamp_ms", 1_770_000_000_000_i64 + n))
            .unwrap();
    }
    store
}

/// What a reader of a memory may want to know of a grain.
type Facts = BTreeMap<(&'static str, String), u64>;

fn found(store: &Store) -> Vec<Found> {
    let filter = Filter::new()
        .with_superseded()
        .with_expired()
        .with_unreviewed();
    store.query(&filter, 10_000, None).unwrap().results
}

fn text_of(grain: &Grain) -> Option<String> {
    let text = |name: &str| grain.text(name).filter(|text| !text.is_empty());
    let plain = ["content", "object", "description"]
        .into_iter()
        .find_map(text);
    plain.map(str::to_owned)
}

fn is_link(grain: &Grain) -> bool {
    let kinds = ["pam:rel", "omi:rel", "aimem:edge", "aimem:mentions"];
    let relation = grain.text("relation").unwrap_or_default();
    kinds.iter().any(|kind| relation.starts_with(kind))
}

fn ends(grain: &Grain) -> Vec<ContentAddress> {
    let related = grain.field("related_to").and_then(Value::as_array);
    let ends = related.unwrap_or_default().iter();
    ends.filter_map(|end| end.as_map()?.get("hash")?.as_text()?.parse().ok())
        .collect()
}

fn facts(store: &Store) -> Facts {
    let mut facts = Facts::new();
    let all = found(store);
    let texts: BTreeMap<_, _> = all
        .iter()
        .map(|it| (it.address, text_of(&it.grain).unwrap_or_default()))
        .collect();
    for it in &all {
        let grain = &it.grain;
        if is_link(grain) {
            let ends: Vec<_> = ends(grain)
                .iter()
                .filter_map(|end| texts.get(end))
                .collect();
            if ends.len() == 2 {
                *facts.entry(("relation", format!("{ends:?}"))).or_default() += 1;
            }
            continue;
        }
        let Some(text) = text_of(grain).filter(|_| grain.type_() != Type::State) else {
            continue;
        };
        let mut add = |kind, fact: String| *facts.entry((kind, fact)).or_default() += 1;
        add("text", text.clone());
        add("time", format!("{text} {}", grain.created_at()));
        if let Some(at) = grain.field("timestamp_ms").and_then(Value::as_i64) {
            add("event", format!("{text} {at}"));
        }
        for (kind, name) in [("speaker", "role"), ("person", "user_id")] {
            if let Some(said) = grain.text(name) {
                add(kind, format!("{text} {said}"));
            }
        }
        if !it.status.is_current() {
            add("ending", text);
        }
    }
    facts
}

/// One conversion; returns the copy, and whether it named anything that is lost.
fn convert(store: &Store, format: Format) -> (Store, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(if format == Format::Pam {
        "copy.zip"
    } else {
        "copy"
    });
    let options = WriteOptions {
        with_embeddings: true,
        history: true,
        producer: Some("grainstore".into()).filter(|_| format == Format::Aimem),
        ..WriteOptions::default()
    };
    let filter = Filter::new().with_superseded();
    let admin = store.admin().unwrap();
    let exported = admin.export_file(format, &filter, &options, &path).unwrap();
    let copy = memory();
    let (loss, is_told) = read(&copy, &path, None);
    let named = exported.loss.iter().chain(loss.iter());
    let mut named: Vec<_> = named
        .map(|(what, count)| format!("{what} ({count})"))
        .collect();
    named.extend(is_told.then(|| "findings".to_owned()));
    (copy, named.join(", "))
}

/// Returns the facts that are there no more. A bundle has sentences where grains have members, so a
/// text is still there inside another.
fn lost(before: &Facts, after: &Facts, format: Format) -> Vec<String> {
    let is_left = |(kind, fact): &(&'static str, String), count: u64| {
        let exact = after
            .get(&(*kind, fact.clone()))
            .copied()
            .unwrap_or_default();
        let inside = format == Format::Aimem
            && *kind == "text"
            && after
                .keys()
                .any(|(of, text)| *of == "text" && text.contains(fact.as_str()));
        exact >= count || inside
    };
    let lost = before
        .iter()
        .filter(|(fact, count)| !is_left(fact, **count));
    lost.map(|((kind, fact), _)| format!("{kind}: {fact}"))
        .collect()
}

#[test]
fn nothing_is_lost_in_a_chain_of_conversions_without_being_named_where_it_happens() {
    let formats = [
        Format::Mg,
        Format::Jsonl,
        Format::Pam,
        Format::Omi,
        Format::OmiJsonl,
        Format::Aimem,
    ];
    let mut state = 1_u64;
    let mut random = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let material = material();
    let (mut steps, mut named_steps) = (0, 0);
    for chain in 0..CHAINS {
        let mut store = material.clone();
        let mut way = Vec::new();
        for _ in 0..3 + random(3) {
            let format = formats[usize::try_from(random(6)).unwrap()];
            way.push(format.name());
            let before = facts(&store);
            let (copy, named) = convert(&store, format);
            let lost = lost(&before, &facts(&copy), format);
            if format == Format::Aimem {
                assert!(
                    lost.is_empty() || !named.is_empty(),
                    "{chain} {way:?}: {lost:#?}"
                );
            } else {
                assert!(
                    lost.is_empty(),
                    "{chain} {way:?}, named: {named}: {lost:#?}"
                );
            }
            steps += 1;
            named_steps += u64::from(!lost.is_empty());
            store = copy;
        }
    }
    println!(
        "{CHAINS} chains, {steps} conversions, {named_steps} that lost something and named it"
    );
}
