//! The rules of domain profiles and of nested maps: what they refuse, what they only point at.

mod tables;

use grainstore::codec::{Canonical, Encoding, Profile, Value};
use grainstore::grain::{Draft, Error, Grain, Time, is_listed_phi_tag};

use tables::{FIELDS, MEMBERS, SELDOM};

/// An event with the members given as the inside of a JSON object.
fn event(members: &str) -> Draft {
    let json = format!(r#"{{"type": "event", "content": "a", "created_at": 1, {members}}}"#);
    Draft::from_json(&json).unwrap()
}

fn code_of(members: &str) -> Result<(), &'static str> {
    let finished = event(members).finish(Profile::Extended);
    finished.map(drop).map_err(|error| error.code().as_str())
}

fn error_of(members: &str) -> Error {
    event(members).finish(Profile::Extended).unwrap_err()
}

fn warned(members: &str) -> Vec<String> {
    let finished = event(members).finish_with_warnings(Profile::Extended);
    let (_, warnings) = finished.unwrap();
    warnings.into_iter().map(|warning| warning.field).collect()
}

#[test]
fn a_profiles_fields_are_checked_under_its_tag_in_the_context_and_beside_it() {
    for (profile, field, good, bad, code) in FIELDS {
        let places = |value: &str| {
            [
                format!(r#""context": {{"{field}": {value}}}"#),
                format!(r#""{field}": {value}"#),
            ]
        };
        let tag = format!(r#""structural_tags": ["profile:{profile}"]"#);
        for members in places(good) {
            assert_eq!(code_of(&format!("{members}, {tag}")), Ok(()), "{members}");
        }
        for members in places(bad) {
            assert_eq!(
                code_of(&format!("{members}, {tag}")),
                Err(*code),
                "{members}"
            );
            // OMS A, rule 2: without the tag, nothing is required of them.
            for other in ["profile:unknown", "healthcare", "profile:"] {
                let tag = format!(r#""structural_tags": ["{other}"]"#);
                assert_eq!(code_of(&format!("{members}, {tag}")), Ok(()), "{members}");
            }
        }
    }
}

#[test]
fn a_grain_may_declare_several_profiles_and_each_of_them_binds() {
    let tags = r#""structural_tags": ["profile:science", "profile:finance"]"#;
    assert_eq!(
        code_of(&format!(r#"{tags}, "sci:doi": "10.1/x", "fin:amount": 1"#)),
        Ok(())
    );
    for broken in [r#""sci:doi": 1"#, r#""fin:amount": "1""#] {
        assert_eq!(code_of(&format!("{tags}, {broken}")), Err("ERR_SCHEMA"));
    }
}

#[test]
fn a_profiles_prefix_on_another_name_is_pointed_at() {
    let tag = r#""structural_tags": ["profile:science"]"#;
    assert_eq!(
        warned(&format!(r#"{tag}, "sci:doy": "10.1/x""#)),
        ["sci:doy"]
    );
    assert!(warned(&format!(r#"{tag}, "hc:doy": "x", "science": 1"#)).is_empty());
    assert!(warned(r#""sci:doy": "10.1/x""#).is_empty());
}

#[test]
fn health_information_needs_a_basis_and_no_open_license() {
    let health = r#""structural_tags": ["profile:healthcare", "phi:mrn"]"#;
    assert_eq!(code_of(health), Err("ERR_SCHEMA"));
    let with_basis = format!(r#"{health}, "processing_basis": "consent""#);
    assert_eq!(code_of(&with_basis), Ok(()));
    assert_eq!(
        code_of(&format!(r#"{health}, "processing_basis": """#)),
        Err("ERR_EMPTY")
    );
    for (license, is_open) in [
        ("CC0-1.0", true),
        ("CC-BY-SA-4.0", true),
        ("mit", true),
        ("proprietary OR Apache-2.0", true),
        ("proprietary", false),
        ("LicenseRef-hospital", false),
    ] {
        let members = format!(r#"{with_basis}, "license": "{license}""#);
        let expected = if is_open { Err("ERR_SCHEMA") } else { Ok(()) };
        assert_eq!(code_of(&members), expected, "{license}");
    }
    // Neither rule binds without health information, nor without the profile.
    for tags in [r#"["profile:healthcare"]"#, r#"["phi:mrn"]"#] {
        let members = format!(r#""structural_tags": {tags}, "license": "MIT""#);
        assert_eq!(code_of(&members), Ok(()), "{tags}");
    }
}

#[test]
fn an_elided_basis_is_a_basis() {
    let hash = "0".repeat(64);
    let members = format!(
        r#""structural_tags": ["profile:healthcare", "phi:mrn"],
        "_elided": {{"processing_basis": "sha256:{hash}"}}"#
    );
    assert_eq!(code_of(&members), Ok(()));
}

#[test]
fn the_parameters_of_a_path_and_of_its_list_are_the_same() {
    let cases = [
        (r#""int:http_path": "/x""#, true),
        (r#""int:http_path": "/x", "int:path_params": []"#, true),
        (
            r#""int:http_path": "/{a}/{b}", "int:path_params": ["b", "a"]"#,
            true,
        ),
        (
            r#""int:http_path": "/{a}/{a}", "int:path_params": ["a"]"#,
            true,
        ),
        (r#""int:path_params": ["a"]"#, true),
        (r#""int:http_path": "/{a}""#, false),
        (r#""int:http_path": "/a}""#, false),
        (r#""int:http_path": "/{a}", "int:path_params": []"#, false),
        (
            r#""int:http_path": "/{a}/{b}", "int:path_params": ["a"]"#,
            false,
        ),
        (
            r#""int:http_path": "/{a}", "int:path_params": ["a", "b"]"#,
            false,
        ),
        (r#""int:http_path": "/x", "int:path_params": ["a"]"#, false),
        (r#""int:http_path": "/{a", "int:path_params": ["a"]"#, false),
        (r#""int:http_path": "/a}", "int:path_params": ["a"]"#, false),
        (
            r#""int:http_path": "/{a}}", "int:path_params": ["a"]"#,
            false,
        ),
        (r#""int:http_path": "/{}", "int:path_params": [""]"#, false),
    ];
    let tag = r#""structural_tags": ["profile:integration"]"#;
    for (fields, is_valid) in cases {
        let expected = if is_valid { Ok(()) } else { Err("ERR_SCHEMA") };
        let in_context = format!(r#"{tag}, "context": {{{fields}}}"#);
        assert_eq!(code_of(&in_context), expected, "{fields}");
        assert_eq!(code_of(&format!("{tag}, {fields}")), expected, "{fields}");
    }
}

#[test]
fn an_integration_should_name_its_connector_and_its_authentication() {
    let tag = r#""structural_tags": ["profile:integration"]"#;
    assert_eq!(warned(tag), ["int:connector", "int:auth_type"]);
    let context = r#""context": {"int:connector": "github", "int:auth_type": "none"}"#;
    assert!(warned(&format!("{tag}, {context}")).is_empty());
}

#[test]
fn the_examples_of_the_specification_follow_their_profile() {
    // OMS A.7 and 27.6.
    let examples = [
        r#"{"type": "action", "action_phase": "definition", "tool_name": "github:create-issue",
            "tool_description": "Create an issue", "input_schema": {}, "output_schema": {},
            "structural_tags": ["profile:integration"], "created_at": 1740700000000,
            "context": {"int:base_url": "https://api.github.com", "int:http_method": "POST",
                "int:http_path": "/repos/{owner}/{repo}/issues",
                "int:path_params": ["owner", "repo"],
                "int:body_params": ["title", "body", "labels"],
                "int:auth_type": "api_key:bearer", "int:read_only": false,
                "int:connector": "github", "int:category": "dev-tools"}}"#,
        r#"{"type": "observation", "observer_id": "github", "observer_type": "trigger:polling",
            "observation_mode": "periodic", "observation_scope": "repos/{owner}/{repo}/issues",
            "structural_tags": ["profile:integration"], "created_at": 1740700000000,
            "context": {"int:http_method": "GET", "int:http_path": "/repos/{owner}/{repo}/issues",
                "int:path_params": ["owner", "repo"], "int:poll_interval_secs": 300,
                "int:cursor_field": "since", "int:cursor_type": "timestamp",
                "int:connector": "github", "int:config_schema": {"type": "object"},
                "int:event_schema": {"type": "object"}}}"#,
        r#"{"type": "observation", "observer_id": "stripe", "observer_type": "trigger:webhook",
            "observation_mode": "continuous", "observation_scope": "payment_intent.succeeded",
            "structural_tags": ["profile:integration"], "created_at": 1740700000000,
            "context": {"int:webhook_path": "/webhooks/stripe/{token}",
                "int:webhook_secret_header": "Stripe-Signature", "int:connector": "stripe",
                "int:event_schema": {"type": "object"}}}"#,
        r#"{"type": "observation", "observer_id": "scheduler", "observer_type": "trigger:schedule",
            "observation_mode": "scheduled", "observation_scope": "daily-report",
            "structural_tags": ["profile:integration"], "created_at": 1740700000000,
            "context": {"int:cron_expression": "0 9 * * MON-FRI",
                "int:timezone": "America/New_York", "int:connector": "scheduler"}}"#,
    ];
    for json in examples {
        let draft = Draft::from_json(json).unwrap();
        draft
            .finish(Profile::Extended)
            .unwrap_or_else(|error| panic!("{error}: {json}"));
    }
}

#[test]
fn members_of_nested_maps_hold_what_the_specification_says() {
    for (section, members, expected) in MEMBERS {
        assert_eq!(code_of(members), *expected, "{section}: {members}");
    }
}

#[test]
fn a_ratio_given_as_an_integer_is_a_double() {
    let grain = event(r#""compression_ratio": 4"#)
        .finish(Profile::Extended)
        .unwrap();
    assert_eq!(grain.field("compression_ratio"), Some(&Value::Float(4.0)));
}

#[test]
fn what_is_allowed_and_seldom_meant_is_pointed_at() {
    for (members, fields) in SELDOM {
        assert_eq!(warned(members), *fields, "{members}");
    }
}

#[test]
fn eighteen_phi_tags_are_listed_and_every_other_one_still_marks_health_information() {
    // OMS 27.4.
    let listed = "name geo_subdivision date age_over_89 phone fax email ssn mrn health_plan_id \
        account_number certificate_license vehicle_id device_id url ip_address biometric photo";
    assert_eq!(listed.split_whitespace().count(), 18);
    for tag in listed.split_whitespace() {
        assert!(is_listed_phi_tag(&format!("phi:{tag}")), "{tag}");
        assert!(!is_listed_phi_tag(tag), "{tag}");
    }
    let grain = event(r#""structural_tags": ["phi:diagnosis"]"#);
    let grain = grain.finish(Profile::Extended).unwrap();
    assert_eq!(grain.header().sensitivity().name(), "phi");
}

#[test]
fn faults_of_several_kinds_are_reported_in_the_order_of_ruling_t15() {
    let mut members = vec![
        r#""structural_tags": ["profile:healthcare", "profile:science", "phi:mrn"]"#,
        r#""license": 1"#,
        r#""hc:cpt": 1"#,
        r#""importance": 2"#,
        r#""sci:p_value": 2"#,
        r#""hc:deidentification": "x""#,
    ];
    // Presence, kinds, empty texts, ranges, lists: what is reported, and how it is mended.
    let steps = [
        ("processing_basis", "", r#""processing_basis": """#),
        ("license", r#""license": 1"#, r#""license": "MIT""#),
        ("hc:cpt", r#""hc:cpt": 1"#, r#""hc:cpt": []"#),
        (
            "processing_basis",
            r#""processing_basis": """#,
            r#""processing_basis": "consent""#,
        ),
        ("importance", r#""importance": 2"#, r#""importance": 1"#),
        ("sci:p_value", r#""sci:p_value": 2"#, r#""sci:p_value": 1"#),
        (
            "hc:deidentification",
            r#""hc:deidentification": "x""#,
            r#""hc:deidentification": "safe_harbor""#,
        ),
        ("license", r#""license": "MIT""#, r#""license": "closed""#),
    ];
    for (reported, from, to) in steps {
        let error = error_of(&members.join(", "));
        assert!(error.to_string().contains(reported), "{error}: {reported}");
        members.retain(|member| *member != from);
        members.push(to);
    }
    assert_eq!(code_of(&members.join(", ")), Ok(()));
}

#[test]
fn a_foreign_grain_against_its_profile_is_kept_with_a_warning_for_each_fault() {
    let draft = event(
        r#""structural_tags": ["profile:integration", "phi:mrn"],
        "int:http_path": "/{a}", "int:rate_limit": "60", "int:http_method": "patch",
        "int:connector": "c", "int:auth_type": "none""#,
    );
    let mut fields = draft.fields().clone();
    let tags = fields.remove("structural_tags").unwrap();
    fields.insert("tags", tags);
    for (name, key) in [("type", "t"), ("created_at", "ca")] {
        let value = fields.remove(name).unwrap();
        fields.insert(key, value);
    }
    let fields = Canonical::new(fields, Profile::Extended).unwrap();
    let mut blob = vec![1, 0xc0, 2, 0, 0, 0, 0, 0, 0];
    Encoding::MessagePack.encode_into(&mut blob, &fields);
    let error = Grain::from_blob(blob.clone(), Profile::Extended).unwrap_err();
    assert_eq!(error.code(), "ERR_SCHEMA");
    let (grain, warnings) = Grain::from_foreign_blob(blob.clone(), Profile::Extended).unwrap();
    assert_eq!(
        (grain.blob(), grain.created_at()),
        (&blob[..], Time::from_ms(1))
    );
    let warned: Vec<_> = warnings
        .iter()
        .map(|warning| warning.field.as_str())
        .collect();
    assert_eq!(
        warned,
        ["int:rate_limit", "int:http_method", "int:path_params"]
    );
}
