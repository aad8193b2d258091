//! What each type requires of its fields, member by member and value by value.

use grainstore::codec::{Canonical, Encoding, Flags, Header, Map, Profile, Sensitivity, Value};
use grainstore::grain::{Field, Grain, Type};

use super::{belief, blob, code, finish, parsed, payload};
use crate::sample::PHI;

/// Of each type the least that is valid, in the order of the type bytes.
pub(super) const MINIMAL: [&str; 10] = [
    r#"{"type": "belief", "subject": "s", "relation": "r", "object": "o", "confidence": 1, NOW}"#,
    r#"{"type": "event", "content": "a", NOW}"#,
    r#"{"type": "state", "context": {"k": [1, {"x": true}]}, NOW}"#,
    r#"{"type": "workflow", "steps": ["a"], "trigger": "t", NOW}"#,
    r#"{"type": "action", "tool_name": "t", "input": {}, "content": 1, "is_error": false, NOW}"#,
    r#"{"type": "observation", "observer_id": "a", "observer_type": "gps", NOW}"#,
    r#"{"type": "goal", "description": "d", "goal_state": "active", NOW}"#,
    r#"{"type": "reasoning", NOW}"#,
    r#"{"type": "consensus", "participating_observers": ["a"], "threshold": 1, "agreement_count": 1, "dissent_count": 0, NOW}"#,
    r#"{"type": "consent", "subject_did": "a", "grantee_did": "b", "scope": ["store"], "is_withdrawal": false, NOW}"#,
];

/// Grains whose every member, but the type, is required.
const PHASES: [&str; 4] = [
    r#"{"type": "action", "action_phase": "definition", "tool_name": "t", "tool_description": "d", "input_schema": {}, NOW}"#,
    r#"{"type": "action", "action_phase": "call", "tool_name": "t", "input": {}, NOW}"#,
    r#"{"type": "action", "action_phase": "result", "tool_call_id": "i", "content": 1, "is_error": true, "derived_from": ["3288d0d41cf49a1d428e404f0b6a6fe60388be9536937557f6139b813d53a520"], NOW}"#,
    r#"{"type": "action", "execution_mode": "code_exec", "code": "1", "exit_code": 0, "is_error": true, NOW}"#,
];

#[test]
fn each_required_field_is_required_by_its_name() {
    for json in MINIMAL.iter().chain(&PHASES) {
        let whole = parsed(json);
        assert!(finish(whole.clone()).is_ok(), "{json}");
        for (name, _) in whole.iter() {
            if ["type", "action_phase", "execution_mode"].contains(&name) {
                continue;
            }
            let mut without = whole.clone();
            without.remove(name);
            let error = finish(without).unwrap_err();
            assert_eq!(error.code(), "ERR_SCHEMA", "{json} without {name}");
            assert!(error.to_string().contains(name), "{name}: {error}");
        }
    }
}

#[test]
fn each_required_member_of_an_entry_is_required_by_its_name() {
    for (field, entry) in [
        ("content_blocks", r#"{"type": "text"}"#),
        ("content_refs", r#"{"uri": "u", "modality": "image"}"#),
        (
            "content_refs",
            r#"{"citation_type": "doi", "identifier": "10.1/x"}"#,
        ),
        (
            "embedding_refs",
            r#"{"vector_id": "v", "model": "m", "dimensions": 3}"#,
        ),
        ("related_to", r#"{"hash": "x", "relation_type": "similar"}"#),
        (
            "derived_from",
            r#"{"citation_type": "doi", "identifier": "10.1/x"}"#,
        ),
        ("owner", r#"{"type": "org", "name": "n"}"#),
    ] {
        let whole = parsed(entry);
        let with = |entry: Map| match field {
            "owner" => belief().set(field, entry).finish(Profile::Extended),
            _ => belief()
                .push(field, Value::Map(entry))
                .finish(Profile::Extended),
        };
        assert!(with(whole.clone()).is_ok(), "{entry}");
        for (name, _) in whole.iter() {
            let mut without = whole.clone();
            without.remove(name);
            let error = with(without).unwrap_err();
            assert_eq!(error.code(), "ERR_SCHEMA", "{entry} without {name}");
            if whole.get(name).and_then(Value::as_text).is_some() {
                let mut empty = whole.clone();
                empty.insert(name, "");
                let error = with(empty).unwrap_err();
                let is_refused = ["ERR_EMPTY", "ERR_SCHEMA"].contains(&error.code().as_str());
                assert!(is_refused, "{entry}: {name}: {error}");
            }
        }
    }
}

#[test]
fn a_reference_in_capitals_and_a_number_out_of_its_range_are_refused() {
    let address = "3288D0D41CF49A1D428E404F0B6A6FE60388BE9536937557F6139B813D53A520";
    for (json, more, expected) in [
        (
            MINIMAL[0],
            r#""related_to": [{"hash": "ADDRESS", "relation_type": "similar"}]"#,
            "ERR_HASH_FORMAT",
        ),
        (
            MINIMAL[0],
            r#""provenance_chain": [{"source_hash": "ADDRESS", "method": "m"}]"#,
            "ERR_HASH_FORMAT",
        ),
        (
            MINIMAL[0],
            r#""related_to": [{"hash": "a", "relation_type": "similar", "weight": 2}]"#,
            "ERR_RANGE",
        ),
        (
            MINIMAL[0],
            r#""related_to": [{"hash": "a", "relation_type": "similar", "weight": -1}]"#,
            "ERR_RANGE",
        ),
        (
            MINIMAL[0],
            r#""structural_tags": ["profile:finance"], "fin:retention_years": -1"#,
            "ERR_RANGE",
        ),
        (
            MINIMAL[0],
            r#""structural_tags": ["profile:science"], "sci:sample_size": -3"#,
            "ERR_RANGE",
        ),
    ] {
        let json = json.replace("NOW", &format!("{more}, NOW"));
        let refused = code(&json.replace("ADDRESS", address));
        assert_eq!(refused, expected, "{more}");
        let sound = json.replace("ADDRESS", &address.to_lowercase());
        let sound = sound.replace("\"weight\": 2", "\"weight\": 0.2");
        let sound = sound.replace(": -1", ": 1").replace(": -3", ": 3");
        assert_eq!(code(&sound), "valid", "{more}");
    }
}

#[test]
fn each_required_text_must_say_something() {
    for json in MINIMAL {
        for (name, value) in parsed(json).iter() {
            if name == "type" || value.as_text().is_none() {
                continue;
            }
            let mut empty = parsed(json);
            empty.insert(name, "");
            let error = finish(empty).unwrap_err();
            assert_eq!(error.code(), "ERR_EMPTY", "{name}");
        }
    }
}

#[test]
fn each_field_has_the_kind_its_type_asks_for() {
    for (json, name) in [
        (MINIMAL[0], "confidence"),
        (MINIMAL[2], "context"),
        (MINIMAL[3], "steps"),
        (MINIMAL[8], "participating_observers"),
        (MINIMAL[8], "threshold"),
        (MINIMAL[8], "agreement_count"),
        (MINIMAL[8], "dissent_count"),
        (MINIMAL[9], "scope"),
        (MINIMAL[9], "is_withdrawal"),
    ] {
        for wrong in [Value::from("text"), Value::Array(vec![1.into()])] {
            let mut fields = parsed(json);
            fields.insert(name, wrong.clone());
            let error = finish(fields).unwrap_err();
            assert_eq!(error.code(), "ERR_SCHEMA", "{name}: {wrong:?}");
        }
    }
    for agreed in ["7", "[1]", "true"] {
        let json = MINIMAL[8].replace("NOW", &format!(r#""agreed_content": {agreed}, NOW"#));
        assert_eq!(code(&json), "ERR_SCHEMA", "ruling T2");
    }
    for agreed in [r#""yes""#, r#"{"k": 1}"#] {
        let json = MINIMAL[8].replace("NOW", &format!(r#""agreed_content": {agreed}, NOW"#));
        assert_eq!(code(&json), "valid", "ruling T2");
    }
}

#[test]
fn agreed_content_of_any_kind_is_read_from_elsewhere_with_a_warning() {
    // Ruling T2.
    for agreed in ["7", "[1]", "true"] {
        let json = MINIMAL[8].replace("NOW", r#""agreed_content": "?", NOW"#);
        let mut fields = parsed(&json);
        fields.insert("agreed_content", Value::from_json(agreed).unwrap());
        let entries = fields.into_iter().map(|(name, value)| {
            let key = Field::named(&name).map_or("?", |field| field.key);
            (key, value)
        });
        let map = Canonical::new(entries.collect(), Profile::Extended).unwrap();
        let created = map.get("ca").and_then(Value::as_i64).unwrap();
        let header = Header {
            flags: Flags::default(),
            type_byte: Type::Consensus.byte(),
            namespace_hash: [0, 0],
            created_at_sec: Header::seconds(created),
        };
        let mut blob = header.to_bytes().to_vec();
        Encoding::MessagePack.encode_into(&mut blob, &map);
        assert!(Grain::from_blob(blob.clone(), Profile::Extended).is_err());
        let (_, warnings) = Grain::from_foreign_blob(blob, Profile::Extended).unwrap();
        assert_eq!(warnings[0].field, "agreed_content");
    }
}

#[test]
fn each_phase_of_an_action_refuses_what_it_excludes() {
    let results = [
        r#""content": 1"#,
        r#""is_error": false"#,
        r#""stdout": "o""#,
        r#""stderr": "e""#,
        r#""exit_code": 0"#,
        r#""duration_ms": 1"#,
    ];
    let definition = results.iter().chain(&[r#""input": {}"#]);
    let definition = definition.map(|excluded| (PHASES[0], excluded));
    let call = results.iter().map(|excluded| (PHASES[1], excluded));
    for (json, excluded) in definition.chain(call) {
        let json = json.replace("NOW", &format!("{excluded}, NOW"));
        assert_eq!(code(&json), "ERR_SCHEMA", "{json}");
    }
    for outcome in &results[2..5] {
        let json = PHASES[3].replace(r#""exit_code": 0"#, outcome);
        assert_eq!(code(&json), "valid", "ruling T3: {json}");
    }
}

#[test]
fn closed_lists_take_their_values_and_no_others() {
    let goal = MINIMAL[6].replace(r#""goal_state": "active""#, "LISTED");
    let action = MINIMAL[4].replace("NOW", "LISTED, NOW");
    let observation = MINIMAL[5].replace("NOW", "LISTED, NOW");
    let trigger = observation.replace("gps", "trigger:polling");
    let link = r#"{"type": "event", "content": "a", "related_to": [{"hash": "x", LISTED}], NOW}"#;
    for (json, name, values) in [
        (
            goal.as_str(),
            "goal_state",
            &["active", "satisfied", "failed", "suspended"][..],
        ),
        (
            &action,
            "execution_mode",
            &["function_call", "computer_use"],
        ),
        (
            &observation,
            "observation_mode",
            &["passive", "active", "reflective", "real_time"],
        ),
        (
            &trigger,
            "observation_mode",
            // Three more, not three instead (ruling T1).
            &[
                "periodic",
                "continuous",
                "scheduled",
                "passive",
                "active",
                "reflective",
                "real_time",
            ],
        ),
        (
            &observation,
            "observation_scope",
            &["point", "interval", "session", "longitudinal"],
        ),
        (
            link,
            "relation_type",
            &[
                "similar",
                "contradicts",
                "elaborates",
                "generalizes",
                "temporal_next",
                "temporal_prev",
                "causal",
                "supports",
                "refutes",
                "replaces",
                "depends_on",
            ],
        ),
    ] {
        let with = |value: &str| code(&json.replace("LISTED", &format!(r#""{name}": "{value}""#)));
        for value in values {
            assert_eq!(with(value), "valid", "{name}: {value}");
        }
        for value in ["", "Active", "mine"] {
            assert!(
                ["ERR_SCHEMA", "ERR_EMPTY"].contains(&with(value)),
                "{name}: {value}"
            );
        }
    }
    let phase = r#"{"type": "action", "action_phase": "mine", "tool_name": "t", "input": {}, NOW}"#;
    assert_eq!(code(phase), "ERR_SCHEMA");
}

#[test]
fn open_lists_take_any_value_and_keep_it() {
    let owner = r#"{"type": "org", "name": "n", "entity_form": "of tomorrow", "reg_id": "xx:7"}"#;
    let owner = parsed(owner);
    let grain = belief().set("owner", owner.clone());
    let grain = grain.finish(Profile::Extended).unwrap();
    assert_eq!(payload(&grain).get("own"), Some(&Value::Map(owner)));
    for observer in ["llm", "human", "acme:thermal-v2", "of tomorrow"] {
        assert_eq!(code(&MINIMAL[5].replace("gps", observer)), "valid");
    }
}

#[test]
fn what_binds_only_writers_is_kept_from_elsewhere() {
    let pairs = |of: &str| {
        let mut map = Map::from_iter([("t", of)]);
        map.insert("ca", 1);
        map
    };
    // Ruling T16: a workflow of revision 1.4 is a graph.
    let mut workflow = pairs("workflow");
    workflow.insert("nodes", vec!["n".to_owned()]);
    // Ruling T13: later revisions put names of their own there.
    let link = Map::from_iter([("h", "x"), ("rl", "mg:step_action:n")]);
    let mut linked = pairs("event");
    linked.insert("content", "a");
    linked.insert("rt", Value::Array(vec![Value::Map(link)]));
    for (byte, payload) in [(4, workflow), (2, linked)] {
        let blob = blob(byte, Flags::default(), payload);
        let error = Grain::from_blob(blob.clone(), Profile::Extended).unwrap_err();
        assert_eq!(error.code(), "ERR_SCHEMA");
        let (grain, _) = Grain::from_foreign_blob(blob.clone(), Profile::Extended).unwrap();
        assert_eq!(grain.blob(), blob);
    }
}

#[test]
fn an_elided_field_counts_as_present() {
    let mut fields = parsed(MINIMAL[0]);
    fields.remove("subject");
    assert_eq!(finish(fields.clone()).unwrap_err().code(), "ERR_SCHEMA");
    let hash = format!("sha256:{}", "0".repeat(64));
    fields.insert("_elided", Map::from_iter([("subject", hash)]));
    assert!(finish(fields).is_ok(), "ruling S10");
}

#[test]
fn several_faults_are_told_in_a_fixed_order() {
    // Ruling T15. Each step mends the fault that was told, and the next one is.
    let array = [&[2, 0, 1, 0, 0, 0, 0, 0, 0][..], &[0x90, 0x00]].concat();
    let mut blob_now = array[..9].to_vec();
    let told = |blob: &[u8]| {
        let read = Grain::from_blob(blob.to_vec(), Profile::Extended);
        read.map_or_else(|error| error.code().as_str(), |_| "valid")
    };
    assert_eq!(told(&blob_now), "ERR_TOO_SHORT");
    blob_now = array;
    assert_eq!(told(&blob_now), "ERR_VERSION");
    blob_now[0] = 1;
    assert_eq!(told(&blob_now), "ERR_CORRUPT");
    blob_now.pop();
    assert_eq!(told(&blob_now), "ERR_NOT_MAP");

    let mut fields = Map::from_iter([("s", ""), ("r", "r"), ("tt", "sometimes")]);
    fields.insert("o", "o");
    fields.insert("im", 2.0);
    fields.insert("tags", vec!["phi:mrn"]);
    fields.insert("ca", 1);
    let with_faults = |fields: &Map| told(&blob(1, Flags::default(), fields.clone()));
    assert_eq!(with_faults(&fields), "ERR_NO_TYPE");
    fields.insert("t", "episode");
    assert_eq!(with_faults(&fields), "ERR_UNKNOWN_TYPE");
    fields.insert("t", "belief");
    assert_eq!(with_faults(&fields), "ERR_SCHEMA");
    fields.insert("c", 2.0);
    assert_eq!(with_faults(&fields), "ERR_EMPTY");
    fields.insert("s", "s");
    assert_eq!(with_faults(&fields), "ERR_RANGE");
    fields.insert("c", 1.0);
    fields.insert("im", 1.0);
    assert_eq!(with_faults(&fields), "ERR_SCHEMA");
    fields.insert("tt", "state");
    assert_eq!(with_faults(&fields), "ERR_SENSITIVITY_MISMATCH");
    let phi = Flags::sensitivity(Sensitivity::Phi);
    assert_eq!(told(&blob(1, phi, fields)), "valid");
}

#[test]
fn any_phi_tag_is_health_information() {
    // OMS 27.4: the eighteen identifiers, and whatever else somebody calls one.
    for identifier in PHI.into_iter().chain(["of tomorrow"]) {
        let tagged = belief().tag(format!("phi:{identifier}"));
        let grain = tagged.finish(Profile::Extended).unwrap();
        assert_eq!(grain.header().sensitivity(), Sensitivity::Phi);
    }
}
