//! What a section recommends is a warning where it is absent, none where it is there, and no error.

use grainstore::codec::{Map, Profile, Value};
use grainstore::grain::Draft;

use super::fields::MINIMAL;
use super::parsed;

/// The fields that a grain is warned about, without those of the grain it is made from.
fn warned(json: &str, more: &str) -> Vec<String> {
    let of = |fields: Map| {
        let draft = Draft::from_value(Value::Map(fields)).unwrap();
        let (_, warnings) = draft.finish_with_warnings(Profile::Extended).unwrap();
        warnings
            .into_iter()
            .map(|warning| warning.field)
            .collect::<Vec<_>>()
    };
    let before = of(parsed(json));
    let mut fields = parsed(json);
    for (name, value) in parsed(&format!("{{{more}}}")).iter() {
        fields.insert(name, value.clone());
    }
    let mut after = of(fields);
    after.retain(|field| !before.contains(field));
    after
}

const LOCKED: &str = r#""invalidation_policy": {"mode": "locked", "authorized": ["did:key:z6Mk"]}"#;

/// A grain, what is added, and the fields that are warned about.
const ROWS: &[(usize, &str, &[&str])] = &[
    // OMS 7.1.
    (
        1,
        r#""content_refs": [{"uri": "u", "modality": "image"}]"#,
        &["content_refs.mime_type", "content_refs.checksum"],
    ),
    (
        1,
        r#""content_refs": [{"uri": "u", "modality": "image", "mime_type": "image/png", "checksum": "sha256:00"}]"#,
        &[],
    ),
    (
        1,
        r#""content_refs": [{"citation_type": "doi", "identifier": "10.1/x"}]"#,
        &[],
    ),
    // OMS 12.5.1.
    (
        0,
        r#""owner": {"type": "org", "name": "Acme"}"#,
        &["owner.did"],
    ),
    (
        0,
        r#""owner": {"type": "org", "name": "Acme", "did": "did:web:acme.example"}"#,
        &[],
    ),
    // OMS 14.1.
    (
        0,
        r#""provenance_chain": [{"weight": 0.5}]"#,
        &["provenance_chain.source_hash", "provenance_chain.method"],
    ),
    // OMS 6.11.
    (
        6,
        r#""authorized_namespaces": ["*"]"#,
        &["authorized_namespaces"],
    ),
    (6, r#""authorized_namespaces": ["a"]"#, &[]),
    // OMS 24.2, 24.3.
    (5, r#""observer_type": "hybrid""#, &["provenance_chain"]),
    (
        5,
        r#""observer_type": "hybrid", "provenance_chain": [{"source_hash": "3288d0d41cf49a1d428e404f0b6a6fe60388be9536937557f6139b813d53a520", "method": "sensor_read"}]"#,
        &["provenance_chain"],
    ),
    (5, r#""observer_type": "thermal""#, &["observer_type"]),
    (5, r#""observer_type": "acme:thermal-v2""#, &[]),
    // OMS A.2, A.4.
    (
        0,
        r#""structural_tags": ["profile:legal"]"#,
        &["legal:jurisdiction"],
    ),
    (
        0,
        r#""structural_tags": ["profile:legal"], "legal:jurisdiction": "EU""#,
        &[],
    ),
    (
        5,
        r#""structural_tags": ["profile:robotics"]"#,
        &["rob:robot_id"],
    ),
    (
        5,
        r#""structural_tags": ["profile:robotics"], "context": {"rob:robot_id": "did:web:r"}"#,
        &[],
    ),
];

#[test]
fn an_absent_recommended_field_is_a_warning_and_a_present_one_is_none() {
    for (of, more, fields) in ROWS {
        assert_eq!(warned(MINIMAL[*of], more), *fields, "{more}");
    }
}

#[test]
fn a_call_is_asked_for_its_id_and_no_other_phase_is() {
    // OMS 27.1.
    let call = r#"{"type": "action", "action_phase": "call", "tool_name": "t", "input": {}, NOW}"#;
    assert!(warned(MINIMAL[4], "").is_empty());
    let draft = |more: &str| {
        let json = call.replace("NOW", &format!("{more} \"created_at\": 1"));
        let draft = Draft::from_json(&json).unwrap();
        draft.finish_with_warnings(Profile::Extended).unwrap().1
    };
    assert_eq!(draft("")[0].field, "tool_call_id");
    assert!(draft("\"tool_call_id\": \"i\",").is_empty());
}

#[test]
fn a_protected_goal_that_ends_by_itself_is_asked_for_evidence() {
    // OMS 23.4, 23.5, 23.9.
    let goal = MINIMAL[6];
    for (more, fields) in [
        (
            r#""allowed_transitions": ["satisfied"]"#,
            &["evidence_required"][..],
        ),
        (
            r#""allowed_transitions": ["failed"]"#,
            &["evidence_required"],
        ),
        (r#""allowed_transitions": ["suspended"]"#, &[]),
        (
            r#""allowed_transitions": ["satisfied"], "evidence_required": 1"#,
            &[],
        ),
        (r#""goal_state": "satisfied""#, &[]),
        (
            r#""goal_state": "failed", "derived_from": ["3288d0d41cf49a1d428e404f0b6a6fe60388be9536937557f6139b813d53a520"]"#,
            &["satisfaction_evidence"],
        ),
    ] {
        assert_eq!(
            warned(goal, &format!("{LOCKED}, {more}")),
            *fields,
            "{more}"
        );
        assert_eq!(
            warned(goal, more),
            Vec::<String>::new(),
            "an open goal: {more}"
        );
    }
}

#[test]
fn a_physical_observer_that_is_no_sensor_is_a_warning_for_each_registered_one() {
    // OMS 24.1.
    for observer in [
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
    ] {
        let says = |source: &str| {
            let more = format!(r#""observer_type": "{observer}", "source_type": "{source}""#);
            warned(MINIMAL[5], &more)
        };
        assert_eq!(says("user_explicit"), ["source_type"], "{observer}");
        assert!(says("sensor").is_empty(), "{observer}");
    }
}
