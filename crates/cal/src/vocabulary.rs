//! The closed vocabulary: types, fields with their operators, relations and their categories.

use grainstore::Type;
use serde::{Deserialize, Serialize};

use crate::condition::Op;

/// Declares the types: the variant, one and several.
macro_rules! kinds {
    ($($kind:ident $one:literal $many:literal)+) => {
        /// A type of grain that a statement can name.
        ///
        /// ```
        /// use grainstore_cal::Kind;
        ///
        /// assert_eq!(Kind::named("Beliefs"), Some(Kind::Belief));
        /// assert_eq!(Kind::Consensus.plural(), "consensuses");
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Kind {
            $(#[doc = concat!("`", $one, "`.")] #[serde(rename = $many, alias = $one)] $kind,)+
        }

        impl Kind {
            /// All types in the order of their bytes.
            pub const ALL: &'static [Self] = &[$(Self::$kind,)+];

            /// Returns the name of one grain.
            pub const fn singular(self) -> &'static str {
                match self { $(Self::$kind => $one,)+ }
            }

            /// Returns the name of several.
            pub const fn plural(self) -> &'static str {
                match self { $(Self::$kind => $many,)+ }
            }

            /// Returns the type in the store.
            pub const fn type_(self) -> Type {
                match self { $(Self::$kind => Type::$kind,)+ }
            }
        }
    };
}

kinds! {
    Belief "belief" "beliefs"
    Event "event" "events"
    State "state" "states"
    Workflow "workflow" "workflows"
    Action "action" "actions"
    Observation "observation" "observations"
    Goal "goal" "goals"
    Reasoning "reasoning" "reasonings"
    Consensus "consensus" "consensuses"
    Consent "consent" "consents"
}

impl Kind {
    /// Returns the type with a name, of one or of several, in any case.
    pub fn named(name: &str) -> Option<Self> {
        let is_it = |kind: &&Self| {
            name.eq_ignore_ascii_case(kind.singular()) || name.eq_ignore_ascii_case(kind.plural())
        };
        Self::ALL.iter().find(is_it).copied()
    }

    /// Returns the type of a grain, unless it is opaque.
    pub fn of(of: Type) -> Option<Self> {
        Self::ALL.iter().find(|kind| kind.type_() == of).copied()
    }
}

/// The kind of value that a field takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    Text,
    Number,
    /// A number from 0 to 1.
    Share,
    Bool,
    /// A text that is read as a time, or a number.
    Time,
    Tags,
    Hash,
}

/// A field of the closed table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    /// The type that it belongs to; `None` for the common fields.
    pub(crate) kind: Option<Kind>,
    pub(crate) takes: Takes,
    pub(crate) ops: &'static [Op],
}

const fn common(name: &'static str, takes: Takes, ops: &'static [Op]) -> Field {
    Field {
        name,
        kind: None,
        takes,
        ops,
    }
}

const fn of(kind: Kind, name: &'static str, takes: Takes, ops: &'static [Op]) -> Field {
    Field {
        name,
        kind: Some(kind),
        takes,
        ops,
    }
}

const EQ: &[Op] = &[Op::Eq];
const EQ_NE: &[Op] = &[Op::Eq, Op::Ne];
const EQ_NE_IN: &[Op] = &[Op::Eq, Op::Ne, Op::In];
const ORDERED: &[Op] = &[Op::Eq, Op::Ne, Op::Ge, Op::Le, Op::Gt, Op::Lt];
const WITHIN: &[Op] = &[Op::Eq, Op::Between];

/// All fields: the common ones, then those of each type (CAL, appendix E).
pub(crate) const FIELDS: &[Field] = &[
    common("query", Takes::Text, EQ),
    common("subject", Takes::Text, EQ_NE_IN),
    common("relation", Takes::Text, &[Op::Eq, Op::Ne, Op::In, Op::Is]),
    common("object", Takes::Text, EQ_NE_IN),
    common("user_id", Takes::Text, EQ_NE),
    common("namespace", Takes::Text, EQ),
    common("confidence", Takes::Share, ORDERED),
    common("importance", Takes::Share, ORDERED),
    common("score", Takes::Share, &[Op::Ge, Op::Gt]),
    common("tags", Takes::Tags, &[Op::Include, Op::Exclude]),
    common("type", Takes::Text, EQ),
    common("time", Takes::Time, WITHIN),
    common("hash", Takes::Hash, EQ),
    common("contradicted", Takes::Bool, EQ),
    common("verification_status", Takes::Text, EQ),
    common("source_type", Takes::Text, EQ),
    common("recall_priority", Takes::Text, EQ),
    common("epistemic_status", Takes::Text, EQ),
    of(Kind::Event, "role", Takes::Text, EQ_NE),
    of(Kind::Event, "session_id", Takes::Text, EQ),
    of(Kind::Event, "parent_message_id", Takes::Text, EQ),
    of(Kind::Event, "model_id", Takes::Text, EQ_NE),
    of(Kind::Event, "content", Takes::Text, EQ),
    of(Kind::State, "context", Takes::Text, EQ_NE),
    of(Kind::State, "plan", Takes::Text, EQ),
    of(Kind::Workflow, "trigger", Takes::Text, EQ_NE),
    of(Kind::Workflow, "steps", Takes::Text, EQ),
    of(Kind::Action, "tool_name", Takes::Text, EQ_NE_IN),
    of(Kind::Action, "action_phase", Takes::Text, EQ),
    of(Kind::Action, "is_error", Takes::Bool, EQ),
    of(Kind::Action, "tool_call_id", Takes::Text, EQ),
    of(Kind::Observation, "observer_id", Takes::Text, EQ_NE),
    of(Kind::Observation, "observer_type", Takes::Text, EQ_NE),
    of(Kind::Goal, "goal_state", Takes::Text, EQ_NE),
    of(Kind::Goal, "assigned_agent", Takes::Text, EQ_NE),
    of(Kind::Goal, "deadline", Takes::Time, WITHIN),
    of(Kind::Goal, "depends_on", Takes::Text, &[Op::Eq, Op::In]),
    of(Kind::Reasoning, "reasoning_type", Takes::Text, EQ),
    of(Kind::Reasoning, "premises", Takes::Text, EQ),
    of(Kind::Reasoning, "conclusion", Takes::Text, EQ_NE),
    of(Kind::Consensus, "threshold", Takes::Number, ORDERED),
    of(Kind::Consensus, "agreement_count", Takes::Number, ORDERED),
    of(
        Kind::Consensus,
        "participating_observers",
        Takes::Tags,
        &[Op::Include],
    ),
    of(Kind::Consent, "consent_action", Takes::Text, EQ),
    of(Kind::Consent, "purpose", Takes::Text, EQ_NE),
    of(Kind::Consent, "grantor_did", Takes::Text, EQ),
    of(Kind::Consent, "grantee_did", Takes::Text, EQ),
    of(Kind::Consent, "scope", Takes::Text, EQ),
    of(Kind::Consent, "expires_at", Takes::Time, WITHIN),
];

impl Field {
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        FIELDS.iter().find(|field| field.name == name)
    }

    /// Returns the names of the fields that a recall of a type can use.
    pub(crate) fn usable(kind: Option<Kind>) -> impl Iterator<Item = &'static str> {
        let is_usable = move |field: &&Self| field.kind.is_none() || field.kind == kind;
        FIELDS.iter().filter(is_usable).map(|field| field.name)
    }
}

/// Whether a condition on a field is a search (CAL, appendix E: "= semantic").
pub(crate) fn is_search(field: &str) -> bool {
    matches!(field, "query" | "content" | "plan" | "steps" | "premises")
}

/// The values that a field takes where they are closed, and the code of another one.
pub(crate) fn closed_values(field: &str) -> Option<(crate::code::Code, &'static [&'static str])> {
    use crate::code::Code;
    Some(match field {
        "action_phase" => (
            Code::BadActionPhase,
            &["definition", "call", "result", "complete"],
        ),
        // The last three are read as aliases of the states of OMS (ruling CAL8).
        "goal_state" => (
            Code::BadGoalState,
            &[
                "active",
                "satisfied",
                "failed",
                "suspended",
                "completed",
                "abandoned",
                "blocked",
            ],
        ),
        "consent_action" => (Code::BadConsentAction, &["grant", "withdraw"]),
        "recall_priority" => (Code::BadRecallPriority, &["hot", "warm", "cold"]),
        "epistemic_status" => (
            Code::BadEpistemicStatus,
            &["certain", "probable", "uncertain", "estimated", "derived"],
        ),
        "verification_status" => (
            Code::Incompatible,
            &["unverified", "verified", "contested", "retracted"],
        ),
        "role" => (Code::Incompatible, &["user", "assistant", "system", "tool"]),
        "reasoning_type" => (
            Code::Incompatible,
            &["deductive", "inductive", "abductive", "analogical"],
        ),
        _ => return None,
    })
}

/// The fields by which ORDER BY sorts.
pub(crate) const SORTABLE: &[&str] = &[
    "subject",
    "relation",
    "object",
    "confidence",
    "importance",
    "score",
    "time",
    "verification_status",
    "source_type",
];

/// The fields by which GROUP BY groups.
pub(crate) const GROUPABLE: &[&str] = &[
    "subject",
    "relation",
    "object",
    "user_id",
    "type",
    "verification_status",
    "source_type",
];

/// The fields that SELECT does not return.
pub(crate) const NOT_PROJECTABLE: &[&str] =
    &["query", "namespace", "recall_priority", "epistemic_status"];

/// The prefixes of the domain profiles.
pub(crate) const DOMAINS: &[&str] = &["hc", "legal", "fin", "rob", "sci", "con", "int"];

/// The categories of relations with what they stand for.
pub(crate) const CATEGORIES: &[(&str, &[&str])] = &[
    ("PREFERENCE", &["mg:prefers", "mg:avoids", "mg:requires"]),
    ("KNOWLEDGE", &["mg:knows", "mg:infers"]),
    ("PERMISSION", &["mg:permits", "mg:revokes", "mg:prohibits"]),
    ("INTERACTION", &["mg:said", "mg:did", "mg:handed_off_to"]),
    (
        "AGENCY",
        &["mg:delegates_to", "mg:has_capability", "mg:assigned_to"],
    ),
    ("LIFECYCLE", &["mg:intends", "mg:depends_on"]),
    ("OBSERVATION", &["mg:perceives", "mg:state_at"]),
];

/// The relations of OMS 8 that are in no category.
pub(crate) const OTHER_RELATIONS: &[&str] = &["mg:owned_by", "mg:agrees_with", "mg:requires_steps"];

/// The grammar of CAL as DESCRIBE grammar returns it.
///
/// ```
/// assert!(grainstore_cal::GRAMMAR.contains("revert     := REVERT h REASON s"));
/// ```
pub const GRAMMAR: &str = include_str!("grammar.txt");

/// The words that no name of an assembly or a template can be.
pub(crate) const RESERVED: &str = " RECALL ASSEMBLE WHERE AND OR NOT IN BETWEEN LIMIT OFFSET ORDER \
    BY ASC DESC WITH EXPLAIN SCOPE UNION INTERSECT EXCEPT SELECT COUNT FIRST GROUP SUBJECTS OBJECTS \
    HASHES PROJECT INCLUDE EXCLUDE IS NULL TRUE FALSE EXISTS HISTORY DESCRIBE BATCH COALESCE ABOUT \
    RECENT SINCE LIKE MY CONTRADICTIONS AS OF FOR FROM BUDGET PRIORITY FORMAT LET THREAD STREAM \
    TEMPLATE DEFINE UNDEFINE EXTENDS HEADER ELEMENT ELEMENT_SUMMARY ELEMENT_OMIT SOURCE_BREAK FOOTER \
    DIFF CAL ADD SUPERSEDE REVERT SET REASON FIND RELATE TIMELINE TRACE GRAPH ANNOTATE MATCHING \
    SIMILAR NEAR TAGGED USER VIA DEPTH TOP UNTIL LAST HAVING DIVERSITY MMR THRESHOLD RERANK \
    PROVENANCE SUPERSEDED EXPLANATION SCORE_BREAKDOWN CONSISTENCY EVENTUAL BOUNDED LINEARIZABLE \
    CACHE PIN UNPIN MERGE LANG CHUNK PAUSE RESUME CANCEL ";

/// The words of what CAL never does.
pub(crate) const DESTRUCTIVE: &str = " DELETE DROP FORGET ERASE DESTROY PURGE TRUNCATE INSERT CREATE \
    WRITE STORE KEY ENCRYPT DECRYPT ROTATE MASTER DEK SECRET POLICY SEAL UNSEAL GRANT REVOKE CONSENT \
    RESTRICT SCHEMA PARTITION INDEX MIGRATION ";

/// Returns whether a word is in a list of words between spaces.
pub(crate) fn is_among(words: &str, word: &str) -> bool {
    words.contains(&format!(" {} ", word.to_ascii_uppercase()))
}
