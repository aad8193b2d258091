//! Handoffs of tasks between agents (OMS 28.7), and the conversations they carry (OMS 28.6).

use grainstore::Type;
use grainstore::ledger::Kind;
use grainstore::store::Handoff;

use super::*;

fn desk(store: &Store) -> Store {
    store.as_actor(&did("desk")).in_namespace("acme:help")
}

fn expert(store: &Store) -> Store {
    store.as_actor(&did("expert")).in_namespace("acme:help")
}

/// A conversation of three messages, in the order of their addresses.
fn talk(store: &Store) -> Vec<ContentAddress> {
    let mut said = Vec::new();
    for (text, role) in [
        ("help", "user"),
        ("with what?", "assistant"),
        ("a bill", "user"),
    ] {
        let mut message = note(text).session("s1").set("role", role);
        if let Some(parent) = said.last() {
            message = message.set("parent_message_id", *parent);
        }
        said.push(desk(store).put(message).unwrap());
    }
    said
}

#[test]
fn a_handoff_delegates_records_and_snapshots_together() {
    let store = memory();
    let said = talk(&store);
    let handoff = Handoff::of("settle the bill").session("s1").tool("refund");
    let handed = desk(&store).hand_off(&did("expert"), &handoff).unwrap();

    let goal = store.get(&handed.delegation).unwrap().unwrap();
    assert_eq!(goal.text("relation"), Some("mg:delegates_to"));
    assert_eq!(goal.text("subject"), Some("did:web:desk.example"));
    assert_eq!(goal.text("object"), Some("did:web:expert.example"));
    assert_eq!(goal.text("return_to"), Some("did:web:desk.example"));
    assert_eq!(goal.text("session_id"), Some("s1"));
    assert_eq!(store.warnings(&goal).unwrap(), vec![]);
    let event = store.get(&handed.event).unwrap().unwrap();
    assert_eq!(
        (event.type_(), event.text("relation")),
        (Type::Event, Some("mg:handed_off_to"))
    );
    let state = store.get(&handed.state.unwrap()).unwrap().unwrap();
    let context = state.field("context").unwrap().as_map().unwrap();
    let tail = context
        .get("messages_tail")
        .and_then(grainstore::codec::Value::as_text);
    assert_eq!(tail, Some(said[2].to_string().as_str()));
    assert_eq!(context.get("message_count").unwrap().as_i64(), Some(3));
    assert_eq!(store.warnings(&state).unwrap(), vec![]);

    let taken = expert(&store).take_over(&handed.delegation).unwrap();
    let taken: Vec<_> = taken.iter().map(grainstore::Grain::address).collect();
    assert_eq!(taken, [&[state.address()][..], &said].concat());
    // It binds where it names: another tool is not the expert's.
    let input = grainstore::codec::Map::new();
    let tool = |name: &str| Draft::action(name, input.clone(), "done", false);
    assert!(expert(&store).put(tool("refund")).is_ok());
    assert_eq!(code(expert(&store).put(tool("wipe"))), "ERR_ACCESS_DENIED");
    // Ruling I26: an agent takes nothing from another outside its own namespace.
    let elsewhere = store.as_actor(&did("expert"));
    assert!(elsewhere.put(note("x").namespace("acme:pay")).is_ok());

    let back = expert(&store)
        .hand_back(&handed.delegation, "refunded")
        .unwrap();
    assert_eq!(back.1.as_deref(), Some("did:web:desk.example"));
    assert_eq!(code(expert(&store).put(note("more"))), "ERR_ACCESS_DENIED");
    assert!(desk(&store).put(note("thank you")).is_ok());
}

#[test]
fn only_its_delegatee_takes_a_handoff_over() {
    let store = memory();
    talk(&store);
    let handoff = Handoff::of("settle the bill").session("s1");
    let handed = desk(&store).hand_off(&did("expert"), &handoff).unwrap();
    let mallory = store.as_actor(&did("mallory")).in_namespace("acme:help");
    assert_eq!(
        code(mallory.take_over(&handed.delegation)),
        "ERR_ACCESS_DENIED"
    );
    assert_eq!(
        code(mallory.hand_back(&handed.delegation, "x")),
        "ERR_ACCESS_DENIED"
    );
    let recorded = store
        .maintenance()
        .unwrap()
        .index_snapshot()
        .of_kind(Kind::Denial)
        .rows()
        .unwrap();
    assert_eq!(recorded.len(), 2, "both are on record");
    let outside = store.as_actor(&did("expert")).in_namespace("other");
    assert_eq!(code(outside.take_over(&handed.delegation)), "ERR_NOT_FOUND");
    store
        .contradict(&handed.delegation, Some("mistaken"))
        .unwrap();
    assert_eq!(
        code(expert(&store).take_over(&handed.delegation)),
        "ERR_NOT_FOUND"
    );
    // Nobody hands off as nobody.
    let nobody = store.in_namespace("acme:help");
    assert_eq!(
        code(nobody.hand_off(&did("expert"), &handoff)),
        "ERR_ACCESS_DENIED"
    );
}

#[test]
fn a_thread_is_walked_from_a_message_to_the_first() {
    let store = memory();
    let said = talk(&store);
    // Another branch of the same conversation.
    let branch = note("with the weather?")
        .session("s1")
        .set("parent_message_id", said[0]);
    let branch = desk(&store).put(branch).unwrap();
    let thread = |message| {
        let thread = store.thread(&message).unwrap();
        thread
            .iter()
            .map(grainstore::Grain::address)
            .collect::<Vec<_>>()
    };
    assert_eq!(thread(said[2]), said);
    assert_eq!(thread(branch), [said[0], branch]);
    assert_eq!(desk(&store).thread(&said[2]).unwrap().len(), 3);
    assert_eq!(
        store.in_namespace("other").thread(&said[2]).unwrap(),
        vec![]
    );
}

#[test]
fn what_is_missing_of_a_convention_is_a_warning_and_not_an_error() {
    let store = memory();
    let fields_of = |draft: Draft| {
        let grain = draft
            .created_at(grainstore::Time::from_ms(1))
            .finish(Default::default());
        let warnings = store.warnings(&grain.unwrap()).unwrap();
        warnings
            .into_iter()
            .map(|warning| warning.field)
            .collect::<Vec<_>>()
    };
    let goal = || {
        Draft::goal("x")
            .set("subject", "did:web:a.example")
            .set("relation", "mg:delegates_to")
            .set("object", "did:web:b.example")
    };
    assert_eq!(
        fields_of(goal().session("s")),
        ["authorized_namespaces", "delegation_depth", "return_to"]
    );
    assert!(fields_of(goal().author("did:web:c.example")).contains(&"author_did".into()));
    let state = Draft::state(grainstore::codec::Map::new()).set("relation", "mg:state_at");
    assert_eq!(
        fields_of(state),
        [
            "context.messages_tail",
            "context.message_count",
            "context.participants"
        ]
    );
}
