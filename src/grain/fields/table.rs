//! The one field table (OMS 6 and Appendix C; ruling F6: section 6 is the complete one).
//!
//! Every row decides bytes, so every row decides addresses: rows are never edited, only added.

use super::Field;
use super::Holds::{
    self, Any, Bool, Byte, Bytes, Count, Float, Int, Map, Maps, Signatures, Sources, Text, Texts,
    Time, Unit,
};

pub(in crate::grain) const FIELDS: &[Field] = &[
    // OMS 6.1: Core
    field("type", "t", Text),
    field("subject", "s", Text),
    field("relation", "r", Text),
    field("object", "o", Any),
    field("confidence", "c", Unit),
    field("source_type", "st", Text),
    field("created_at", "ca", Time),
    field("temporal_type", "tt", Text),
    field("valid_from", "vf", Time),
    field("valid_to", "vt", Time),
    field("system_valid_from", "svf", Time),
    field("system_valid_to", "svt", Time),
    field("context", "ctx", Map),
    field("superseded_by", "sb", Text),
    field("contradicted", "ct", Bool),
    field("importance", "im", Unit),
    field("author_did", "adid", Text),
    field("namespace", "ns", Text),
    field("user_id", "user", Text),
    field("structural_tags", "tags", Texts),
    field("derived_from", "df", Sources),
    field("consolidation_level", "cl", Count),
    field("success_count", "sc", Count),
    field("failure_count", "fc", Count),
    field("provenance_chain", "pc", Maps),
    field("origin_did", "odid", Text),
    field("origin_namespace", "ons", Text),
    field("content_refs", "cr", Maps),
    field("embedding_refs", "er", Maps),
    field("related_to", "rt", Maps),
    field("_elided", "_e", Map),
    field("_disclosure_of", "_do", Text),
    field("invalidation_policy", "ip", Map),
    field("supersession_justification", "sj", Text),
    field("supersession_auth", "sa", Signatures),
    field("owner", "own", Map),
    field("category", "cat", Byte),
    field("run_id", "rid", Text),
    field("role", "role", Text),
    field("access_count", "ac", Count),
    field("last_accessed_at", "laa", Time),
    field("timestamp_ms", "tms", Time),
    field("observer_did", "obsdid", Text),
    field("subject_did", "sdid", Text),
    field("session_id", "sid2", Text),
    field("entity_id", "eid", Text),
    field("epistemic_status", "epstat", Text),
    field("verification_status", "vstatus", Text),
    field("requires_human_review", "rhr", Bool),
    field("processing_basis", "pbasis", Text),
    field("identity_state", "idst", Text),
    field("license", "lic", Text),
    field("trusted_timestamp", "tts", Map),
    field("invalidation_type", "itype", Text),
    field("invalidation_reason", "ireason", Text),
    field("invalidation_initiator", "iinit", Text),
    field("retention_policy", "rpol", Map),
    field("recall_priority", "rpri", Text),
    // OMS 6.2: Event
    field("content", "content", Any),
    field("consolidated", "consolidated", Bool),
    field("content_blocks", "cblocks", Maps),
    field("model_id", "mdl", Text),
    field("stop_reason", "stopr", Text),
    field("token_usage", "toku", Map),
    field("parent_message_id", "pmid", Text),
    // OMS 6.3: State
    field("plan", "plan", Texts),
    field("history", "history", Maps),
    // OMS 6.4: Workflow
    field("steps", "steps", Texts),
    field("trigger", "trigger", Text),
    // OMS 6.5: Action
    field("action_phase", "aphase", Text),
    field("tool_name", "tn", Text),
    field("input", "inp", Map),
    field("is_error", "iserr", Bool),
    field("tool_call_id", "tcid", Text),
    field("call_batch_id", "cbid", Text),
    field("tool_type", "ttype", Text),
    field("tool_version", "tver", Text),
    field("execution_mode", "emode", Text),
    field("code", "code", Text),
    field("stdout", "out", Text),
    field("stderr", "err2", Text),
    field("exit_code", "xc", Int),
    field("interpreter_id", "iid", Text),
    field("error", "err", Text),
    field("error_type", "etype", Text),
    field("duration_ms", "dur", Count),
    field("parent_task_id", "ptid", Text),
    field("tool_description", "tdesc", Text),
    field("input_schema", "isch", Map),
    field("output_schema", "osch", Map),
    field("strict", "strict", Bool),
    // OMS 6.6: Observation
    field("observer_id", "oid", Text),
    field("observer_type", "otype", Text),
    field("frame_id", "fid", Text),
    field("sync_group", "sg", Text),
    field("observation_mode", "omode", Text),
    field("observation_scope", "oscope", Text),
    field("observer_model", "omdl", Text),
    field("compression_ratio", "ocmp", Float),
    // OMS 6.7: Goal
    field("description", "desc", Text),
    field("goal_state", "gs", Text),
    field("criteria", "crit", Texts),
    field("criteria_structured", "crs", Maps),
    field("priority", "pri", Int),
    field("parent_goals", "pgs", Texts),
    field("state_reason", "sr", Text),
    field("satisfaction_evidence", "se", Texts),
    field("progress", "prog", Float),
    field("delegate_to", "dto", Text),
    field("delegate_from", "dfo", Text),
    field("expiry_policy", "ep", Text),
    field("recurrence", "rec", Text),
    field("evidence_required", "evreq", Count),
    field("rollback_on_failure", "rof", Texts),
    field("allowed_transitions", "atr", Texts),
    field("depends_on", "depg", Texts),
    field("assigned_agent", "asgn", Text),
    field("expected_output", "expout", Text),
    field("output_grain", "outg", Text),
    field("deadline", "dline", Time),
    // OMS 6.8: Consent
    field("grantee_did", "gdid", Text),
    field("scope", "scope", Texts),
    field("is_withdrawal", "isw", Bool),
    field("basis", "basis", Text),
    field("jurisdiction", "jur", Text),
    field("prior_consent", "pcon", Text),
    field("witness_dids", "wdids", Texts),
    // OMS 6.9: Reasoning
    field("premises", "prem", Texts),
    field("conclusion", "conc", Text),
    field("inference_method", "imethod", Text),
    field("alternatives_considered", "altc", Maps),
    field("thinking_content", "think", Text),
    field("thinking_redacted", "tredact", Bool),
    field("statistical_context", "statctx", Map),
    field("software_environment", "swenv", Map),
    field("parameter_set", "params", Map),
    field("random_seed", "rseed", Int),
    // OMS 6.10: Consensus
    field("participating_observers", "pobs", Texts),
    field("threshold", "thold", Count),
    field("agreement_count", "agcnt", Count),
    field("dissent_count", "discnt", Count),
    field("dissent_grains", "disgrn", Texts),
    field("agreed_content", "agcon", Any),
    // OMS 6.11: Delegation
    field("authorized_namespaces", "ans", Texts),
    field("authorized_types", "atypes", Bytes),
    field("authorized_tools", "atools", Texts),
    field("delegation_depth", "ddepth", Count),
    field("delegation_expiry", "dexp", Time),
    field("context_grains", "cgrains", Texts),
    field("return_to", "retdid", Text),
    // Later revisions' names, known so that no application field takes their keys (ruling T16).
    field("embedding_text", "et", Text),
    field("nodes", "nodes", Texts),
    field("edges", "edges", Maps),
    field("bindings", "bind", Any),
    field("retries", "retries", Any),
    field("rec_status", "rstat", Text),
];

/// OMS 6.5, ruling F3: `content` is written `cnt` on Action grains and `content` on all others.
pub(in crate::grain) const ACTION_CONTENT_KEY: &str = "cnt";

/// A name inside a nested map and the short key it is stored under.
pub(in crate::grain) type NestedField = (&'static str, &'static str);

/// OMS 7.1.
pub(in crate::grain) const CONTENT_REF: &[NestedField] = &[
    ("uri", "u"),
    ("modality", "m"),
    ("mime_type", "mt"),
    ("size_bytes", "sz"),
    ("checksum", "ck"),
    ("metadata", "md"),
];

/// OMS 7.2.
pub(in crate::grain) const EMBEDDING_REF: &[NestedField] = &[
    ("vector_id", "vi"),
    ("model", "mo"),
    ("dimensions", "dm"),
    ("modality_source", "ms"),
    ("distance_metric", "di"),
    ("chunk_index", "ci"),
    ("chunk_text", "ct"),
    ("chunk_strategy", "cs"),
    ("chunk_overlap", "co"),
];

/// OMS 14.2; compacted according to 4.7, which 4.9 omits (ruling F5).
pub(in crate::grain) const RELATED_TO: &[NestedField] =
    &[("hash", "h"), ("relation_type", "rl"), ("weight", "w")];

/// Appendix C, for the `context` of grains tagged `profile:integration` (ruling F6).
pub(in crate::grain) const INTEGRATION: &[NestedField] = &[
    ("int:base_url", "ib"),
    ("int:http_method", "ihm"),
    ("int:http_path", "ihp"),
    ("int:path_params", "ipp"),
    ("int:query_params", "iqp"),
    ("int:body_params", "ibp"),
    ("int:response_mapping", "irm"),
    ("int:auth_type", "iat"),
    ("int:auth_scopes", "ias"),
    ("int:read_only", "iro"),
    ("int:connector", "ic"),
    ("int:docs_url", "idu"),
    ("int:rate_limit", "irl"),
    ("int:category", "icat"),
    ("int:sunset_date", "isd"),
    ("int:content_type", "ict"),
    ("int:poll_interval_secs", "ipis"),
    ("int:cursor_field", "icf"),
    ("int:cursor_type", "icft"),
    ("int:webhook_path", "iwp"),
    ("int:webhook_secret_header", "iwsh"),
    ("int:cron_expression", "icron"),
    ("int:timezone", "itz"),
    ("int:config_schema", "icfg"),
    ("int:event_schema", "ievt"),
];

const fn field(name: &'static str, key: &'static str, holds: Holds) -> Field {
    Field { name, key, holds }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_and_keys_are_unique_and_no_key_is_another_fields_name() {
        // OMS 6: the mapping is one-to-one, so expansion can never meet two candidates.
        let names: HashSet<_> = FIELDS.iter().map(|field| field.name).collect();
        let keys: HashSet<_> = FIELDS.iter().map(|field| field.key).collect();
        assert_eq!((names.len(), keys.len()), (FIELDS.len(), FIELDS.len()));
        for field in FIELDS {
            assert!(
                field.key == field.name || !names.contains(field.key),
                "{}",
                field.key
            );
        }
        assert!(!keys.contains(ACTION_CONTENT_KEY));
        for nested in [CONTENT_REF, EMBEDDING_REF, RELATED_TO, INTEGRATION] {
            let names: HashSet<_> = nested.iter().map(|(name, _)| name).collect();
            let keys: HashSet<_> = nested.iter().map(|(_, key)| key).collect();
            assert!(names.is_disjoint(&keys));
            assert_eq!((names.len(), keys.len()), (nested.len(), nested.len()));
        }
    }
}
