//! The fields of the domain profiles (OMS A.1 to A.7), as data.

use super::profile::{
    Holds::{self, Count, Flag, Int, Map, Number, OneOf, Share, Text, Texts},
    Profile,
};

pub(super) const PROFILES: &[Profile] = &[
    Profile {
        tag: "profile:healthcare",
        prefix: "hc",
        fields: HEALTHCARE,
        recommended: &[],
    },
    Profile {
        tag: "profile:legal",
        prefix: "legal",
        fields: LEGAL,
        recommended: &[(
            "legal:jurisdiction",
            "recommended under profile:legal (OMS A.2)",
        )],
    },
    Profile {
        tag: "profile:finance",
        prefix: "fin",
        fields: FINANCE,
        recommended: &[],
    },
    Profile {
        tag: "profile:robotics",
        prefix: "rob",
        fields: ROBOTICS,
        recommended: &[(
            "rob:robot_id",
            "recommended under profile:robotics (OMS A.4)",
        )],
    },
    Profile {
        tag: "profile:science",
        prefix: "sci",
        fields: SCIENCE,
        recommended: &[],
    },
    Profile {
        tag: "profile:consumer",
        prefix: "con",
        fields: CONSUMER,
        recommended: &[],
    },
    Profile {
        tag: "profile:integration",
        prefix: "int",
        fields: INTEGRATION,
        recommended: &[
            (
                "int:connector",
                "recommended under profile:integration (OMS A.7)",
            ),
            (
                "int:auth_type",
                "recommended under profile:integration (OMS A.7)",
            ),
        ],
    },
];

type Fields = &'static [(&'static str, Holds)];

/// OMS A.1.
const HEALTHCARE: Fields = &[
    ("hc:patient_id", Text),
    ("hc:encounter_id", Text),
    ("hc:practitioner_did", Text),
    ("hc:icd10", Texts),
    ("hc:cpt", Texts),
    ("hc:loinc", Text),
    ("hc:snomed", Text),
    ("hc:fhir_resource", Text),
    ("hc:fhir_id", Text),
    ("hc:consent_ref", Text),
    (
        "hc:deidentification",
        OneOf(&["safe_harbor", "expert_determination"]),
    ),
];

/// OMS A.2.
const LEGAL: Fields = &[
    ("legal:jurisdiction", Text),
    ("legal:matter_id", Text),
    (
        "legal:document_type",
        OneOf(&[
            "contract",
            "opinion",
            "filing",
            "statute",
            "regulation",
            "order",
            "brief",
        ]),
    ),
    ("legal:parties", Texts),
    ("legal:effective_date", Int),
    ("legal:expiry_date", Int),
    ("legal:citation", Text),
    (
        "legal:privilege",
        OneOf(&["attorney_client", "work_product", "none"]),
    ),
    ("legal:hold_ref", Text),
    ("legal:redaction_level", OneOf(&["none", "partial", "full"])),
];

/// OMS A.3.
const FINANCE: Fields = &[
    ("fin:account_id", Text),
    ("fin:instrument_id", Text),
    ("fin:ticker", Text),
    ("fin:amount", Number),
    ("fin:currency", Text),
    (
        "fin:transaction_type",
        OneOf(&["debit", "credit", "transfer", "fee", "trade", "settlement"]),
    ),
    ("fin:market_timestamp", Int),
    ("fin:venue", Text),
    ("fin:strategy_id", Text),
    ("fin:risk_score", Share(0.0, 1.0, "0.0 to 1.0")),
    ("fin:sox_control_id", Text),
    ("fin:retention_years", Count),
];

/// OMS A.4.
const ROBOTICS: Fields = &[
    ("rob:robot_id", Text),
    ("rob:pose", Map),
    ("rob:velocity", Map),
    ("rob:map_id", Text),
    ("rob:mission_id", Text),
    ("rob:battery_pct", Share(0.0, 100.0, "0.0 to 100.0")),
    (
        "rob:safety_state",
        OneOf(&["normal", "warning", "emergency_stop", "recovery"]),
    ),
    ("rob:hardware_rev", Text),
    ("rob:firmware_ver", Text),
    ("rob:contact_forces", Map),
    ("rob:coordinate_frame", Text),
];

/// OMS A.5.
const SCIENCE: Fields = &[
    ("sci:doi", Text),
    ("sci:arxiv_id", Text),
    ("sci:pmid", Text),
    ("sci:dataset_id", Text),
    ("sci:experiment_id", Text),
    ("sci:protocol_id", Text),
    ("sci:hypothesis", Text),
    (
        "sci:result_status",
        OneOf(&[
            "positive",
            "negative",
            "inconclusive",
            "replicated",
            "failed_replication",
        ]),
    ),
    ("sci:p_value", Share(0.0, 1.0, "0.0 to 1.0")),
    ("sci:effect_size", Number),
    ("sci:sample_size", Count),
    ("sci:preregistered", Flag),
    ("sci:open_access", Flag),
];

/// OMS A.6.
const CONSUMER: Fields = &[
    (
        "con:device_type",
        OneOf(&[
            "mobile",
            "desktop",
            "smart_speaker",
            "wearable",
            "tv",
            "kiosk",
        ]),
    ),
    ("con:app_id", Text),
    ("con:app_version", Text),
    ("con:locale", Text),
    ("con:preference_category", Text),
    (
        "con:interaction_type",
        OneOf(&[
            "explicit_feedback",
            "implicit_signal",
            "purchase",
            "skip",
            "save",
            "share",
        ]),
    ),
    ("con:sentiment", Share(-1.0, 1.0, "-1.0 to 1.0")),
    ("con:engagement_duration_ms", Int),
    ("con:recommendation_rank", Int),
    ("con:ab_variant", Text),
    ("con:ccpa_opted_out", Flag),
];

/// OMS A.7, with the fields of triggers (OMS 27.6).
const INTEGRATION: Fields = &[
    ("int:base_url", Text),
    (
        "int:http_method",
        OneOf(&["GET", "POST", "PUT", "PATCH", "DELETE"]),
    ),
    ("int:http_path", Text),
    ("int:path_params", Texts),
    ("int:query_params", Texts),
    ("int:body_params", Texts),
    ("int:response_mapping", Text),
    ("int:auth_type", Text),
    ("int:auth_scopes", Texts),
    ("int:read_only", Flag),
    ("int:connector", Text),
    ("int:docs_url", Text),
    ("int:rate_limit", Int),
    ("int:category", Text),
    ("int:sunset_date", Text),
    ("int:content_type", Text),
    ("int:poll_interval_secs", Int),
    ("int:cursor_field", Text),
    ("int:cursor_type", OneOf(&["timestamp", "id", "etag"])),
    ("int:webhook_path", Text),
    ("int:webhook_secret_header", Text),
    ("int:cron_expression", Text),
    ("int:timezone", Text),
    ("int:config_schema", Map),
    ("int:event_schema", Map),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_has_the_prefix_of_its_profile_and_none_is_a_core_field() {
        // OMS A, rules 1 and 3.
        for profile in PROFILES {
            for (name, _) in profile.fields {
                let (prefix, _) = name.split_once(':').unwrap();
                assert_eq!(prefix, profile.prefix, "{name}");
                assert!(crate::grain::Field::named(name).is_none(), "{name}");
            }
            for (name, _) in profile.recommended {
                assert!(profile.fields.iter().any(|(field, _)| field == name));
            }
        }
        let fields: usize = PROFILES.iter().map(|profile| profile.fields.len()).sum();
        assert_eq!(fields, 11 + 10 + 12 + 11 + 13 + 11 + 25);
    }

    #[test]
    fn the_short_keys_of_appendix_c_are_those_of_the_integration_fields() {
        use crate::grain::fields;
        let names = |fields: Fields| fields.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        let keyed: Vec<_> = fields::INTEGRATION.iter().map(|(name, _)| *name).collect();
        assert_eq!(names(INTEGRATION), keyed);
    }
}
