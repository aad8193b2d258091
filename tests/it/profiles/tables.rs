//! What the domain profiles say of fields and their members.

/// Profile, field, a value it may hold, and one that it may not with the code.
pub(super) const FIELDS: &[(&str, &str, &str, &str, &str)] = &[
    ("healthcare", "hc:patient_id", r#""p""#, "1", "ERR_SCHEMA"),
    (
        "healthcare",
        "hc:icd10",
        r#"["I10"]"#,
        r#""I10""#,
        "ERR_SCHEMA",
    ),
    ("healthcare", "hc:cpt", "[]", "[1]", "ERR_SCHEMA"),
    (
        "healthcare",
        "hc:fhir_resource",
        r#""Anything""#,
        "{}",
        "ERR_SCHEMA",
    ),
    (
        "healthcare",
        "hc:deidentification",
        r#""safe_harbor""#,
        r#""none""#,
        "ERR_SCHEMA",
    ),
    (
        "legal",
        "legal:document_type",
        r#""brief""#,
        r#""memo""#,
        "ERR_SCHEMA",
    ),
    (
        "legal",
        "legal:parties",
        r#"["a"]"#,
        r#"{"a": 1}"#,
        "ERR_SCHEMA",
    ),
    (
        "legal",
        "legal:effective_date",
        "1",
        r#""2026-01-15T10:00:00Z""#,
        "ERR_SCHEMA",
    ),
    ("legal", "legal:expiry_date", "-1", "1.5", "ERR_SCHEMA"),
    (
        "legal",
        "legal:privilege",
        r#""none""#,
        r#""secret""#,
        "ERR_SCHEMA",
    ),
    (
        "legal",
        "legal:redaction_level",
        r#""full""#,
        r#""some""#,
        "ERR_SCHEMA",
    ),
    ("finance", "fin:amount", "-12.5", r#""12.5""#, "ERR_SCHEMA"),
    (
        "finance",
        "fin:transaction_type",
        r#""fee""#,
        r#""gift""#,
        "ERR_SCHEMA",
    ),
    ("finance", "fin:risk_score", "1", "1.01", "ERR_RANGE"),
    ("finance", "fin:risk_score", "0.5", "-1", "ERR_RANGE"),
    ("finance", "fin:retention_years", "7", "7.5", "ERR_SCHEMA"),
    ("robotics", "rob:pose", r#"{"x": 1}"#, "[1]", "ERR_SCHEMA"),
    ("robotics", "rob:battery_pct", "100", "100.1", "ERR_RANGE"),
    (
        "robotics",
        "rob:battery_pct",
        "0.0",
        r#""full""#,
        "ERR_SCHEMA",
    ),
    (
        "robotics",
        "rob:safety_state",
        r#""recovery""#,
        r#""fine""#,
        "ERR_SCHEMA",
    ),
    (
        "science",
        "sci:result_status",
        r#""replicated""#,
        r#""good""#,
        "ERR_SCHEMA",
    ),
    ("science", "sci:p_value", "0.05", "2", "ERR_RANGE"),
    ("science", "sci:effect_size", "-3", "true", "ERR_SCHEMA"),
    ("science", "sci:sample_size", "12", "12.5", "ERR_SCHEMA"),
    (
        "science",
        "sci:preregistered",
        "false",
        r#""no""#,
        "ERR_SCHEMA",
    ),
    (
        "consumer",
        "con:device_type",
        r#""tv""#,
        r#""fridge""#,
        "ERR_SCHEMA",
    ),
    (
        "consumer",
        "con:preference_category",
        r#""music""#,
        "3",
        "ERR_SCHEMA",
    ),
    (
        "consumer",
        "con:interaction_type",
        r#""skip""#,
        r#""like""#,
        "ERR_SCHEMA",
    ),
    ("consumer", "con:sentiment", "-1", "-1.5", "ERR_RANGE"),
    ("consumer", "con:ccpa_opted_out", "true", "1", "ERR_SCHEMA"),
    (
        "integration",
        "int:http_method",
        r#""PATCH""#,
        r#""patch""#,
        "ERR_SCHEMA",
    ),
    (
        "integration",
        "int:query_params",
        r#"["q"]"#,
        r#""q""#,
        "ERR_SCHEMA",
    ),
    (
        "integration",
        "int:auth_type",
        r#""aws_sigv4""#,
        "1",
        "ERR_SCHEMA",
    ),
    (
        "integration",
        "int:read_only",
        "true",
        r#""yes""#,
        "ERR_SCHEMA",
    ),
    (
        "integration",
        "int:rate_limit",
        "60",
        r#""60""#,
        "ERR_SCHEMA",
    ),
    (
        "integration",
        "int:cursor_type",
        r#""etag""#,
        r#""page""#,
        "ERR_SCHEMA",
    ),
    (
        "integration",
        "int:config_schema",
        "{}",
        r#""{}""#,
        "ERR_SCHEMA",
    ),
    (
        "integration",
        "int:response_mapping",
        r#"".data.items""#,
        r#"".data.items[""#,
        "ERR_SCHEMA",
    ),
    (
        "integration",
        "int:response_mapping",
        r#""map({id})""#,
        r#""SELECT *""#,
        "ERR_SCHEMA",
    ),
    (
        "integration",
        "int:response_mapping",
        r#"".""#,
        r#""""#,
        "ERR_SCHEMA",
    ),
];

/// Nested members with the code that refuses them.
pub(super) const MEMBERS: &[(&str, &str, Result<(), &str>)] = &[
    (
        "12.5.1",
        r#""owner": {"type": "org", "name": "A", "entity_form": "llc", "reg_id": "EIN:1"}"#,
        Ok(()),
    ),
    (
        "12.5.1",
        r#""owner": {"type": "org", "name": "A", "entity_form": "made_up"}"#,
        Ok(()),
    ),
    ("12.5.1", r#""owner": {"name": "A"}"#, Err("ERR_SCHEMA")),
    (
        "12.5.1",
        r#""owner": {"type": "org", "name": "A", "entity_form": 1}"#,
        Err("ERR_SCHEMA"),
    ),
    (
        "12.5.1",
        r#""owner": {"type": "org", "name": "A", "jurisdiction": ["US"]}"#,
        Err("ERR_SCHEMA"),
    ),
    (
        "12.5.1",
        r#""owner": {"type": "org", "name": "A", "reg_id": 88}"#,
        Err("ERR_SCHEMA"),
    ),
    (
        "12.5.1",
        r#""owner": {"type": "org", "name": "A", "did": {}}"#,
        Err("ERR_SCHEMA"),
    ),
    (
        "6.11",
        r#""authorized_namespaces": ["a"], "authorized_types": [1, 2], "delegation_depth": 0"#,
        Ok(()),
    ),
    ("6.11", r#""authorized_namespaces": "a""#, Err("ERR_SCHEMA")),
    (
        "6.11",
        r#""authorized_types": ["belief"]"#,
        Err("ERR_SCHEMA"),
    ),
    ("6.11", r#""authorized_types": [-1]"#, Err("ERR_RANGE")),
    ("6.11", r#""authorized_tools": [1]"#, Err("ERR_SCHEMA")),
    ("6.11", r#""delegation_depth": -1"#, Err("ERR_RANGE")),
    (
        "6.11",
        r#""delegation_expiry": "2026-01-15T10:00:00Z""#,
        Ok(()),
    ),
    (
        "6.11",
        r#""delegation_expiry": "tomorrow""#,
        Err("ERR_SCHEMA"),
    ),
    ("6.11", r#""context_grains": "a""#, Err("ERR_SCHEMA")),
    ("6.11", r#""return_to": ["did:key:z"]"#, Err("ERR_SCHEMA")),
    (
        "6.1",
        r#""retention_policy": {"minimum_retention_years": 7, "regulation": "SOX"}"#,
        Ok(()),
    ),
    (
        "6.1",
        r#""retention_policy": {"minimum_retention_years": "7"}"#,
        Err("ERR_SCHEMA"),
    ),
    (
        "6.1",
        r#""retention_policy": {"minimum_retention_years": -7}"#,
        Err("ERR_RANGE"),
    ),
    (
        "6.1",
        r#""retention_policy": {"regulation": 7}"#,
        Err("ERR_SCHEMA"),
    ),
    (
        "6.1",
        r#""retention_policy": {"deletion_requires": false}"#,
        Err("ERR_SCHEMA"),
    ),
    (
        "6.1",
        r#""trusted_timestamp": {"tsp_response": "AAEC", "tsa_uri": "https://tsa"}"#,
        Ok(()),
    ),
    (
        "6.1",
        r#""trusted_timestamp": {"tsp_response": "not base64!"}"#,
        Err("ERR_SCHEMA"),
    ),
    (
        "6.1",
        r#""trusted_timestamp": {"tsa_uri": 1}"#,
        Err("ERR_SCHEMA"),
    ),
    (
        "6.2",
        r#""token_usage": {"input_tokens": 1, "output_tokens": 0, "audio": 1.5}"#,
        Ok(()),
    ),
    (
        "6.2",
        r#""token_usage": {"input_tokens": -1}"#,
        Err("ERR_RANGE"),
    ),
    (
        "6.2",
        r#""token_usage": {"cache_read_tokens": 1.5}"#,
        Err("ERR_SCHEMA"),
    ),
    (
        "6.2",
        r#""token_usage": {"cache_creation_tokens": "1"}"#,
        Err("ERR_SCHEMA"),
    ),
    (
        "6.2",
        r#""content_blocks": [{"type": "text", "text": "a"}, {"type": "x", "text": 1}]"#,
        Ok(()),
    ),
    (
        "6.2",
        r#""content_blocks": [{"type": "tool_result", "content": [1], "is_error": true}]"#,
        Ok(()),
    ),
    (
        "6.2",
        r#""content_blocks": [{"type": 1}]"#,
        Err("ERR_SCHEMA"),
    ),
    (
        "6.2",
        r#""content_blocks": [{"type": "thinking", "thinking": null, "signature": "s"}]"#,
        Ok(()),
    ),
];

/// Members that are valid, with the fields that are pointed at.
pub(super) const SELDOM: &[(&str, &[&str])] = &[
    (
        r#""owner": {"type": "human", "name": "Jane", "did": "did:web:jane.example"}"#,
        &[],
    ),
    (
        r#""owner": {"type": "org", "name": "A", "did": "did:web:a.example", "entity_form": "llc"}"#,
        &[],
    ),
    (
        r#""owner": {"type": "human", "name": "Jane", "did": "did:web:jane.example", "entity_form": "llc"}"#,
        &["owner.entity_form"],
    ),
    (
        r#""authorized_namespaces": ["*"]"#,
        &["authorized_namespaces"],
    ),
    (r#""authorized_namespaces": ["work:*"]"#, &[]),
    (
        r#""relation": "mg:delegates_to""#,
        &["authorized_namespaces", "delegation_depth"],
    ),
    (
        r#""relation": "mg:delegates_to", "delegation_depth": 1"#,
        &["authorized_namespaces"],
    ),
    (
        r#""structural_tags": ["phi:mrn", "phi:diagnosis", "profile:unknown"]"#,
        &["structural_tags"],
    ),
    (
        r#""content_blocks": [{"type": "text", "text": "a"}, {"type": "x", "text": 1}]"#,
        &[],
    ),
    (
        r#""content_blocks": [{"type": "text", "text": 1}]"#,
        &["content_blocks.text"],
    ),
    (
        r#""content_blocks": [{"type": "tool_use", "id": 1, "name": [], "input": "x"}]"#,
        &[
            "content_blocks.id",
            "content_blocks.name",
            "content_blocks.input",
        ],
    ),
    (
        r#""content_blocks": [{"type": "tool_result", "tool_use_id": 1, "is_error": "no"}]"#,
        &["content_blocks.tool_use_id", "content_blocks.is_error"],
    ),
    (
        r#""content_blocks": [{"type": "thinking", "thinking": []}]"#,
        &["content_blocks.thinking"],
    ),
    (r#""invalidation_policy": {"mode": "open"}"#, &[]),
    (
        r#""invalidation_policy": {}"#,
        &["invalidation_policy.mode"],
    ),
    (
        r#""invalidation_policy": {"mode": "sometimes"}"#,
        &["invalidation_policy.mode"],
    ),
    (
        r#""invalidation_policy": {"mode": 1}"#,
        &["invalidation_policy.mode"],
    ),
    (
        r#""invalidation_policy": {"mode": "quorum", "threshold": -1, "authorized": ["a"]}"#,
        &["invalidation_policy.threshold"],
    ),
    (
        r#""invalidation_policy": {"mode": "delegated", "authorized": "a"}"#,
        &["invalidation_policy.authorized"],
    ),
    (
        r#""invalidation_policy": {"mode": "timed", "locked_until": 1.5, "fallback_mode": "timed"}"#,
        &[
            "invalidation_policy.locked_until",
            "invalidation_policy.fallback_mode",
        ],
    ),
    (
        r#""invalidation_policy": {"mode": "open", "scope": "all", "protection_reason": 1}"#,
        &[
            "invalidation_policy.scope",
            "invalidation_policy.protection_reason",
        ],
    ),
];
