//! The HTTP profile of AIMEM (draft-aimem-bundle-00, 3): a tenant is the user of the token.
//!
//! Errors are `application/problem+json` with the codes of the reference server. A chunk that
//! contradicts one that is stored is reported in the summary of a 200, as the reference does.

use std::collections::{BTreeMap, HashSet};
use std::io::{Read, Seek, SeekFrom};

use data_encoding::{BASE64, HEXLOWER};
use grainstore::crypto::Algorithm;
use grainstore::interchange::{
    ForeignId, Format, ImportFile, ReadOptions, Signature, WriteOptions, aimem,
};
use grainstore::store::{Clock, SystemClock};
use grainstore::{ContentAddress, ErrorCode, Filter, Time};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::confine::confine;
use super::files::{spool, summary_json};
use crate::http::answer::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;

/// Returns the bundle of the tenant.
pub(crate) fn export(call: &Call<'_>) -> Result<Answer, Failure> {
    exported(call, Format::Aimem, MEDIA_TYPE)
}

/// Returns the bundle of the tenant as lines.
pub(crate) fn export_stream(call: &Call<'_>) -> Result<Answer, Failure> {
    exported(call, Format::AimemNdjson, "application/x-ndjson")
}

fn exported(call: &Call<'_>, format: Format, media: &'static str) -> Result<Answer, Failure> {
    let caller = call.scope()?;
    let scope = bundle_scope(call)?;
    let now = SystemClock.now();
    // A token of several namespaces is of no one tenant.
    caller.named(None)?;
    let options = WriteOptions {
        // A damaged grain of one tenant keeps no other from an export.
        skip_damaged: true,
        scope,
        producer: call.param("producer").map(str::to_owned),
        with_embeddings: call.param("include_embeddings") == Some("true"),
        now: Some(now),
        ..WriteOptions::default()
    };
    let filter = Filter::new().with_expired();
    let mut records = 0;
    let mut file = spool(|file| {
        let admin = caller.admin()?;
        records = admin.export(format, &filter, &options, file)?.grains;
        Ok(())
    })?;
    let key = call.app.signing_key();
    if records == 0 {
        let bundle = empty_bundle(caller.holder.grant.user.as_deref(), scope, now)?;
        return signed(media, format!("{bundle}\n"), format, key);
    }
    // A signature is a header, so the bundle is read once more before the answer begins.
    let Some(key) = key else {
        return Ok(Answer::Spool(media, file, Vec::new()));
    };
    let mut bundle = Vec::new();
    let failed = |_| Failure::busy(503, ErrorCode::Io.as_str(), "no room for the answer");
    file.read_to_end(&mut bundle).map_err(failed)?;
    let signature = signature_of(&bundle, format, key)?;
    file.seek(SeekFrom::Start(0)).map_err(failed)?;
    Ok(Answer::Spool(
        media,
        file,
        vec![("aimem-signature", signature)],
    ))
}

/// Reads the scope of an export (AIMEM 3).
fn bundle_scope(call: &Call<'_>) -> Result<aimem::Scope, Failure> {
    let since = call.param("since");
    match (call.param("scope"), since) {
        (None | Some("FULL"), None) => Ok(aimem::Scope::Full),
        (Some("DNA_ONLY"), None) => Ok(aimem::Scope::DnaOnly),
        (Some("SINCE"), Some(since)) => {
            let time = Time::parse(since);
            let invalid = |_| {
                Failure::of(
                    ErrorCode::AimemInvalidTimestamp,
                    "since is no ISO 8601 time",
                )
            };
            Ok(aimem::Scope::Since(time.map_err(invalid)?))
        }
        (Some("SINCE"), None) => Err(Failure::of(
            ErrorCode::AimemSinceMissing,
            "the scope SINCE needs since",
        )),
        (_, Some(_)) => Err(Failure::of(
            ErrorCode::AimemInvalidScope,
            "since belongs to the scope SINCE",
        )),
        (Some(_), None) => Err(Failure::of(
            ErrorCode::AimemInvalidScope,
            "a scope is FULL, DNA_ONLY or SINCE",
        )),
    }
}

/// Returns a bundle without records: the store has none that could name the tenant. Members are in
/// the order of RFC 8785, and so is the text that the checksum is of.
fn empty_bundle(tenant: Option<&str>, scope: aimem::Scope, now: Time) -> Result<String, Failure> {
    let (scope, since) = match scope {
        aimem::Scope::Full => ("FULL", None),
        aimem::Scope::DnaOnly => ("DNA_ONLY", None),
        aimem::Scope::Since(since) => ("SINCE", Some(since)),
    };
    let mut bundle: BTreeMap<&str, Value> = BTreeMap::from([
        ("format", json!("aimem-bundle")),
        ("version", json!("1")),
        ("producer", json!("grainstore")),
        (
            "tenant_id",
            json!(tenant.unwrap_or("urn:grainstore:user:local")),
        ),
        ("exported_at", json!(now.to_string())),
        ("scope", json!(scope)),
        ("chunks", json!([])),
        ("edges", json!([])),
        ("entities", json!([])),
        ("chunk_entities", json!([])),
    ]);
    if let Some(since) = since {
        bundle.insert("since", json!(since.to_string()));
    }
    let unwritable = |error: serde_json::Error| Failure::of(ErrorCode::Io, error.to_string());
    let canonical = serde_json::to_string(&bundle).map_err(unwritable)?;
    let checksum = HEXLOWER.encode(&Sha256::digest(canonical.as_bytes()));
    bundle.insert("checksum", json!(format!("sha256:{checksum}")));
    serde_json::to_string(&bundle).map_err(unwritable)
}

fn signed(
    media: &'static str,
    bundle: String,
    format: Format,
    key: Option<&grainstore::crypto::SigningKey>,
) -> Result<Answer, Failure> {
    let is_stream = format == Format::AimemNdjson;
    let signature = key.map(|key| signature_of(bundle.as_bytes(), Format::Aimem, key));
    let headers = signature
        .transpose()?
        .map(|signature| ("aimem-signature", signature));
    let text = match is_stream {
        // The only line of a stream without records is its envelope, without the arrays.
        true => {
            let mut envelope: BTreeMap<String, Value> = serde_json::from_str(&bundle)
                .map_err(|error| Failure::of(ErrorCode::Io, error.to_string()))?;
            envelope.retain(|_, value| !value.is_array());
            format!("{}\n", json!(envelope))
        }
        false => bundle,
    };
    Ok(Answer::Text(media, text, headers.into_iter().collect()))
}

fn signature_of(
    bundle: &[u8],
    format: Format,
    key: &grainstore::crypto::SigningKey,
) -> Result<String, Failure> {
    let signature = aimem::sign(bundle, format, key)?;
    Ok(BASE64.encode(&signature))
}

/// Stores a bundle.
pub(crate) fn import(call: &Call<'_>) -> Result<Answer, Failure> {
    let scope = call.scope()?;
    let media = call.header("content-type").unwrap_or_default();
    let format = match media.starts_with("application/x-ndjson") {
        true => Format::AimemNdjson,
        false => Format::Aimem,
    };
    // A tenant is the user of the token, whatever tenant a bundle of another server names.
    let options = ReadOptions {
        user: scope.holder.grant.user.clone(),
        ..ReadOptions::default()
    };
    let mut file = ImportFile::of_file(call.upload()?, Some(format), &options)?;
    if let Some(error) = file.errors.first() {
        return Err(Failure::of(error.code(), error.to_string()));
    }
    // AIMEM 5.3: a check that was not made is in the audit trail, as the record of the import.
    file.signature = Some(Signature::Absent);
    let mut signer = None;
    if let Some(text) = call.header("aimem-signature") {
        let invalid = |_| {
            Failure::of(
                ErrorCode::AimemSignatureInvalid,
                "AIMEM-Signature is not Base64",
            )
        };
        let signature = BASE64.decode(text.as_bytes()).map_err(invalid)?;
        signer = Some(aimem::verify(&call.uploaded()?, format, &signature)?.did);
        file.signature = Some(Signature::Valid);
    }
    let (mut file, dropped) = confine(scope, file)?;
    let mut chunks: Vec<ContentAddress> = Vec::new();
    file.records.look(|record| {
        let id = record.foreign_id.as_ref();
        if id.is_some_and(|id| id.format() == "aimem") {
            chunks.push(record.grain.address());
        }
        Ok::<(), Failure>(())
    })?;
    let store = scope.handle();
    let before = stored(store, &chunks)?;
    let summary = scope.importer()?.import(file)?;
    let after = stored(store, &chunks)?;
    let inserted = chunks
        .iter()
        .filter(|it| after.contains(it) && !before.contains(it))
        .count();
    let rejected: Vec<_> = summary
        .conflicts
        .iter()
        .filter_map(|conflict| conflict.id.as_ref().map(urn))
        .collect();
    // A chunk that was updated is stored as a version of the one before, under another address, and
    // so is one that was updated by an earlier import.
    let refused = usize::try_from(summary.refusals()).unwrap_or(usize::MAX);
    let known = chunks
        .len()
        .saturating_sub(inserted)
        .saturating_sub(rejected.len());
    let known = known.saturating_sub(refused);
    let updated = known.min(usize::try_from(summary.updated).unwrap_or(usize::MAX));
    let mut answer = summary_json(&summary, dropped);
    answer["chunks_inserted"] = json!(inserted);
    answer["chunks_updated"] = json!(updated);
    answer["chunks_skipped_idempotent"] = json!(known.saturating_sub(updated));
    answer["chunks_rejected_conflict"] = json!(rejected);
    answer["signer"] = json!(signer.as_ref().map(grainstore::crypto::Did::as_str));
    Ok(Answer::Json(200, answer))
}

/// Returns the URN of a record (AIMEM 2.3): the scope of its id is its producer, and in a store of
/// several tenants also whose it is.
fn urn(id: &ForeignId) -> String {
    let producer = id.scope().split(" of ").next().unwrap_or_default();
    format!("urn:aimem:{producer}:{}", id.id())
}

fn stored(
    store: &grainstore::Store,
    addresses: &[ContentAddress],
) -> Result<HashSet<ContentAddress>, Failure> {
    let mut found = HashSet::new();
    for address in addresses {
        if store.exists(address)? {
            found.insert(*address);
        }
    }
    Ok(found)
}

/// Says what is implemented, for clients that look before they ask.
pub(crate) fn discovery(call: &Call<'_>) -> Result<Answer, Failure> {
    let signs = call.app.signing_key().is_some();
    Ok(Answer::Json(
        200,
        json!({
            "specification": "draft-aimem-bundle-00",
            "format": "aimem-bundle",
            "versions": ["1"],
            "conformance": ["producer", "consumer", "bidirectional"],
            "media_types": [MEDIA_TYPE, "application/x-ndjson"],
            "endpoints": {
                "export": "/v1/brain/export",
                "export_stream": "/v1/brain/export/stream",
                "import": "/v1/brain/import",
            },
            "signatures": { "verified": true, "made": signs },
            "public_key": signs.then_some("/.well-known/aimem-pubkey"),
        }),
    ))
}

/// Returns the public key as a COSE_Key (RFC 9052, 7), where bundles are signed.
pub(crate) fn public_key(call: &Call<'_>) -> Result<Answer, Failure> {
    let missing = || Failure::new(404, "ERR_NO_ROUTE", "bundles are not signed here");
    let key = call.app.signing_key().ok_or_else(missing)?;
    let key = key.verifying_key();
    let bytes = key.to_bytes();
    // Ed25519 alone: {1: 1 (OKP), 3: -8 (EdDSA), -1: 6 (Ed25519), -2: the key}.
    if key.algorithm() != Algorithm::Ed25519 || bytes.len() != 32 {
        return Err(missing());
    }
    let mut encoded = vec![0xa4, 0x01, 0x01, 0x03, 0x27, 0x20, 0x06, 0x21, 0x58, 0x20];
    encoded.extend(bytes);
    let file = spool(|file| {
        use std::io::Write;
        let failed = |_| Failure::busy(503, ErrorCode::Io.as_str(), "no room for the answer");
        file.write_all(&encoded).map_err(failed)
    })?;
    Ok(Answer::Spool("application/cose-key", file, Vec::new()))
}

pub(crate) const MEDIA_TYPE: &str = "application/aimem-bundle+json";

pub(crate) const EXPORT_PARAMS: &[(&str, &str)] = &[
    ("scope", "FULL, DNA_ONLY or SINCE"),
    ("since", "the first moment of the scope SINCE, ISO 8601"),
    (
        "producer",
        "whose chunks, where there are those of several producers",
    ),
    ("include_embeddings", "true: with the vectors"),
];
