//! The signature of an export: checked and made (PAM 18, Appendix D).

use data_encoding::BASE64URL_NOPAD;

use crate::codec::{Map, Value};
use crate::crypto::{Algorithm, SigningKey, VerifyingKey};
use crate::grain::Time;
use crate::interchange::model::rfc3339::envelope_time;
use crate::interchange::{Error, Signature};

use super::code;
use super::types::object::{Object, fault};
use super::write::uuid::uuid_of;

/// Checks the signature of a store; one that does not verify is a finding, not a refusal (PAM
/// 21.4).
///
/// # Errors
/// `PAM_SCHEMA`, `PAM_SIGNATURE_FORM` for one that the text does not allow at all.
pub(super) fn check(root: &Object<'_>, findings: &mut Vec<Error>) -> Result<Signature, Error> {
    let Some(signature) = root.object("signature")? else {
        return Ok(Signature::Absent);
    };
    let form = |object: &Object<'_>, name: &str, message: &str| {
        object.member_fault(name, code::SIGNATURE_FORM, message)
    };
    let algorithm = signature.required_text("algorithm")?;
    if !ALGORITHMS.contains(&algorithm) {
        return Err(signature.member_fault("algorithm", code::SCHEMA, "is none of PAM 18"));
    }
    let value = signature.required_text("value")?;
    // The format's own example has letters that are no base64url: such a value does not verify
    // either.
    let bytes = BASE64URL_NOPAD
        .decode(value.trim_end_matches('=').as_bytes())
        .map_err(|_| "value: is not base64url".to_owned());
    let public_key = signature.required_text("public_key")?;
    let signed_at = signature.required_time("signed_at")?;
    for name in ["export_id", "export_date"] {
        if root.text(name)?.is_none() {
            return Err(form(root, name, "is missing below a signature"));
        }
    }
    if root
        .time("export_date")?
        .is_some_and(|date| signed_at < date)
    {
        return Err(form(&signature, "signed_at", "is before export_date"));
    }
    let payload = payload(root.map).ok_or_else(|| {
        let message = "nothing to sign: integrity has no checksum";
        form(root, "integrity", message)
    })?;
    let wrong = |message: String| fault(code::SIGNATURE, signature.at.clone(), message);
    let kind = match algorithm {
        "Ed25519" => Algorithm::Ed25519,
        "ES256" => Algorithm::P256,
        _ => {
            findings.push(wrong(format!("{algorithm} is not checked here")));
            return Ok(Signature::Skipped);
        }
    };
    let key = VerifyingKey::from_text(public_key);
    let fits = || {
        let key = key.map_err(|error| format!("public_key: {error}"))?;
        if key.algorithm() != kind {
            return Err(format!("public_key: is no key of {algorithm}"));
        }
        key.verify_spelled(&payload, &bytes?)
            .map_err(|_| "does not fit this store".to_owned())
    };
    match fits() {
        Ok(()) => Ok(Signature::Valid),
        Err(message) => {
            findings.push(wrong(message));
            Ok(Signature::Invalid)
        }
    }
}

/// Signs a store that is otherwise complete, as an export of its own, made now.
///
/// # Errors
/// `PAM_SIGNATURE_FORM` if the checksum is missing, or the key cannot sign.
pub(super) fn sign(store: &mut Map, key: &SigningKey, now: Time) -> Result<(), Error> {
    let refuse = |message: String| fault(code::SIGNATURE_FORM, "/signature".into(), message);
    store.insert("export_date", envelope_time(now));
    store.remove("export_id");
    store.remove("signature");
    // The same store signed at the same time is the same export.
    let id = uuid_of(Value::Map(store.clone()).to_json().as_bytes());
    store.insert("export_id", id);
    let payload = payload(store).ok_or_else(|| refuse("nothing to sign".into()))?;
    let bytes = key
        .sign(&payload)
        .map_err(|error| refuse(error.to_string()))?;
    let did = key.did().to_string();
    // The schema has Ed25519 keys in base58, which the example writes as multibase, and others as
    // JWK or PEM.
    let (algorithm, public_key) = match key.algorithm() {
        Algorithm::Ed25519 => ("Ed25519", did.trim_start_matches("did:key:").to_owned()),
        Algorithm::P256 => ("ES256", key.verifying_key().to_jwk()),
    };
    let mut signature = Map::new();
    signature.insert("algorithm", algorithm);
    signature.insert("public_key", public_key);
    // Without padding, which one of the two validators of the format rejects.
    signature.insert("value", BASE64URL_NOPAD.encode(&bytes));
    signature.insert("signed_at", envelope_time(now));
    signature.insert("key_id", did);
    store.insert("signature", signature);
    Ok(())
}

/// Returns the signed payload (PAM 18.3).
fn payload(store: &Map) -> Option<Vec<u8>> {
    let text = |map: &Map, name: &str| map.get(name)?.as_text().map(str::to_owned);
    let inside = |name: &str, member: &str| text(store.get(name)?.as_map()?, member);
    let mut payload = Map::new();
    payload.insert("checksum", inside("integrity", "checksum")?);
    payload.insert("export_date", text(store, "export_date")?);
    payload.insert("export_id", text(store, "export_id")?);
    payload.insert("owner_id", inside("owner", "id")?);
    Some(Value::Map(payload).to_jcs())
}

const ALGORITHMS: [&str; 6] = ["Ed25519", "ES256", "ES384", "RS256", "RS384", "RS512"];
