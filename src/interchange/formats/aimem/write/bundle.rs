//! Writing a bundle: grains of one producer and one tenant, as a document or a stream.

use std::io::Write;

use sha2::{Digest, Sha256};

use crate::code::ErrorCode;
use crate::codec::{Map, Value};
use crate::grain::{Time, user_urn};
use crate::interchange::entries::{each, surveyed};
use crate::interchange::export::only_one;
use crate::interchange::model::rfc3339::envelope_time;
use crate::interchange::{Entries, Entry, Error, Loss, Place, WriteOptions, Written};

use super::super::code;
use super::super::envelope::{Scope, is_tenant, user_of};
use super::super::source::ARRAYS;
use super::survey::Survey;

/// Writes a bundle as one JSON document, with its members in the order of the canonical text and
/// the checksum last.
///
/// Chunks that came from a bundle keep their names, in a bundle of their producer. Grains of any
/// other origin become chunks of this store, named by their addresses; AIMEM has no place for the
/// rest of them, which is counted. Grains that are not current are left out.
///
/// # Errors
/// `mixed_producers` when the chunks are those of several producers and none is chosen,
/// `mixed_tenants`, `ERR_IO`; those of reading the grains.
pub fn write<E: Entries + ?Sized>(
    out: &mut impl Write,
    entries: &E,
    options: &WriteOptions,
) -> Result<Written, E::Error> {
    let mut bundle = Bundle::plan(entries, options)?;
    let mut sum = Checksum::new();
    let mut separator = "{";
    let envelope = std::mem::take(&mut bundle.envelope);
    for name in canonical_order(&envelope) {
        let key = Value::from(name).to_json();
        put(out, &[separator.as_bytes(), key.as_bytes(), b":"])?;
        separator = ",";
        sum.member(name);
        let Some(array) = ARRAYS.iter().position(|array| *array == name) else {
            let value = envelope.get(name).unwrap_or(&Value::Nil);
            put(out, &[value.to_json().as_bytes()])?;
            sum.add(&value.to_jcs());
            continue;
        };
        put(out, &[b"["])?;
        sum.add(b"[");
        let mut between: &[u8] = b"";
        let text = |record: Value| {
            let canonical = (!record.is_canonical()).then(|| record.to_jcs());
            (record.to_json(), canonical)
        };
        bundle.each(entries, array, text, |(text, canonical)| {
            put(out, &[between, text.as_bytes()])?;
            sum.add(between);
            sum.add(canonical.as_deref().unwrap_or(text.as_bytes()));
            between = b",";
            Ok(())
        })?;
        put(out, &[b"]"])?;
        sum.add(b"]");
    }
    let checksum = Value::from(sum.finish()).to_json();
    put(out, &[b",\"checksum\":", checksum.as_bytes(), b"}\n"])?;
    Ok(bundle.written)
}

/// Writes a bundle as a stream: the envelope, then one record a line. The grains are read once more
/// for the checksum, which is on the first line.
///
/// # Errors
/// As [`write()`].
pub fn write_stream<E: Entries + ?Sized>(
    out: &mut impl Write,
    entries: &E,
    options: &WriteOptions,
) -> Result<Written, E::Error> {
    let mut bundle = Bundle::plan(entries, options)?;
    let planned = bundle.written.clone();
    let mut envelope = std::mem::take(&mut bundle.envelope);
    let mut sum = Checksum::new();
    for name in canonical_order(&envelope) {
        sum.member(name);
        let Some(array) = ARRAYS.iter().position(|array| *array == name) else {
            sum.add(&envelope.get(name).unwrap_or(&Value::Nil).to_jcs());
            continue;
        };
        sum.add(b"[");
        let mut between: &[u8] = b"";
        let text = |record: Value| record.to_jcs();
        bundle.each(entries, array, text, |canonical| {
            sum.add(between);
            sum.add(&canonical);
            between = b",";
            Ok(())
        })?;
        sum.add(b"]");
    }
    for name in ARRAYS {
        envelope.remove(name);
    }
    envelope.insert("checksum", sum.finish());
    put(out, &[Value::Map(envelope).to_json().as_bytes(), b"\n"])?;
    // Losses are counted once.
    bundle.written = planned;
    for (array, kind) in KINDS.into_iter().enumerate() {
        let text = |mut record: Value| {
            if let Value::Map(map) = &mut record {
                map.insert("_kind", kind);
            }
            record.to_json()
        };
        bundle.each(entries, array, text, |text| {
            put(out, &[text.as_bytes(), b"\n"])
        })?;
    }
    Ok(bundle.written)
}

/// The names of the members without the checksum, in the order of RFC 8785.
fn canonical_order(envelope: &Map) -> Vec<&str> {
    let mut names: Vec<&str> = envelope.iter().map(|(name, _)| name).collect();
    names.sort_by(|a, b| a.encode_utf16().cmp(b.encode_utf16()));
    names.retain(|name| *name != "checksum");
    names
}

fn put(out: &mut impl Write, parts: &[&[u8]]) -> Result<(), Error> {
    let mut parts = parts.iter();
    parts.try_for_each(|part| Ok(out.write_all(part)?))
}

/// The checksum of a bundle that is being written.
struct Checksum {
    hash: Sha256,
    separator: &'static [u8],
}

impl Checksum {
    fn new() -> Self {
        Self {
            hash: Sha256::new(),
            separator: b"{",
        }
    }

    fn member(&mut self, name: &str) {
        self.add(self.separator);
        self.add(&Value::from(name).to_jcs());
        self.add(b":");
        self.separator = b",";
    }

    fn add(&mut self, text: &[u8]) {
        self.hash.update(text);
    }

    fn finish(mut self) -> String {
        self.add(b"}");
        let digest = data_encoding::HEXLOWER.encode(&self.hash.finalize());
        format!("sha256:{digest}")
    }
}

/// A bundle whose records are chosen and not read yet.
struct Bundle {
    /// With its arrays, which are empty.
    envelope: Map,
    survey: Survey,
    producer: String,
    /// Whether the chunks carry the vectors that the envelope describes.
    embedding: Option<(u64, String)>,
    written: Written,
}

impl Bundle {
    fn plan<E: Entries + ?Sized>(entries: &E, options: &WriteOptions) -> Result<Self, E::Error> {
        let mut survey = surveyed(entries, || Survey::of(entries, options))?;
        let producer = survey.choose_producer(options.producer.as_deref())?;
        let now = survey.newest.or(options.now);
        let mut envelope = envelope(&mut survey, &producer, options, now)?;
        let embedding = survey.choose_vectors(&mut envelope, options.with_embeddings);
        survey.join(entries, &producer, options.scope)?;
        for name in ARRAYS {
            envelope.insert(name, Vec::<Value>::new());
        }
        let loss = std::mem::take(&mut survey.loss);
        Ok(Self {
            envelope,
            survey,
            producer,
            embedding,
            written: Written { records: 0, loss },
        })
    }

    /// Reads the records of an array: `make` is called on several threads, `take` in order.
    fn each<E: Entries + ?Sized, T: Send>(
        &mut self,
        entries: &E,
        array: usize,
        make: impl Fn(Value) -> T + Sync,
        mut take: impl FnMut(T) -> Result<(), Error>,
    ) -> Result<(), E::Error> {
        let Self {
            survey,
            producer,
            embedding,
            written,
            ..
        } = self;
        let numbers = survey.numbers(array);
        let record = |number: u32, entry: Entry| {
            let mut loss = Loss::default();
            let embedding = embedding.as_ref();
            let record = survey.record(entries, number, entry, (producer, embedding), &mut loss)?;
            Ok((record.map(|map| make(Value::Map(map))), loss))
        };
        each(entries, numbers, record, |(made, loss)| {
            written.loss.merge(&loss);
            let Some(made) = made else { return Ok(()) };
            written.records = written.records.saturating_add(1);
            Ok(take(made)?)
        })
    }
}

/// Returns the envelope: the original one if the bundle is exported whole, or else a new one.
fn envelope(
    survey: &mut Survey,
    producer: &str,
    options: &WriteOptions,
    now: Time,
) -> Result<Map, Error> {
    let is_as_it_came = survey.is_one_bundle() && options.scope == Scope::Full;
    let mut bundle = survey.last_envelope().unwrap_or_default();
    let tenant = only_one(survey.tenants()).map_err(|names| {
        let names: Vec<_> = names.into_iter().map(str::to_owned).collect();
        mixed(code::MIXED_TENANTS, "users", &names)
    })?;
    // One that was taken for another user than its own is that user's now.
    let own = bundle
        .get("tenant_id")
        .and_then(Value::as_text)
        .map(user_of);
    if is_as_it_came && tenant.is_none_or(|tenant| own.as_deref() == Some(tenant)) {
        return Ok(bundle);
    }
    let (scope, since) = match options.scope {
        Scope::Full => ("FULL", None),
        Scope::DnaOnly => ("DNA_ONLY", None),
        Scope::Since(since) => ("SINCE", Some(since)),
    };
    if !bundle.contains("format") {
        bundle.insert("format", "aimem-bundle");
    }
    bundle.insert("version", "1");
    bundle.insert("producer", producer);
    bundle.insert("scope", scope);
    bundle.insert("exported_at", envelope_time(now));
    match since {
        Some(since) => drop(bundle.insert("since", envelope_time(since))),
        None => drop(bundle.remove("since")),
    }
    match tenant {
        Some(tenant) => drop(bundle.insert("tenant_id", tenant_id(tenant))),
        None if bundle.contains("tenant_id") => {}
        None => drop(bundle.insert("tenant_id", tenant_id("local"))),
    }
    Ok(bundle)
}

/// Returns a user as a tenant of AIMEM 2.1: a UUID or a URI.
fn tenant_id(user: &str) -> String {
    if is_tenant(user) {
        return user.to_owned();
    }
    user_urn(user)
}

pub(super) fn mixed(code: ErrorCode, what: &str, names: &[String]) -> Error {
    let names = names.join(", ");
    fault(
        code,
        format!("a bundle is of one; there are the {what} {names}"),
    )
}

pub(super) fn fault(code: ErrorCode, message: String) -> Error {
    Error::format(code, Place::File, message)
}

/// The producer of the bundles of this store.
pub(super) const OWN: &str = "grainstore";

/// The tags of lines, in the order of [`ARRAYS`].
const KINDS: [&str; 4] = ["chunk", "edge", "entity", "chunk_entity"];
