//! Rules of single grains, each over every type, every way in and every spelling of its values that
//! the specification names, instead of one example.

use grainstore::codec::{Encoding, Flags, Map, Profile, Sensitivity, Value};
use grainstore::grain::{Draft, Field, Grain, Time, Type};

use super::fields::MINIMAL;
use super::{belief, blob, finish, parsed, payload};

/// Of each type the least that is valid, with further fields.
fn with(json: &str, more: &[(&str, Value)]) -> Map {
    let mut fields = parsed(json);
    for (name, value) in more {
        fields.insert(*name, value.clone());
    }
    fields
}

fn texts(values: &[&str]) -> Value {
    values
        .iter()
        .map(|text| Value::from(*text))
        .collect::<Vec<_>>()
        .into()
}

fn map(json: &str) -> Value {
    Value::from_json(json).unwrap()
}

/// The code of what each way of writing a grain answers: a draft field by field, a JSON text, and a
/// blob that another program encoded.
fn written(fields: &Map) -> [&'static str; 3] {
    let code = |result: Result<Grain, grainstore::grain::Error>| {
        result.map_or_else(|error| error.code().as_str(), |_| "valid")
    };
    let of = Type::named(fields.get("type").unwrap().as_text().unwrap()).unwrap();
    let set = |draft: Draft, (name, value): (&str, &Value)| draft.set(name, value.clone());
    let by_field = fields.iter().filter(|(name, _)| *name != "type");
    let by_field = by_field.fold(Draft::new(of), set).finish(Profile::Extended);
    let by_json = Draft::from_json(&Value::Map(fields.clone()).to_json())
        .and_then(|draft| draft.finish(Profile::Extended));
    [
        code(by_field),
        code(by_json),
        code(Grain::from_blob(encoded(fields), Profile::Extended)),
    ]
}

/// The blob of a grain with short keys, whatever its fields hold.
fn encoded(fields: &Map) -> Vec<u8> {
    let of = Type::named(fields.get("type").unwrap().as_text().unwrap()).unwrap();
    let key = |name: &str| match (name, of) {
        ("content", Type::Action) => "cnt".to_owned(),
        ("content", _) => "content".to_owned(),
        _ => Field::named(name)
            .map_or(name, |field| field.key)
            .to_owned(),
    };
    let whole = fields.iter().map(|(name, value)| {
        let holds_a_double = ["confidence", "importance"].contains(&name);
        match value.as_i64().filter(|_| holds_a_double) {
            Some(int) => (key(name), Value::Float(int as f64)),
            None => (key(name), value.clone()),
        }
    });
    blob(of.byte(), Flags::default(), whole.collect())
}

#[test]
fn the_header_has_the_bits_of_every_combination_and_no_others() {
    // OMS 3.1.1. A blob with any other combination for the same payload is refused.
    let reference = map(r#"{"uri": "cas://x", "modality": "image"}"#);
    let vector = map(r#"{"vector_id": "v", "model": "m", "dimensions": 3}"#);
    let levels = [
        Sensitivity::Public,
        Sensitivity::Internal,
        Sensitivity::Pii,
        Sensitivity::Phi,
    ];
    for bits in 0..64_u8 {
        let has = |bit: u8| bits & (1 << bit) != 0;
        let level = bits & 0b11;
        let (is_signed, refers, embeds, is_cbor) = (has(2), has(3), has(4), has(5));
        let mut draft = belief().sensitivity(levels[usize::from(level)]);
        if is_signed {
            draft = draft.to_be_signed();
        }
        draft = match refers {
            true => draft.push("content_refs", reference.clone()),
            false => draft.set("content_refs", Value::Array(Vec::new())),
        };
        draft = match embeds {
            true => draft.push("embedding_refs", vector.clone()),
            false => draft.set("embedding_refs", Value::Array(Vec::new())),
        };
        if is_cbor {
            draft = draft.encoding(Encoding::Cbor);
        }
        let grain = draft.finish(Profile::Extended).unwrap();
        let expected = u8::from(is_signed)
            | u8::from(refers) << 3
            | u8::from(embeds) << 4
            | u8::from(is_cbor) << 5
            | level << 6;
        assert_eq!(grain.blob()[1], expected, "{bits:06b}");
        // The missing envelope of a signed grain is reported first.
        for wrong in [1 << 3, 1 << 4].into_iter().filter(|_| !is_signed) {
            let mut lying = grain.blob().to_vec();
            lying[1] ^= wrong;
            let refused = Grain::from_blob(lying, Profile::Extended).unwrap_err();
            assert_eq!(refused.code(), "ERR_CORRUPT", "{bits:06b}");
        }
    }
}

#[test]
fn no_type_and_no_way_in_takes_a_field_of_the_index_layer() {
    // OMS 5.6, 28.3. By its name or by its key, whatever it says.
    let index = Field::all()
        .iter()
        .filter(|field| Field::is_index_layer(field.name));
    let index: Vec<_> = index.collect();
    let mut names: Vec<_> = index.iter().map(|field| field.name).collect();
    names.sort_unstable();
    let expected = [
        "access_count",
        "contradicted",
        "last_accessed_at",
        "rec_status",
        "superseded_by",
        "system_valid_to",
        "verification_status",
    ];
    assert_eq!(names, expected);
    let values = [
        Value::from("verified"),
        0.into(),
        false.into(),
        map("[]"),
        map("{}"),
        Value::from("ab".repeat(32)),
    ];
    for json in MINIMAL {
        for field in &index {
            for value in &values {
                let fields = with(json, &[(field.name, value.clone())]);
                assert_eq!(
                    written(&fields),
                    ["ERR_SCHEMA"; 3],
                    "{json} {} {value:?}",
                    field.name
                );
                let by_key = with(json, &[(field.key, value.clone())]);
                assert_eq!(
                    finish(by_key).unwrap_err().code(),
                    "ERR_CORRUPT",
                    "{}",
                    field.key
                );
            }
        }
    }
}

#[test]
fn content_stands_in_no_grain_whatever_its_type_and_wherever_it_is_put() {
    // OMS 7: as bytes at any depth, or as a `data:` URI.
    let bytes = Value::Bytes(vec![1, 2]);
    let inside = |value: Value| Value::Map(Map::from_iter([("x", value)]));
    let within = |value: Value| Value::Array(vec![value]);
    let wrapped = [
        bytes.clone(),
        inside(bytes.clone()),
        within(bytes.clone()),
        inside(within(inside(bytes.clone()))),
        within(within(bytes)),
    ];
    for json in MINIMAL {
        for value in &wrapped {
            let draft = Draft::from_value(Value::Map(parsed(json))).unwrap();
            let refused = draft
                .set("app_field", value.clone())
                .finish(Profile::Extended);
            assert_eq!(
                refused.unwrap_err().code(),
                "ERR_CORRUPT",
                "{json} {value:?}"
            );
        }
        for uri in [
            "data:image/png;base64,AAAA",
            "DATA:,hello",
            "Data:text/plain,x",
            " data:,x",
            "data:",
        ] {
            let entry = format!(r#"[{{"uri": "{uri}", "modality": "image"}}]"#);
            let fields = with(json, &[("content_refs", map(&entry))]);
            assert_eq!(finish(fields).unwrap_err().code(), "ERR_SCHEMA", "{uri}");
        }
    }
    // Of others it is kept, and told.
    let entry = Value::Map(Map::from_iter([("u", "data:,x"), ("m", "image")]));
    let mut foreign = payload(&belief().finish(Profile::Extended).unwrap());
    foreign.insert("cr", Value::Array(vec![entry]));
    let foreign = blob(1, Flags::CONTENT_REFS, foreign);
    assert!(Grain::from_blob(foreign.clone(), Profile::Extended).is_err());
    let (_, warnings) = Grain::from_foreign_blob(foreign, Profile::Extended).unwrap();
    assert!(
        warnings.iter().any(|one| one.field == "content_refs.uri"),
        "{warnings:?}"
    );
    for uri in [
        "https://data.example/x",
        "cas://sha256:ab",
        "database:7",
        "data",
    ] {
        let entry = format!(r#"[{{"uri": "{uri}", "modality": "image"}}]"#);
        let fields = with(MINIMAL[1], &[("content_refs", map(&entry))]);
        assert_eq!(written(&fields)[..2], ["valid"; 2], "{uri}");
    }
}

#[test]
fn an_event_has_a_text_blocks_or_a_whole_triple() {
    // OMS 8.2, rulings T4 and P15: each part absent, empty, or there.
    let mut cases = 0;
    let states = [None, Some(false), Some(true)];
    let mut each = Vec::new();
    for content in states {
        for blocks in states {
            for triple in 0..27 {
                let part = |place: u32| states[triple / 3_usize.pow(place) % 3];
                each.push((content, blocks, [part(0), part(1), part(2)]));
            }
        }
    }
    for (content, blocks, triple) in each {
        let mut fields = parsed(r#"{"type": "event", NOW}"#);
        let text = |is_full: bool| Value::from(if is_full { "a" } else { "" });
        if let Some(is_full) = content {
            fields.insert("content", text(is_full));
        }
        if let Some(is_full) = blocks {
            let blocks = if is_full {
                r#"[{"type": "text", "text": "a"}]"#
            } else {
                "[]"
            };
            fields.insert("content_blocks", map(blocks));
        }
        for (name, part) in ["subject", "relation", "object"].into_iter().zip(triple) {
            if let Some(is_full) = part {
                fields.insert(name, text(is_full));
            }
        }
        let expected = match (content, blocks) {
            (Some(false), Some(false)) if triple == [Some(false); 3] => "ERR_SCHEMA",
            (Some(true), _) | (_, Some(_)) => "valid",
            (Some(false), None) => "ERR_EMPTY",
            (None, None) if triple == [Some(true); 3] => "valid",
            (None, None) => "ERR_SCHEMA",
        };
        assert_eq!(written(&fields), [expected; 3], "{fields:?}");
        cases += 1;
    }
    assert_eq!(cases, 243);
}

#[test]
fn a_withdrawal_names_its_consent_by_an_address_or_is_refused() {
    // OMS 8.10, rulings I8 and P6.
    let whole = "ab".repeat(32);
    let cases = [
        (None, "ERR_SCHEMA"),
        (Some(Value::Nil), "ERR_SCHEMA"),
        (Some(7.into()), "ERR_SCHEMA"),
        (Some(true.into()), "ERR_SCHEMA"),
        (Some(texts(&[&whole])), "ERR_SCHEMA"),
        (Some(map("{}")), "ERR_SCHEMA"),
        (Some("".into()), "ERR_EMPTY"),
        (Some(" ".into()), "ERR_HASH_LENGTH"),
        (Some("sha256:".into()), "ERR_HASH_LENGTH"),
        (Some(whole[..63].into()), "ERR_HASH_LENGTH"),
        (Some(format!("{whole}a").into()), "ERR_HASH_LENGTH"),
        (Some(whole.to_uppercase().into()), "ERR_HASH_FORMAT"),
        (Some(format!("{}g", &whole[..63]).into()), "ERR_HASH_FORMAT"),
        (Some(whole.as_str().into()), "valid"),
        (Some(format!("sha256:{whole}").into()), "valid"),
    ];
    for (prior, expected) in cases {
        let mut fields = parsed(MINIMAL[9]);
        fields.insert("is_withdrawal", true);
        if let Some(prior) = &prior {
            fields.insert("prior_consent", prior.clone());
        }
        let found = finish(fields).map_or_else(|error| error.code().as_str(), |_| "valid");
        assert_eq!(found, expected, "{prior:?}");
    }
}

#[test]
fn a_lightweight_grain_has_the_seven_fields_and_what_its_type_requires() {
    // OMS 18.3: on writing, on reading, and of others.
    let seven = [
        "type",
        "subject",
        "relation",
        "object",
        "confidence",
        "created_at",
        "namespace",
    ];
    let small = || belief().set("namespace", "n");
    assert!(small().finish(Profile::Lightweight).is_ok());
    let sample = |field: &Field| {
        let candidates = [
            "1",
            "\"a\"",
            "[]",
            "{}",
            "true",
            "0.5",
            "\"active\"",
            "\"hot\"",
            "\"state\"",
            "\"anonymous\"",
            "\"client\"",
            "\"function_call\"",
        ];
        candidates.into_iter().map(map).find(|value| {
            let draft = small().set(field.name, value.clone());
            draft.finish(Profile::Extended).is_ok()
        })
    };
    let mut judged = 0;
    for field in Field::all().iter().filter(|field| field.name != "type") {
        // Fields that no belief has at all are refused before the profile is looked at.
        let Some(value) = sample(field) else { continue };
        let draft = small().set(field.name, value);
        let is_carried = seven.contains(&field.name);
        let written = draft.clone().finish(Profile::Lightweight);
        assert_eq!(written.is_ok(), is_carried, "{}", field.name);
        let whole = draft.finish(Profile::Extended).unwrap().into_blob();
        let read = Grain::from_blob(whole.clone(), Profile::Lightweight);
        assert_eq!(read.is_ok(), is_carried, "{}", field.name);
        let foreign = Grain::from_foreign_blob(whole, Profile::Lightweight);
        assert_eq!(foreign.is_ok(), is_carried, "{}", field.name);
        judged += 1;
    }
    assert!(judged > 100, "{judged}");
    let own = small().set("app_note", 1).finish(Profile::Lightweight);
    assert_eq!(own.unwrap_err().code(), "ERR_SCHEMA");
}

#[test]
fn a_confidence_and_an_importance_are_from_zero_to_one_in_every_type() {
    // OMS 19.3, for integers too, and by whatever way the number came in.
    let inside = ["0", "1", "0.0", "1.0", "-0.0", "0.5", "5e-324"];
    let outside = [
        "-1",
        "2",
        "-0.1",
        "-5e-324",
        "1.0000000000000002",
        "1e308",
        "-1e308",
        "9007199254740993",
        "-9223372036854775808",
    ];
    for json in MINIMAL {
        for name in ["confidence", "importance"] {
            for number in inside {
                let fields = with(json, &[(name, map(number))]);
                assert_eq!(written(&fields), ["valid"; 3], "{json} {name}: {number}");
            }
            for number in outside {
                let fields = with(json, &[(name, map(number))]);
                assert_eq!(
                    written(&fields),
                    ["ERR_RANGE"; 3],
                    "{json} {name}: {number}"
                );
                let foreign = Grain::from_foreign_blob(encoded(&fields), Profile::Extended);
                assert_eq!(foreign.unwrap_err().code(), "ERR_RANGE", "{name}: {number}");
            }
            for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                let fields = with(json, &[(name, number.into())]);
                let code = finish(fields).unwrap_err().code();
                assert_eq!(code, "ERR_FLOAT_INVALID", "{name}");
            }
        }
    }
}

#[test]
fn a_result_is_derived_from_the_call_that_it_answers() {
    // OMS 27.1: `[call grain hash]`. A citation is no call.
    let result = r#"{"type": "action", "action_phase": "result", "tool_call_id": "i", "content": 1,
        "is_error": true, NOW}"#;
    let call = belief()
        .finish(Profile::Extended)
        .unwrap()
        .address()
        .to_string();
    let citation = r#"[{"citation_type": "doi", "identifier": "10.1/x"}]"#;
    for (sources, expected) in [
        (Value::Nil, "ERR_SCHEMA"),
        (map("[]"), "ERR_EMPTY"),
        (map(citation), "ERR_EMPTY"),
        (Value::from(call.as_str()), "ERR_SCHEMA"),
        (texts(&[""]), "ERR_HASH_LENGTH"),
        (texts(&[&call]), "valid"),
    ] {
        let fields = with(result, &[("derived_from", sources.clone())]);
        let found = finish(fields).map_or_else(|error| error.code().as_str(), |_| "valid");
        assert_eq!(found, expected, "{sources:?}");
    }
    // Of others it is kept, and told.
    let foreign = encoded(&with(result, &[("derived_from", map("[]"))]));
    let (_, warnings) = Grain::from_foreign_blob(foreign, Profile::Extended).unwrap();
    assert!(
        warnings.iter().any(|one| one.field == "derived_from"),
        "{warnings:?}"
    );
}

#[test]
fn the_modes_of_an_observation_are_a_closed_list_with_three_more_for_triggers() {
    // OMS 25, 27.6, ruling T1: neither another case nor another word, for any observer.
    let four = ["passive", "active", "reflective", "real_time"];
    let three = ["periodic", "continuous", "scheduled"];
    let others = [
        "",
        " ",
        "Passive",
        "PASSIVE",
        "passive ",
        "realtime",
        "real-time",
        "mine",
    ];
    let observers = [
        "lidar",
        "llm",
        "human",
        "acme:thermal-v2",
        "trigger",
        "Trigger:x",
        " trigger:x",
        "acme:trigger:x",
        "trigger:polling",
        "trigger:webhook",
        "trigger:",
    ];
    for observer in observers {
        let is_trigger = observer.starts_with("trigger:");
        let says = |name: &str, value: &str| {
            let fields = with(MINIMAL[5], &[("observer_type", observer.into())]);
            let mut fields = fields;
            fields.insert(name, value);
            written(&fields)
        };
        for mode in four {
            assert_eq!(
                says("observation_mode", mode),
                ["valid"; 3],
                "{observer}: {mode}"
            );
        }
        for mode in three {
            let expected = if is_trigger { "valid" } else { "ERR_SCHEMA" };
            assert_eq!(
                says("observation_mode", mode),
                [expected; 3],
                "{observer}: {mode}"
            );
        }
        for mode in others {
            assert_eq!(
                says("observation_mode", mode),
                ["ERR_SCHEMA"; 3],
                "{observer}: {mode}"
            );
        }
    }
}

#[test]
fn the_scopes_of_an_observation_are_a_closed_list_that_triggers_open() {
    // OMS 26, 27.6, ruling T1.
    let scopes = ["point", "interval", "session", "longitudinal"];
    for observer in [
        "lidar",
        "llm",
        "human",
        "acme:trigger:x",
        "Trigger:x",
        "trigger:polling",
    ] {
        let is_trigger = observer.starts_with("trigger:");
        let says = |name: &str, value: &str| {
            let mut fields = with(MINIMAL[5], &[("observer_type", observer.into())]);
            fields.insert(name, value);
            written(&fields)
        };
        for scope in scopes {
            assert_eq!(
                says("observation_scope", scope),
                ["valid"; 3],
                "{observer}: {scope}"
            );
        }
        for scope in ["all", "Point", "repos/x"] {
            let expected = if is_trigger { "valid" } else { "ERR_SCHEMA" };
            assert_eq!(
                says("observation_scope", scope),
                [expected; 3],
                "{observer}: {scope}"
            );
        }
    }
}

#[test]
fn the_time_of_a_header_decides_nothing() {
    // OMS 3.1.1: of two files of the same grains, one with lying headers, the times are the same.
    for lie in [0, 1, u32::MAX] {
        let grain = belief()
            .created_at(Time::from_ms(1_999))
            .finish(Profile::Extended);
        let mut blob = grain.unwrap().into_blob();
        blob[5..9].copy_from_slice(&lie.to_be_bytes());
        let (kept, warnings) = Grain::from_foreign_blob(blob, Profile::Extended).unwrap();
        assert_eq!(kept.created_at(), Time::from_ms(1_999));
        assert_eq!(warnings.is_empty(), lie == 1, "{warnings:?}");
    }
}

fn warned(fields: Map) -> Vec<String> {
    let draft = Draft::from_value(Value::Map(fields)).unwrap();
    let (_, warnings) = draft.finish_with_warnings(Profile::Extended).unwrap();
    warnings.into_iter().map(|warning| warning.field).collect()
}

#[test]
fn a_model_is_recommended_for_each_observer_that_is_one() {
    // OMS 17.2, 24.2: a warning and no error, and no warning once it is named.
    let of = |observer: &str| with(MINIMAL[5], &[("observer_type", observer.into())]);
    let asks = |fields: Map| warned(fields).contains(&"observer_model".to_owned());
    for observer in ["llm", "reflector", "classifier", "detector"] {
        assert!(asks(of(observer)), "{observer}");
        let mut named = of(observer);
        named.insert("observer_model", "m");
        assert!(!asks(named), "{observer}");
    }
    for observer in ["lidar", "human", "hybrid", "acme:llm", "LLM"] {
        assert!(!asks(of(observer)), "{observer}");
    }
}

#[test]
fn what_a_phase_usually_omits_is_a_warning() {
    // OMS 27.1, the fields that a phase omits without MUST NOT.
    let definition = r#"{"type": "action", "action_phase": "definition", "tool_name": "t",
        "tool_description": "d", "input_schema": {}, NOW}"#;
    let call = r#"{"type": "action", "action_phase": "call", "tool_name": "t", "tool_call_id": "i",
        "input": {}, NOW}"#;
    for (json, name, value) in [
        (definition, "tool_call_id", "\"i\""),
        (definition, "call_batch_id", "\"i\""),
        (call, "tool_description", "\"d\""),
        (call, "input_schema", "{}"),
        (call, "output_schema", "{}"),
        (call, "strict", "true"),
        (MINIMAL[4], "tool_description", "\"d\""),
        (MINIMAL[4], "strict", "true"),
    ] {
        assert_eq!(warned(parsed(json)), Vec::<String>::new(), "{json}");
        assert_eq!(warned(with(json, &[(name, map(value))])), [name], "{json}");
    }
}
