//! The detached signature beside a bundle (AIMEM 5.3): made and verified.

use std::io::{self, BufRead, Cursor, Seek, Write};
use std::path::{Path, PathBuf};

use crate::crypto::{Offline, Payload, Sign1, Signer, SigningKey};
use crate::interchange::{Error, Format, Place};

use super::source::Source;
use super::source::not_object;
use super::{canonical, code};

/// Verifies the signature beside a bundle of `format`, a document or lines: a detached COSE_Sign1
/// over the canonical text. Whether the signer is trusted is another question.
///
/// # Errors
/// `signature_invalid`, also for more than 32 MiB of canonical text; `not_object` for bytes that are
/// no bundle.
pub fn verify(bundle: &[u8], format: Format, signature: &[u8]) -> Result<Signer, Error> {
    verify_source(Cursor::new(bundle), format, signature)
}

/// As [`verify`], of a bundle that is read and not held.
pub(super) fn verify_source(
    bundle: impl BufRead + Seek + Send,
    format: Format,
    signature: &[u8],
) -> Result<Signer, Error> {
    let canonical = canonical(bundle, format)?;
    Sign1::parse(signature)
        .and_then(|signature| signature.verify(&canonical, &Offline))
        .map_err(|error| refuse(error.to_string()))
}

/// Makes the signature that stands beside a bundle of `format`, a document or lines.
///
/// ```
/// use grainstore::crypto::{Algorithm, OsRandom, SigningKey};
/// use grainstore::interchange::{Format, aimem};
///
/// let key = SigningKey::generate(Algorithm::Ed25519, &OsRandom).unwrap();
/// let signature = aimem::sign(b"{\"format\": \"aimem-bundle\"}", Format::Aimem, &key)?;
/// let signer = aimem::verify(b"{ \"format\":\"aimem-bundle\" }", Format::Aimem, &signature)?;
/// assert_eq!(signer.did, key.did());
/// # Ok::<(), grainstore::interchange::Error>(())
/// ```
///
/// # Errors
/// `not_object` for bytes that are no bundle; `signature_invalid` for more than 32 MiB of canonical
/// text, which could not be verified.
pub fn sign(bundle: &[u8], format: Format, key: &SigningKey) -> Result<Vec<u8>, Error> {
    let canonical = canonical(Cursor::new(bundle), format)?;
    let payload = Payload::Detached(&canonical);
    Sign1::sign(MEDIA_TYPE, payload, key, &key.did(), None)
        .map_err(|error| refuse(error.to_string()))
}

/// Returns the paths of a possible signature: `NAME.sig`, and the same without the extensions of
/// NAME.
pub(crate) fn signature_paths(bundle: &Path) -> impl Iterator<Item = PathBuf> {
    let name = bundle.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.split('.').next().unwrap_or_default().to_owned();
    let names = [format!("{name}.sig"), format!("{stem}.sig")];
    let bundle = bundle.to_path_buf();
    names
        .into_iter()
        .map(move |name| bundle.with_file_name(name))
}

/// Returns the signed bytes: whole, because they are hashed twice.
fn canonical(bundle: impl BufRead + Seek + Send, format: Format) -> Result<Vec<u8>, Error> {
    let source = match format {
        Format::AimemNdjson => Source::lines(bundle),
        _ => Source::document(bundle),
    };
    let first = |errors: Vec<Error>| errors.into_iter().next();
    let mut source = source.map_err(|errors| {
        let none = || not_object("is no bundle".into());
        first(errors).unwrap_or_else(none)
    })?;
    let mut canonical = Bounded(Vec::new());
    let written = canonical::canonical(&mut source, &mut canonical, |_| (), drop);
    if canonical.0.len() >= SIGNED_LEN_MAX {
        let message = format!(
            "a bundle of more than {} MiB is neither signed nor verified",
            SIGNED_LEN_MAX >> 20
        );
        return Err(refuse(message));
    }
    written.map(|_| canonical.0)
}

/// Text up to a length; what would make it longer is an error.
struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = SIGNED_LEN_MAX.saturating_sub(self.0.len());
        let fitting = bytes.get(..room.min(bytes.len())).unwrap_or_default();
        self.0.extend_from_slice(fitting);
        // Nothing written of something is `WriteZero`.
        Ok(fitting.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn refuse(message: String) -> Error {
    Error::format(code::SIGNATURE_INVALID, Place::File, message)
}

/// The most canonical text, in bytes: it is copied once to be verified.
const SIGNED_LEN_MAX: usize = 32 * 1024 * 1024;
const MEDIA_TYPE: &str = "application/aimem-bundle+json";
