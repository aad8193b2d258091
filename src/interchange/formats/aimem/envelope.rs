//! The envelope of a bundle: its members, its scope and its checksum (AIMEM 2.1).

use crate::codec::{Map, Value};
use crate::grain::{Draft, ENVELOPE_TAG, Time, user_of_urn};
use crate::interchange::model::normalize::{context_of, normalize_text};
use crate::interchange::model::rfc3339::parse_rfc3339;
use crate::interchange::{Error, Place};

use super::code;
use super::member::{Object, is_producer};
use super::residual::RESIDUAL;
use super::source::ARRAYS;

/// The envelope of a bundle.
pub(super) struct Envelope<'a> {
    map: &'a Map,
    pub(super) producer: &'a str,
    tenant: &'a str,
    exported_at: Time,
    pub(super) scope: Scope,
    /// The length and the model of the vectors, if both are given.
    pub(super) embedding: Option<(usize, &'a str)>,
}

/// The part of a memory that a bundle holds.
///
/// ```
/// use grainstore::interchange::aimem::Scope;
///
/// assert_eq!(Scope::default(), Scope::Full);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Scope {
    /// Everything.
    #[default]
    Full,
    /// The memories that must not decay: DNA-class types, and pinned chunks.
    DnaOnly,
    /// The memories created at this time or later.
    Since(Time),
}

impl<'a> Envelope<'a> {
    /// Validates everything but the checksum, which is validated next.
    pub(super) fn read(map: &'a Map) -> Result<Self, Error> {
        let object = Object {
            map,
            at: Place::File,
        };
        let format = object.get("format").and_then(Value::as_text);
        if !format.is_some_and(|format| FORMATS.contains(&format)) {
            let message = "is not \"aimem-bundle\"";
            return Err(object.fault(code::BAD_FORMAT, "format", message));
        }
        if object.get("version").and_then(Value::as_text) != Some("1") {
            let message = "is not \"1\"";
            return Err(object.fault(code::UNSUPPORTED_VERSION, "version", message));
        }
        let producer = object.text("producer")?;
        if !is_producer(producer) {
            let message = "must match ^[a-z0-9-]{1,63}$";
            return Err(object.fault(code::INVALID_PRODUCER, "producer", message));
        }
        let tenant = object.text("tenant_id")?;
        if !is_tenant(tenant) {
            let message = "must be a UUID or a URI";
            return Err(object.fault(code::INVALID_TENANT_ID, "tenant_id", message));
        }
        let envelope = Self {
            exported_at: object.time("exported_at")?,
            scope: scope(&object)?,
            embedding: embedding(&object)?,
            map,
            producer,
            tenant,
        };
        object.required("chunks")?;
        for name in ARRAYS {
            if object.get(name).is_some_and(|it| it.as_array().is_none()) {
                return Err(object.fault(code::INVALID_FIELD, name, "must be an array"));
            }
        }
        Ok(envelope)
    }

    /// Returns the length of the parts that every grain repeats, in bytes.
    pub(super) fn len(&self) -> usize {
        let model = self.embedding.map_or(0, |(_, model)| model.len());
        self.tenant.len().saturating_add(model)
    }

    /// Returns the subject of the memory.
    pub(super) fn subject(&self) -> String {
        if self.tenant.starts_with("did:") {
            self.tenant.to_owned()
        } else {
            format!("aimem:tenant:{}", self.tenant)
        }
    }

    /// Sets the owner and the source of a grain.
    pub(super) fn mark(&self, draft: Draft) -> Draft {
        let draft = draft.source("imported");
        let draft = draft.user(user_of(self.tenant));
        if self.tenant.starts_with("did:") {
            draft.set("subject_did", self.tenant)
        } else {
            draft
        }
    }

    /// Returns the grain of the bundle as a whole, whose records are grains of their own.
    pub(super) fn draft(&self) -> Draft {
        let mut rest = self.map.clone();
        for name in ARRAYS {
            if let Some(Value::Array(items)) = rest.get_mut(name) {
                items.clear();
            }
        }
        self.mark(Draft::state(context_of(RESIDUAL, &rest)))
            .created_at(self.exported_at)
            .tag(ENVELOPE_TAG)
            .set("origin_namespace", self.producer)
    }
}

/// Validates the checksum: its form, then its value.
pub(super) fn check_checksum(map: &Map, actual: &str) -> Result<(), Error> {
    let object = Object {
        map,
        at: Place::File,
    };
    let stated = object.get("checksum").and_then(Value::as_text);
    let Some(stated) = stated.filter(|stated| is_sha256(stated)) else {
        let message = "must be sha256: and 64 lower-case hexadecimal digits";
        return Err(object.fault(code::MISSING_CHECKSUM, "checksum", message));
    };
    if stated == actual {
        Ok(())
    } else {
        let message = format!("the bundle has {actual}");
        Err(object.fault(code::CHECKSUM_MISMATCH, "checksum", message))
    }
}

pub(super) fn is_sha256(text: &str) -> bool {
    let digits = text.strip_prefix("sha256:").unwrap_or_default();
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    digits.len() == 64 && digits.bytes().all(is_digit)
}

fn scope(object: &Object<'_>) -> Result<Scope, Error> {
    match object.required("scope")?.as_text() {
        Some("FULL") => Ok(Scope::Full),
        Some("DNA_ONLY") => Ok(Scope::DnaOnly),
        Some("SINCE") => {
            let Some(since) = object.get("since") else {
                let message = "the scope SINCE needs it";
                return Err(object.fault(code::SINCE_MISSING, "since", message));
            };
            let time = parse_rfc3339(since.as_text().unwrap_or_default());
            let wrong = |message| object.fault(code::INVALID_TIMESTAMP, "since", message);
            time.map(Scope::Since).map_err(wrong)
        }
        _ => {
            let message = "must be FULL, DNA_ONLY or SINCE";
            Err(object.fault(code::INVALID_SCOPE, "scope", message))
        }
    }
}

fn embedding<'a>(object: &Object<'a>) -> Result<Option<(usize, &'a str)>, Error> {
    let (dim, model) = (object.get("embedding_dim"), object.get("embedding_model"));
    let wrong = |name, message| Err(object.fault(code::INVALID_FIELD, name, message));
    let dim = match dim.map(Value::as_i64) {
        None => None,
        Some(dim) => match dim.and_then(|dim| usize::try_from(dim).ok()) {
            Some(dim @ 1..) => Some(dim),
            _ => return wrong("embedding_dim", "must be a positive integer"),
        },
    };
    let model = match model.map(Value::as_text) {
        None => None,
        Some(Some(model)) if !normalize_text(model).is_empty() => Some(model),
        Some(_) => return wrong("embedding_model", "must be a string that is not empty"),
    };
    Ok(dim.zip(model))
}

/// AIMEM 2.1: a UUID or a URI.
pub(super) fn is_tenant(text: &str) -> bool {
    is_uuid(text) || is_uri(text)
}

/// Returns the user that a tenant is: the name in a URN of ours, and of a UUID the same one however it
/// is written (RFC 9562, 4; as `urn:uuid:`, 5.1).
pub(super) fn user_of(tenant: &str) -> String {
    let uuid = tenant
        .get(..9)
        .filter(|scheme| scheme.eq_ignore_ascii_case("urn:uuid:"));
    let uuid = uuid.and_then(|_| tenant.get(9..)).unwrap_or(tenant);
    if is_uuid(uuid) {
        return uuid.to_ascii_lowercase();
    }
    user_of_urn(tenant).unwrap_or_else(|| normalize_text(tenant))
}

fn is_uuid(text: &str) -> bool {
    let groups = text.split('-').map(|group| {
        let is_hex = group.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_hex { group.len() } else { 0 }
    });
    groups.eq([8, 4, 4, 4, 12])
}

fn is_uri(text: &str) -> bool {
    text.split_once(':').is_some_and(|(scheme, rest)| {
        let is_scheme = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(is_scheme)
            && !rest.is_empty()
            && rest.bytes().all(|byte| byte.is_ascii_graphic())
    })
}

/// The second was used by implementations before the draft.
pub(super) const FORMATS: [&str; 2] = ["aimem-bundle", "memoryai-bundle"];
