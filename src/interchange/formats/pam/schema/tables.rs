//! The schemas of PAM 1.0 as tables: the store, a conversation (PAM 25), an embeddings file (12).

use super::super::types::object::is_name_byte;
use crate::interchange::formats::shape::Rule::{
    Count, Filled, Flag, Input, Is, Items, Number, Object, OneOf, Set, Text, Time, Unit,
};
use crate::interchange::formats::shape::{Member, Rule, Shape, URI, nullable, optional, required};

pub(crate) static STORE: Shape = closed(&[
    required("schema", OneOf(&["portable-ai-memory"])),
    required("schema_version", VERSION),
    nullable("spec_uri", URI),
    nullable("export_id", Text),
    nullable("exported_by", AGENT),
    optional("export_date", Time),
    required("owner", Object(&OWNER)),
    required("memories", Items(&Object(&MEMORY), 0)),
    optional("relations", Items(&Object(&RELATION), 0)),
    optional("conversations_index", Items(&Object(&ENTRY), 0)),
    optional("integrity", Object(&INTEGRITY)),
    optional("export_type", OneOf(&["full", "incremental"])),
    nullable("base_export_id", Text),
    nullable("since", Time),
    nullable("type_registry", URI),
    nullable("signature", Object(&SIGNATURE)),
]);

static OWNER: Shape = closed(&[
    required("id", Filled),
    nullable(
        "did",
        Is("a string that matches ^did:[a-z0-9]+:.+$", is_did),
    ),
    optional("created_at", Time),
]);

/// The types of memories (PAM 5).
pub(crate) const TYPES: [&str; 11] = [
    "fact",
    "preference",
    "skill",
    "context",
    "relationship",
    "goal",
    "instruction",
    "identity",
    "environment",
    "project",
    "custom",
];

pub(crate) static MEMORY: Shape = closed(&[
    required("id", Filled),
    required("type", OneOf(&TYPES)),
    nullable("custom_type", Filled),
    optional(
        "status",
        OneOf(&[
            "active",
            "superseded",
            "deprecated",
            "retracted",
            "archived",
        ]),
    ),
    required("content", Filled),
    required("content_hash", HASH),
    nullable("summary", Text),
    optional("tags", Set(&TAG, 0)),
    optional("confidence", Object(&CONFIDENCE)),
    required("temporal", Object(&TEMPORAL)),
    required("provenance", Object(&PROVENANCE)),
    optional("access", Object(&ACCESS)),
    nullable("embedding_ref", Text),
    optional("metadata", Object(&METADATA)),
]);

static CONFIDENCE: Shape = closed(&[
    optional("initial", Unit),
    optional("current", Unit),
    nullable(
        "decay_model",
        OneOf(&["time_linear", "time_exponential", "none"]),
    ),
    nullable("last_reinforced", Time),
]);

static TEMPORAL: Shape = closed(&[
    required("created_at", Time),
    nullable("updated_at", Time),
    nullable("valid_from", Time),
    nullable("valid_until", Time),
    nullable("superseded_by", Text),
]);

static PROVENANCE: Shape = closed(&[
    required("platform", PLATFORM),
    nullable("platform_user_id", Text),
    nullable("conversation_ref", Text),
    nullable("message_ref", Text),
    nullable(
        "extraction_method",
        OneOf(&[
            "llm_inference",
            "explicit_user_input",
            "api_export",
            "browser_extraction",
            "manual",
        ]),
    ),
    nullable("extracted_at", Time),
    nullable("extractor", AGENT),
]);

static ACCESS: Shape = closed(&[
    optional("visibility", OneOf(&["private", "shared", "public"])),
    optional("exportable", Flag),
    optional("shared_with", Items(&Object(&GRANT), 0)),
]);

static GRANT: Shape = closed(&[
    required("entity", Filled),
    required("permissions", Set(&OneOf(&["read", "write", "delete"]), 1)),
]);

static METADATA: Shape = Shape {
    members: &[
        nullable(
            "language",
            Is(
                "a string that matches ^[a-z]{2,3}(-[A-Z][a-z]{3})?(-[A-Z]{2})?$",
                is_language,
            ),
        ),
        nullable("domain", Text),
    ],
    is_open: true,
};

pub(crate) static RELATION: Shape = closed(&[
    required("id", Filled),
    required("from", Filled),
    required("to", Filled),
    required(
        "type",
        OneOf(&[
            "supports",
            "contradicts",
            "extends",
            "supersedes",
            "related_to",
            "derived_from",
        ]),
    ),
    nullable("confidence", Unit),
    required("created_at", Time),
]);

pub(crate) static ENTRY: Shape = closed(&[
    required("id", Filled),
    required("platform", PLATFORM),
    nullable("title", Text),
    nullable("message_count", Count(0.0)),
    required("temporal", Object(&SPAN)),
    optional("tags", Items(&TAG, 0)),
    optional("derived_memories", Items(&Filled, 0)),
    optional("storage", Object(&STORAGE)),
]);

static SPAN: Shape = closed(&[required("created_at", Time), nullable("updated_at", Time)]);

static STORAGE: Shape = closed(&[
    required("type", OneOf(PLACES)),
    required("ref", Filled),
    nullable("format", Text),
]);

static INTEGRITY: Shape = closed(&[
    optional("canonicalization", OneOf(&["RFC8785"])),
    required("checksum", HASH),
    required("total_memories", Count(0.0)),
]);

static SIGNATURE: Shape = closed(&[
    required(
        "algorithm",
        OneOf(&["Ed25519", "ES256", "ES384", "RS256", "RS384", "RS512"]),
    ),
    required("public_key", Filled),
    required("value", Filled),
    required("signed_at", Time),
    nullable("key_id", Text),
]);

pub(crate) static CONVERSATION: Shape = closed(&[
    required("schema", OneOf(&["portable-ai-memory-conversation"])),
    required("schema_version", VERSION),
    required("id", Filled),
    required("provider", Object(&PROVIDER)),
    nullable("title", Text),
    required("temporal", Object(&SPAN)),
    optional("participants", Items(&Object(&PARTICIPANT), 0)),
    required("messages", Items(&Object(&MESSAGE), 0)),
    nullable("model", Text),
    nullable("system_instruction", Text),
    optional("is_archived", Flag),
    optional("tags", Items(&TAG, 0)),
    optional("raw_metadata", Object(&OPEN)),
    optional("import_metadata", Object(&IMPORTED)),
]);

static PROVIDER: Shape = closed(&[
    required("name", PLATFORM),
    nullable("conversation_id", Text),
    nullable("account_id", Text),
    nullable("export_format_version", Text),
]);

static PARTICIPANT: Shape = closed(&[
    required("role", ROLE),
    nullable("name", Text),
    nullable("provider_id", Text),
]);

pub(crate) static MESSAGE: Shape = closed(&[
    required("id", Filled),
    nullable("provider_message_id", Text),
    required("role", ROLE),
    optional("content", Object(&CONTENT)),
    required("created_at", Time),
    nullable("parent_id", Text),
    optional("children_ids", Items(&Filled, 0)),
    nullable("model", Text),
    optional("is_thought", Flag),
    nullable("token_count", Count(0.0)),
    optional("attachments", Items(&Object(&ATTACHMENT), 0)),
    optional("citations", Items(&Object(&CITATION), 0)),
    optional("tool_calls", Items(&Object(&TOOL_CALL), 0)),
    optional("raw_metadata", Object(&OPEN)),
]);

static CONTENT: Shape = closed(&[
    required("type", OneOf(&["text", "multipart"])),
    nullable("text", Text),
    optional("parts", Items(&Object(&PART), 0)),
]);

static PART: Shape = closed(&[
    required(
        "type",
        OneOf(&["text", "image", "code", "file", "audio", "video"]),
    ),
    nullable("text", Text),
    nullable("language", Text),
    nullable("mime_type", Text),
    nullable("ref", Text),
]);

static ATTACHMENT: Shape = closed(&[
    required(
        "type",
        OneOf(&["file", "image", "audio", "video", "document"]),
    ),
    nullable("name", Text),
    nullable("mime_type", Text),
    nullable("size_bytes", Count(0.0)),
    nullable("ref", Text),
    nullable("provider_id", Text),
]);

static CITATION: Shape = closed(&[
    nullable("title", Text),
    nullable("url", URI),
    nullable("snippet", Text),
]);

static TOOL_CALL: Shape = closed(&[
    nullable("id", Text),
    required("name", Filled),
    nullable("input", Input),
    nullable("output", Text),
]);

static IMPORTED: Shape = closed(&[
    nullable("importer", AGENT),
    nullable("importer_version", Text),
    nullable("imported_at", Time),
    nullable("source_file", Text),
    nullable("source_checksum", HASH),
]);

pub(crate) static EMBEDDINGS: Shape = closed(&[
    required("schema", OneOf(&["portable-ai-memory-embeddings"])),
    required("schema_version", VERSION),
    required("embeddings", Items(&Object(&EMBEDDING), 0)),
]);

pub(crate) static EMBEDDING: Shape = closed(&[
    required("id", Filled),
    required("memory_id", Filled),
    required("model", Filled),
    required("dimensions", Count(1.0)),
    required("created_at", Time),
    nullable("vector", Items(&Number, 0)),
    nullable("storage", Object(&VECTOR_STORAGE)),
]);

static VECTOR_STORAGE: Shape = closed(&[required("type", OneOf(PLACES)), required("ref", Filled)]);

/// An object without rules.
static OPEN: Shape = Shape {
    members: &[],
    is_open: true,
};

const fn closed(members: &'static [Member]) -> Shape {
    Shape {
        members,
        is_open: false,
    }
}

const PLACES: &[&str] = &["file", "database", "object_storage", "vector_db", "uri"];
/// The roles of the speakers of messages (PAM 25).
pub(crate) const ROLES: &[&str] = &["user", "assistant", "system", "tool"];
const ROLE: Rule = OneOf(ROLES);
const PLATFORM: Rule = Is("a string that matches ^[a-z0-9_-]{2,32}$", is_platform);
const TAG: Rule = Is("a string that matches ^[a-z0-9][a-z0-9_-]*$", is_tag);
const HASH: Rule = Is("a string that matches ^sha256:[a-f0-9]{64}$", is_hash);
const AGENT: Rule = Is(
    "a string that matches ^[a-zA-Z0-9_-]+/[0-9]+\\.[0-9]+\\.[0-9]+$",
    is_agent,
);
const VERSION: Rule = Is(
    "a string that matches ^[0-9]+\\.[0-9]+(-(rc|alpha|beta)[0-9]*)?$",
    is_version,
);

pub(crate) fn is_platform(text: &str) -> bool {
    (2..=32).contains(&text.len()) && text.bytes().all(is_name_byte)
}

/// OMS 13.2 gives tags like `phi:x` a meaning; the pattern excludes the colon.
pub(crate) fn is_tag(text: &str) -> bool {
    let starts = text.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
    starts && text.bytes().all(is_name_byte)
}

fn is_hash(text: &str) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let digits = text.strip_prefix("sha256:");
    digits.is_some_and(|digits| digits.len() == 64 && digits.bytes().all(is_digit))
}

fn is_did(text: &str) -> bool {
    let rest = text
        .strip_prefix("did:")
        .and_then(|rest| rest.split_once(':'));
    rest.is_some_and(|(method, id)| {
        let is_method = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        // A point of ECMA-262 is any character but the end of a line.
        let is_line_end = |c: char| matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}');
        !method.is_empty()
            && method.bytes().all(is_method)
            && !id.is_empty()
            && !id.contains(is_line_end)
    })
}

fn is_agent(text: &str) -> bool {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    text.split_once('/').is_some_and(|(name, version)| {
        let numbers: Vec<&str> = version.split('.').collect();
        !name.is_empty()
            && name.bytes().all(is_name)
            && numbers.len() == 3
            && numbers.iter().all(|number| is_number(number))
    })
}

fn is_version(text: &str) -> bool {
    let (numbers, stage) = text.split_once('-').unwrap_or((text, "rc"));
    let is_stage = ["rc", "alpha", "beta"].iter().any(|name| {
        let digits = stage.strip_prefix(name);
        digits.is_some_and(|digits| digits.is_empty() || is_number(digits))
    });
    let is_numbers = |(major, minor)| is_number(major) && is_number(minor);
    is_stage && numbers.split_once('.').is_some_and(is_numbers)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_language(text: &str) -> bool {
    let mut parts = text.split('-').peekable();
    let is_all = |part: &str, is: fn(&u8) -> bool| part.as_bytes().iter().all(is);
    let language = parts.next().unwrap_or_default();
    if !(2..=3).contains(&language.len()) || !is_all(language, u8::is_ascii_lowercase) {
        return false;
    }
    let is_script = |part: &&str| {
        part.len() == 4
            && part.starts_with(|c: char| c.is_ascii_uppercase())
            && is_all(part.get(1..).unwrap_or("-"), u8::is_ascii_lowercase)
    };
    let is_region = |part: &&str| part.len() == 2 && is_all(part, u8::is_ascii_uppercase);
    parts.next_if(is_script);
    parts.next_if(is_region);
    parts.next().is_none()
}
