//! What rests on a withdrawn consent: no operation shows it to an agent, no answer and no file
//! contains it, and nothing more is stored (OMS 8.10). What is erased is in `cascade`.

use grainstore::interchange::{Format, ImportFile, ReadOptions, WriteOptions, jsonl};
use grainstore::ledger::MemoryDisk;
use grainstore::query::Recall;
use grainstore::store::{Embedding, Handoff, Summary};
use grainstore::{ContentAddress, Draft, Filter, Grain, Search, Store, Time, store};

use super::opened_at;

const ADA: &str = "did:web:ada.example";
const WORD: &str = "migraine";

struct World {
    store: Store,
    agent: Store,
    heir: Store,
    consent: ContentAddress,
    /// The grain that rests on the consent, as its first version and as its current one.
    versions: [ContentAddress; 2],
    /// A message whose parent rests on the consent.
    answer: ContentAddress,
    delegation: ContentAddress,
}

fn resting(text: &str, consent: ContentAddress) -> Draft {
    Draft::event(text)
        .session("s1")
        .set("processing_basis", consent)
        .created_at(Time::from_ms(5))
}

fn world() -> World {
    let store = opened_at(&MemoryDisk::default(), 1_000).0;
    let agent = store.as_actor(&"did:web:agent.example".parse().unwrap());
    let heir = "did:web:heir.example".parse().unwrap();
    let consent = Draft::consent(ADA, "did:web:acme.example", ["store", "retrieve"]);
    let consent = store.put(consent).unwrap();
    let first = store.put(resting(WORD, consent)).unwrap();
    let second = resting(&format!("a {WORD} again"), consent).derived_from(first);
    let second = store.supersede(&first, second, None).unwrap();
    let answer = Draft::event("get well soon").session("s1");
    let answer = answer.set("parent_message_id", second);
    let answer = store.put(answer.created_at(Time::from_ms(6))).unwrap();
    let vectors = [second, answer].map(|of| Embedding::new(of, "m", &[1.0, 0.0]));
    store.put_embeddings(&vectors).unwrap();
    let card = Draft::belief("did:web:agent.example", "mg:has_capability", WORD).confidence(1.0);
    let card = card.namespace("agent:identity");
    store.put(card.set("processing_basis", consent)).unwrap();
    let handoff = Handoff::of("care for her").context(second).context(answer);
    let delegation = agent.hand_off(&heir, &handoff).unwrap().delegation;
    World {
        heir: store.as_actor(&heir),
        agent,
        store,
        consent,
        versions: [first, second],
        answer,
        delegation,
    }
}

fn withdrawal(of: ContentAddress) -> Draft {
    Draft::consent(ADA, "did:web:acme.example", ["store", "retrieve"])
        .set("is_withdrawal", true)
        .set("prior_consent", of)
        .created_at(Time::from_ms(7))
}

fn imported(store: &Store, grain: &Grain) -> Summary {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.jsonl");
    let mut writer = jsonl::Writer::new(Vec::new());
    writer.write(grain, &Default::default()).unwrap();
    std::fs::write(&path, writer.into_inner()).unwrap();
    let reading = ImportFile::open(&path, None, &ReadOptions::default()).unwrap();
    store.import(reading).unwrap()
}

/// The texts of an answer, or none if it is refused for want of a consent.
fn texts(found: Result<Vec<Grain>, store::Error>) -> String {
    match found {
        Ok(grains) => grains.iter().map(Grain::to_json).collect(),
        Err(refused) => {
            assert_eq!(refused.code(), "ERR_CONSENT", "{refused}");
            String::new()
        }
    }
}

/// The answers about the resting grain by address and by walk, each with the name of its operation.
fn by_address(of: &World, handle: &Store) -> Vec<(&'static str, String)> {
    let mut shown = Vec::new();
    for address in of.versions {
        let one = |grain: Option<Grain>| grain.into_iter().collect();
        shown.push(("get", texts(handle.get(&address).map(one))));
        let batch = handle.get_batch(&[address]);
        let batch = batch.map(|grains| grains.into_iter().flatten().collect());
        shown.push(("get_batch", texts(batch)));
        let delivered = handle.delivery(&address).map(|bytes| {
            let grain = Grain::from_blob(bytes.unwrap(), Default::default());
            vec![grain.unwrap()]
        });
        shown.push(("delivery", texts(delivered)));
        let history = handle.history(&address);
        let history = history.map(|all| all.into_iter().map(|one| one.grain).collect());
        shown.push(("history", texts(history)));
        shown.push(("thread", texts(handle.thread(&address))));
    }
    shown.push(("thread below", texts(handle.thread(&of.answer))));
    let vector = handle.embedding(&of.versions[1], "m");
    let vector = vector.map(|found| found.map_or(String::new(), |_| WORD.to_owned()));
    shown.push(("embedding", vector.unwrap_or_default()));
    let card = handle.agent_card("did:web:agent.example").unwrap();
    let card = card.capabilities.into_iter().map(|one| one.grain).collect();
    shown.push(("agent_card", texts(Ok(card))));
    shown
}

/// The answers to questions, each with the name of its operation.
fn by_question(of: &World, handle: &Store) -> Vec<(&'static str, String)> {
    let all = Filter::new().with_superseded().with_expired();
    let vector = [1.0, 0.0];
    let mut shown = Vec::new();
    for filter in [
        Filter::new(),
        all.clone().session("s1"),
        all,
        Filter::new().known_at(Time::from_ms(1_000)),
    ] {
        for (operation, found) in [
            ("query", handle.query(&filter, 9, None).unwrap()),
            ("search", handle.search(WORD, &filter, 9).unwrap()),
            (
                "nearest",
                handle
                    .find(&Search::near("m", &vector).filter(&filter).limit(9))
                    .unwrap(),
            ),
            (
                "search_hybrid",
                handle
                    .find(
                        &Search::words(WORD)
                            .vector("m", &vector)
                            .filter(&filter)
                            .limit(9),
                    )
                    .unwrap(),
            ),
        ] {
            shown.push((operation, found.to_json()));
        }
        // The question meets the answer, whose conversation has the resting grain.
        for question in [WORD, "get well"] {
            let recalled = handle.recall(question, &filter, &Recall::default());
            let recalled = recalled.unwrap().render(grainstore::render::Format::Text);
            shown.push(("recall", recalled));
        }
    }
    let similar = handle.find(&Search::like("m", of.answer).limit(9));
    shown.push(("similar", similar.unwrap().to_json()));
    shown
}

fn by_handoff(of: &World) -> (&'static str, String) {
    ("take_over", texts(of.heir.take_over(&of.delegation)))
}

#[test]
fn no_operation_of_an_agent_shows_what_rests_on_a_withdrawn_consent() {
    let world = world();
    let agents = |world: &World| {
        let mut shown = by_address(world, &world.agent);
        shown.extend(by_question(world, &world.agent));
        shown.push(by_handoff(world));
        shown
    };
    // Each of them shows it before, so that its silence afterwards says something.
    for (operation, _) in agents(&world) {
        let before = agents(&world);
        let mut before = before.iter().filter(|(name, _)| *name == operation);
        assert!(before.any(|(_, text)| text.contains(WORD)), "{operation}");
    }
    world.store.put(withdrawal(world.consent)).unwrap();
    for (operation, text) in agents(&world) {
        assert!(!text.contains(WORD), "{operation}: {text}");
    }
    for (operation, text) in by_question(&world, &world.store) {
        assert!(!text.contains(WORD), "the owner's {operation}: {text}");
    }
    // The owner reads by address what a hold may keep for years.
    let kept = world.store.get(&world.versions[1]).unwrap().unwrap();
    assert!(kept.text("content").unwrap().contains(WORD));
    // The rest of the conversation and of the handoff is still shown.
    let messages = world.agent.thread(&world.answer).unwrap();
    assert_eq!(messages.len(), 1);
    assert_eq!(world.heir.take_over(&world.delegation).unwrap().len(), 1);
}

#[test]
fn no_file_contains_what_rests_on_a_withdrawn_consent() {
    let world = world();
    let export = |format: Format| {
        let mut file = Vec::new();
        let all = Filter::new().with_superseded();
        let (admin, options) = (world.store.admin().unwrap(), WriteOptions::default());
        admin.export(format, &all, &options, &mut file).unwrap();
        String::from_utf8_lossy(&file).into_owned()
    };
    let formats = [
        Format::Jsonl,
        Format::Mg,
        Format::Pam,
        Format::Aimem,
        Format::OmiJsonl,
    ];
    for format in formats {
        assert!(export(format).contains(WORD), "{format}");
    }
    world.store.put(withdrawal(world.consent)).unwrap();
    for format in formats {
        assert!(!export(format).contains(WORD), "{format}");
    }
}

#[test]
fn nothing_more_is_stored_on_a_withdrawn_consent_in_any_way() {
    let world = world();
    let [first, current] = world.versions;
    world.store.put(withdrawal(world.consent)).unwrap();
    let consent = world.consent;
    let basis = consent.to_string();
    for reference in [
        basis.clone(),
        format!("sha256:{basis}"),
        format!("mg:sha256:{basis}"),
    ] {
        let draft = |text: &str| resting(text, consent).set("processing_basis", reference.as_str());
        for handle in [&world.store, &world.agent] {
            let code = handle.put(draft("more")).unwrap_err().code();
            assert_eq!(code, "ERR_CONSENT", "put {reference}");
            let batch = [Draft::event("harmless"), draft("more")];
            let code = handle.put_batch(batch).unwrap_err().code();
            assert_eq!(code, "ERR_CONSENT", "put_batch {reference}");
            for old in [current, world.answer] {
                let new = draft("more").derived_from(old);
                let code = handle.supersede(&old, new, Some("asked")).unwrap_err();
                assert_eq!(code.code(), "ERR_CONSENT", "supersede {reference}");
            }
        }
        let grain = draft("more").finish(Default::default()).unwrap();
        let summary = imported(&world.store, &grain);
        assert_eq!((summary.inserted, summary.refused.len()), (0, 1));
        assert_eq!(summary.refused[0].code(), "ERR_CONSENT", "{reference}");
    }
    assert!(world.store.status(&current).unwrap().is_current());
    assert!(!world.store.status(&first).unwrap().is_current());
}
