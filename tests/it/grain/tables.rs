//! What is refused, with which code, and what is not.

pub(super) const NOW: &str = r#""created_at": 1768471200000"#;

/// JSON grains that break one rule each, with the code and the section of the rule.
pub(super) const REFUSED: &[(&str, &str, &str)] = &[
    (
        "P6",
        r#"{"type": "consent", "subject_did": "a", "grantee_did": "b", "scope": [], "is_withdrawal": true, "prior_consent": "abab", NOW}"#,
        "ERR_HASH_LENGTH",
    ),
    (
        "P6",
        r#"{"type": "consent", "subject_did": "a", "grantee_did": "b", "scope": [], "is_withdrawal": true, "prior_consent": "ABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABAB", NOW}"#,
        "ERR_HASH_FORMAT",
    ),
    (
        "P6",
        r#"{"type": "event", "content": "a", "processing_basis": "ABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABAB", NOW}"#,
        "ERR_HASH_FORMAT",
    ),
    (
        "P6",
        r#"{"type": "event", "content": "a", "parent_message_id": "the one before", NOW}"#,
        "ERR_HASH_LENGTH",
    ),
    (
        "P2",
        r#"{"type": "goal", "description": "a", "goal_state": "satisfied", "satisfaction_evidence": ["done"], NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "P3",
        r#"{"type": "event", "content": "a", "hc:patient_id": "1", "context": {"hc:patient_id": "2"}, NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "P3",
        r#"{"type": "event", "content": "a", "legal:privilege": "work_product", "context": {"legal:privilege": "attorney_client"}, NOW}"#,
        "ERR_SCHEMA",
    ),
    ("19.1", r#"{"subject": "a"}"#, "ERR_NO_TYPE"),
    ("19.1", r#"{"type": null}"#, "ERR_NO_TYPE"),
    (
        "19.1",
        r#"{"type": "episode", "content": "a"}"#,
        "ERR_UNKNOWN_TYPE",
    ),
    ("19.1", r#"{"type": 1}"#, "ERR_SCHEMA"),
    ("19.1", r#"[1]"#, "ERR_NOT_MAP"),
    (
        "4.1",
        r#"{"type": "event", "content": "a", "content": "b"}"#,
        "ERR_CORRUPT",
    ),
    (
        "8.1",
        r#"{"type": "belief", "relation": "r", "object": "o", "confidence": 1, NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "8.1",
        r#"{"type": "belief", "subject": "s", "object": "o", "confidence": 1, NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "8.1",
        r#"{"type": "belief", "subject": "s", "relation": "r", "confidence": 1, NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "8.1",
        r#"{"type": "belief", "subject": "s", "relation": "r", "object": "o", NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "8.1",
        r#"{"type": "belief", "subject": "s", "relation": "r", "object": "o", "confidence": 1}"#,
        "ERR_SCHEMA",
    ),
    (
        "8.1",
        r#"{"type": "belief", "subject": "s", "relation": "r", "object": 7, "confidence": 1, NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "8.1",
        r#"{"type": "belief", "subject": "", "relation": "r", "object": "o", "confidence": 1, NOW}"#,
        "ERR_EMPTY",
    ),
    (
        "8.1",
        r#"{"type": "belief", "subject": "s", "relation": "", "object": "o", "confidence": 1, NOW}"#,
        "ERR_EMPTY",
    ),
    (
        "19.3",
        r#"{"type": "belief", "subject": "s", "relation": "r", "object": "o", "confidence": 1.01, NOW}"#,
        "ERR_RANGE",
    ),
    (
        "19.3",
        r#"{"type": "belief", "subject": "s", "relation": "r", "object": "o", "confidence": -0.1, NOW}"#,
        "ERR_RANGE",
    ),
    (
        "19.3",
        r#"{"type": "event", "content": "a", "importance": 2, NOW}"#,
        "ERR_RANGE",
    ),
    (
        "19.3",
        r#"{"type": "event", "content": "a", "success_count": -1, NOW}"#,
        "ERR_RANGE",
    ),
    (
        "6.1",
        r#"{"type": "event", "content": "a", "category": 256, NOW}"#,
        "ERR_RANGE",
    ),
    (
        "6.1",
        r#"{"type": "event", "content": "a", "consolidation_level": 4, NOW}"#,
        "ERR_RANGE",
    ),
    (
        "6.1",
        r#"{"type": "event", "content": "a", "namespace": 4, NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "6.1",
        r#"{"type": "event", "content": "a", "structural_tags": "ui", NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "6.11",
        r#"{"type": "event", "content": "a", "authorized_types": [300], NOW}"#,
        "ERR_RANGE",
    ),
    ("8.2", r#"{"type": "event", NOW}"#, "ERR_SCHEMA"),
    (
        "8.2",
        r#"{"type": "event", "content": "", NOW}"#,
        "ERR_EMPTY",
    ),
    ("8.2", r#"{"type": "event", "content": "a"}"#, "ERR_SCHEMA"),
    (
        "6.2",
        r#"{"type": "event", "content_blocks": [{"text": "a"}], NOW}"#,
        "ERR_SCHEMA",
    ),
    ("8.3", r#"{"type": "state", NOW}"#, "ERR_SCHEMA"),
    (
        "8.3",
        r#"{"type": "state", "context": "a", NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "8.4",
        r#"{"type": "workflow", "steps": [], "trigger": "t", NOW}"#,
        "ERR_EMPTY",
    ),
    (
        "8.4",
        r#"{"type": "workflow", "steps": ["a"], NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "8.4",
        r#"{"type": "workflow", "steps": ["a"], "trigger": "", NOW}"#,
        "ERR_EMPTY",
    ),
    (
        "8.4",
        r#"{"type": "workflow", "nodes": [], NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "27.1",
        r#"{"type": "action", "tool_name": "t", "input": {}, "content": "x", NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "27.1",
        r#"{"type": "action", "tool_name": "", "input": {}, "content": "x", "is_error": false, NOW}"#,
        "ERR_EMPTY",
    ),
    (
        "27.1",
        r#"{"type": "action", "action_phase": "begin", NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "27.1",
        r#"{"type": "action", "action_phase": "call", "tool_name": "t", NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "27.1",
        r#"{"type": "action", "action_phase": "call", "tool_name": "t", "input": {}, "content": "x", NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "27.1",
        r#"{"type": "action", "action_phase": "result", "tool_call_id": "i", "content": "x", "is_error": true, NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "27.1",
        r#"{"type": "action", "action_phase": "definition", "tool_name": "t", "tool_description": "d", NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "27.1",
        r#"{"type": "action", "action_phase": "definition", "tool_name": "t", "tool_description": "d", "input_schema": {}, "input": {}, NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "27.1",
        r#"{"type": "action", "execution_mode": "code_exec", "code": "1", "is_error": false, NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "27.1",
        r#"{"type": "action", "tool_name": "t", "input": {}, "content": 1, "is_error": false, "execution_mode": "magic", NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "27.1",
        r#"{"type": "action", "tool_name": "t", "input": {}, "content": 1, "is_error": false, "duration_ms": -1, NOW}"#,
        "ERR_RANGE",
    ),
    (
        "8.6",
        r#"{"type": "observation", "observer_id": "a", NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "17.2",
        r#"{"type": "observation", "observer_id": "a", "observer_type": "", NOW}"#,
        "ERR_EMPTY",
    ),
    (
        "24.2",
        r#"{"type": "observation", "observer_id": "a", "observer_type": "human", "observer_model": "m", NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "25",
        r#"{"type": "observation", "observer_id": "a", "observer_type": "gps", "observation_mode": "periodic", NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "26",
        r#"{"type": "observation", "observer_id": "a", "observer_type": "gps", "observation_scope": "all", NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "8.7",
        r#"{"type": "goal", "description": "d", NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "8.7",
        r#"{"type": "goal", "description": "d", "goal_state": "done", NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "8.7",
        r#"{"type": "goal", "description": "", "goal_state": "active", NOW}"#,
        "ERR_EMPTY",
    ),
    ("8.8", r#"{"type": "reasoning"}"#, "ERR_SCHEMA"),
    (
        "8.9",
        r#"{"type": "consensus", "participating_observers": [], "threshold": 1, "agreement_count": 1, NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "8.9",
        r#"{"type": "consensus", "participating_observers": [], "threshold": -1, "agreement_count": 1, "dissent_count": 0, NOW}"#,
        "ERR_RANGE",
    ),
    (
        "8.10",
        r#"{"type": "consent", "subject_did": "a", "grantee_did": "b", "scope": ["store"], NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "8.10",
        r#"{"type": "consent", "subject_did": "a", "grantee_did": "b", "scope": ["store"], "is_withdrawal": true, NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "7.1",
        r#"{"type": "event", "content": "a", "content_refs": [{"uri": "cas://x"}], NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "7.1",
        r#"{"type": "event", "content": "a", "content_refs": [{"uri": "u", "modality": "smell"}], NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "7.1",
        r#"{"type": "event", "content": "a", "content_refs": [{"uri": "u", "modality": "image", "size_bytes": -1}], NOW}"#,
        "ERR_RANGE",
    ),
    (
        "7.2",
        r#"{"type": "event", "content": "a", "embedding_refs": [{"vector_id": "v", "model": "m"}], NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "27.5",
        r#"{"type": "event", "content": "a", "content_refs": [{"citation_type": "doi"}], NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "27.5",
        r#"{"type": "event", "content": "a", "derived_from": [{"citation_type": "tweet", "identifier": "1"}], NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "19.2",
        r#"{"type": "event", "content": "a", "derived_from": ["abc"], NOW}"#,
        "ERR_HASH_LENGTH",
    ),
    (
        "19.2",
        r#"{"type": "event", "content": "a", "derived_from": ["3288D0D41CF49A1D428E404F0B6A6FE60388BE9536937557F6139B813D53A520"], NOW}"#,
        "ERR_HASH_FORMAT",
    ),
    (
        "14.3",
        r#"{"type": "event", "content": "a", "related_to": [{"hash": "x", "relation_type": "likes"}], NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "14.1",
        r#"{"type": "event", "content": "a", "provenance_chain": [{"weight": 1.5}], NOW}"#,
        "ERR_RANGE",
    ),
    (
        "12.5.1",
        r#"{"type": "event", "content": "a", "owner": {"type": "org"}, NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "12.5.1",
        r#"{"type": "event", "content": "a", "owner": {"type": "robot", "name": "r"}, NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "28.3",
        r#"{"type": "event", "content": "a", "superseded_by": "x", NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "28.3",
        r#"{"type": "event", "content": "a", "system_valid_to": 1, NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "28.3",
        r#"{"type": "event", "content": "a", "verification_status": "verified", NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "28.3",
        r#"{"type": "event", "content": "a", "access_count": 1, NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "28.3",
        r#"{"type": "event", "content": "a", "last_accessed_at": 1, NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "I1",
        r#"{"type": "event", "content": "a", "contradicted": true, NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "F4",
        r#"{"type": "event", "content": "a", "s": "b", NOW}"#,
        "ERR_CORRUPT",
    ),
    (
        "F3",
        r#"{"type": "event", "content": "a", "cnt": "b", NOW}"#,
        "ERR_CORRUPT",
    ),
    (
        "F4",
        r#"{"type": "event", "content": "a", "related_to": [{"hash": "x", "h": "y", "relation_type": "similar"}], NOW}"#,
        "ERR_CORRUPT",
    ),
    (
        "F13",
        r#"{"type": "event", "content": "a", "supersession_auth": ["not base64!"], NOW}"#,
        "ERR_SCHEMA",
    ),
    (
        "4.8",
        r#"{"type": "event", "content": "a", "created_at": "2026-01-15"}"#,
        "ERR_SCHEMA",
    ),
    (
        "4.8",
        r#"{"type": "event", "content": "a", "created_at": 1.5}"#,
        "ERR_SCHEMA",
    ),
    (
        "F15",
        "{\"type\": \"event\", \"content\": \"a\u{feff}b\", NOW}",
        "ERR_CORRUPT",
    ),
    (
        "T6",
        r#"{"type": "event", "content": "\ud800", NOW}"#,
        "ERR_JSON",
    ),
];

/// JSON grains at the edge of a rule that are valid.
pub(super) const ACCEPTED: &[(&str, &str)] = &[
    (
        "T8",
        r#"{"type": "event", "content": "a", "processing_basis": "contract", NOW}"#,
    ),
    (
        "P2",
        r#"{"type": "goal", "description": "a", "goal_state": "active", "evidence_required": 1, "satisfaction_evidence": ["later"], NOW}"#,
    ),
    (
        "P3",
        r#"{"type": "event", "content": "a", "legal:privilege": "none", "context": {"legal:privilege": "attorney_client"}, NOW}"#,
    ),
    (
        "P3",
        r#"{"type": "event", "content": "a", "hc:patient_id": "1", "context": {"hc:patient_id": "1"}, NOW}"#,
    ),
    (
        "T4",
        r#"{"type": "event", "content_blocks": [{"type": "text", "text": "a"}], NOW}"#,
    ),
    (
        "T4",
        r#"{"type": "event", "subject": "s", "relation": "r", "object": "o", NOW}"#,
    ),
    (
        "27.1",
        r#"{"type": "action", "action_phase": "call", "tool_name": "t", "input": {}, NOW}"#,
    ),
    (
        "T3",
        r#"{"type": "action", "execution_mode": "code_exec", "code": "1", "exit_code": -9, "is_error": true, NOW}"#,
    ),
    (
        "27.6",
        r#"{"type": "observation", "observer_id": "a", "observer_type": "trigger:x", "observation_mode": "periodic", "observation_scope": "repos", NOW}"#,
    ),
    (
        "24.3",
        r#"{"type": "observation", "observer_id": "a", "observer_type": "acme:thermal-v2", NOW}"#,
    ),
    ("8.8", r#"{"type": "reasoning", NOW}"#),
    (
        "I8",
        r#"{"type": "consent", "subject_did": "a", "grantee_did": "b", "scope": [], "is_withdrawal": true, "prior_consent": "abababababababababababababababababababababababababababababababab", NOW}"#,
    ),
    (
        "27.5",
        r#"{"type": "event", "content": "a", "content_refs": [{"citation_type": "doi", "identifier": "10.1/x"}], NOW}"#,
    ),
    (
        "F19",
        r#"{"type": "event", "content": "a", "derived_from": ["sha256:3288d0d41cf49a1d428e404f0b6a6fe60388be9536937557f6139b813d53a520"], NOW}"#,
    ),
    (
        "23.3",
        r#"{"type": "event", "content": "a", "invalidation_policy": {"mode": "tomorrow"}, NOW}"#,
    ),
    (
        "24.2",
        r#"{"type": "observation", "observer_id": "a", "observer_type": "human", NOW}"#,
    ),
    (
        "F13",
        r#"{"type": "event", "content": "a", "trusted_timestamp": {"tsp_response": "AAEC", "tsa_uri": "u"}, NOW}"#,
    ),
];
