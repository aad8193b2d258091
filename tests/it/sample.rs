//! Random valid grains of all ten types, for every test that needs some.

use grainstore::codec::{ContentAddress, Encoding, Map, Value};
use grainstore::grain::{Draft, Time, Type};
use proptest::prelude::*;

use crate::codec::value;

pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,10}( [a-z]{1,10}){0,5}",
        "\\PC{1,20}".prop_map(|text| text.replace('\u{feff}', "x")),
        "[é\u{301}ü한字ａ😀]{1,6}",
    ]
}

fn address() -> impl Strategy<Value = ContentAddress> {
    any::<[u8; 32]>().prop_map(ContentAddress::new)
}

fn plain_map() -> impl Strategy<Value = Map> {
    prop::collection::vec(("x[a-z]{0,5}", value(2).prop_map(without_bytes)), 0..5)
        .prop_map(|pairs| pairs.into_iter().collect())
}

/// Bytes are legal in two fields only (ruling F13).
fn without_bytes(value: Value) -> Value {
    match value {
        Value::Bytes(bytes) => Value::from(u64::try_from(bytes.len()).unwrap()),
        Value::Array(items) => Value::Array(items.into_iter().map(without_bytes).collect()),
        Value::Map(map) => Value::Map(
            map.into_iter()
                .map(|(name, value)| (name, without_bytes(value)))
                .collect(),
        ),
        flat => flat,
    }
}

fn of_type(of: Type) -> BoxedStrategy<Draft> {
    let texts = || prop::collection::vec(text(), 1..4);
    match of {
        Type::Belief => (text(), text(), text(), plain_map(), any::<bool>())
            .prop_map(|(s, r, o, map, is_map)| {
                let object = if is_map {
                    Value::Map(map)
                } else {
                    Value::Text(o)
                };
                Draft::belief(s, r, object).confidence(0.5)
            })
            .boxed(),
        Type::Event => text().prop_map(Draft::event).boxed(),
        Type::State => plain_map().prop_map(Draft::state).boxed(),
        Type::Workflow => (texts(), text())
            .prop_map(|(steps, trigger)| Draft::workflow(steps, trigger))
            .boxed(),
        Type::Action => (text(), plain_map(), value(1), any::<bool>())
            .prop_map(|(tool, input, content, is_error)| {
                let content = match without_bytes(content) {
                    Value::Nil => Value::from("done"),
                    content => content,
                };
                Draft::action(tool, input, content, is_error)
            })
            .boxed(),
        Type::Observation => (text(), "[a-z:]{1,12}")
            .prop_map(|(id, kind)| Draft::observation(id, format!("x{kind}")))
            .boxed(),
        Type::Goal => text().prop_map(Draft::goal).boxed(),
        Type::Reasoning => text().prop_map(Draft::reasoning).boxed(),
        Type::Consensus => (texts(), 0..9_u32, 0..9_u32, 0..9_u32)
            .prop_map(|(who, threshold, yes, no)| Draft::consensus(who, threshold, yes, no))
            .boxed(),
        Type::Consent => (text(), text(), texts())
            .prop_map(|(who, whom, scope)| Draft::consent(who, whom, scope))
            .boxed(),
        Type::Opaque(_) => unreachable!("not a standard type"),
    }
}

/// A draft that every rule accepts.
pub(crate) fn draft() -> impl Strategy<Value = Draft> {
    let required = prop::sample::select(&Type::STANDARD[..]).prop_flat_map(of_type);
    let optional = (
        any::<i64>().prop_map(|ms| ms >> 20),
        prop::option::of("[a-z]{1,6}(:[a-z]{1,6}){0,3}"),
        prop::option::of(0.0..=1.0),
        prop::collection::vec(
            prop::sample::select(vec!["ui", "pii:email", "phi:mrn", "reg:sox", "café"]),
            0..3,
        ),
        prop::collection::vec(address(), 0..3),
        plain_map(),
        any::<bool>(),
    );
    (required, optional).prop_map(
        |(draft, (ms, namespace, importance, tags, sources, extra, cbor))| {
            let mut draft = draft.created_at(Time::from_ms(ms));
            if cbor {
                draft = draft.encoding(Encoding::Cbor);
            }
            if let Some(namespace) = namespace {
                draft = draft.namespace(namespace);
            }
            if let Some(importance) = importance {
                draft = draft.importance(importance);
            }
            draft = tags.into_iter().fold(draft, Draft::tag);
            // Ruling T3 and 27.1: a complete Action usually has no derived_from, but may.
            draft = sources.into_iter().fold(draft, Draft::derived_from);
            extra.into_iter().fold(draft, |draft, (name, value)| {
                draft.set(format!("app_{name}"), value)
            })
        },
    )
}
