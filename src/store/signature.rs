use crate::code::ErrorCode;
use crate::codec::ContentAddress;
use crate::crypto::{self, Resolver};
use crate::grain::Grain;
use crate::ledger::{Entry, Kind};

use super::check::{Report, Severity};
use super::entry::SignatureEntry;
use super::open::Inner;
use super::{Error, Store};

impl Store {
    /// Returns a grain as it is delivered: its blob, or of a signed grain the COSE_Sign1 message
    /// with the blob inside (OMS 9.2). What [`Grain::from_delivery`] reads, here or elsewhere.
    ///
    /// ```
    /// use grainstore::crypto::{Algorithm, OsRandom, SigningKey};
    /// use grainstore::{Draft, Grain, Options, Store, grain::Time};
    ///
    /// let (here, there) = (Store::in_memory(Options::default())?, Store::in_memory(Options::default())?);
    /// let key = SigningKey::generate(Algorithm::Ed25519, &OsRandom)?;
    /// let draft = Draft::event("hello").created_at(Time::from_ms(1)).to_be_signed();
    /// let address = here.put(draft.finish(Default::default())?.sign(&key, &key.did(), None)?)?;
    ///
    /// let sent = here.delivery(&address)?.expect("it was just put");
    /// let (received, _) = Grain::from_delivery(&sent, Default::default())?;
    /// assert_eq!(there.put(received)?, address);
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_SIGNED_MISMATCH` for a signed grain whose signature is lost; as [`Store::get`].
    pub fn delivery(&self, address: &ContentAddress) -> Result<Option<Vec<u8>>, Error> {
        let Some(grain) = self.get(address)? else {
            return Ok(None);
        };
        Ok(Some(grain.to_delivery()?.into_owned()))
    }
}

impl Inner {
    /// Puts the signature to a signed grain that was read from a row: it is in the entry behind,
    /// which was written in the same frame.
    pub(super) fn with_signature(&self, row: u64, grain: Grain) -> Result<Grain, Error> {
        let behind = row.saturating_add(1);
        if !grain.is_signed() || behind >= self.ledger.len() {
            return Ok(grain);
        }
        let entry = match self.ledger.read(behind) {
            Ok(entry) if entry.header.kind == Kind::Signature => entry,
            // Without it the grain can be read and not delivered; a check says so.
            Ok(_) => return Ok(grain),
            Err(error) if error.code() == ErrorCode::Erased => return Ok(grain),
            Err(error) => return Err(error.into()),
        };
        match SignatureEntry::decode(&entry.body) {
            Some(signature) if signature.of == grain.address() => {
                Ok(grain.with_envelope(signature.envelope))
            }
            _ => Ok(grain),
        }
    }
}

/// Sees the entries of a ledger go by, and whether each signed grain has its signature.
#[derive(Default)]
pub(super) struct Signatures {
    /// The signed grain whose signature must come next, and its row.
    awaited: Option<(u64, Grain)>,
}

impl Signatures {
    pub(super) fn see(&mut self, entry: &Entry<'_>, resolver: &dyn Resolver, report: &mut Report) {
        let row = entry.header.sequence;
        if entry.header.kind == Kind::Signature {
            let signature = SignatureEntry::decode(&entry.body);
            let of = self.awaited.take().filter(|(before, grain)| {
                let named = signature.as_ref().map(|signature| signature.of);
                *before + 1 == row && named == Some(grain.address())
            });
            match (of, signature) {
                (Some((_, grain)), Some(signature)) => {
                    verify(&grain.with_envelope(signature.envelope), resolver, report);
                }
                _ => {
                    let message = format!("entry {row}: a signature of no grain before it");
                    report.find("signature-stray", Severity::Damage, message);
                }
            }
            return;
        }
        self.finish(report);
        if entry.header.kind == Kind::Grain
            && let Ok(grain) = Grain::from_proven(entry.body.to_vec())
            && grain.is_signed()
        {
            self.awaited = Some((row, grain));
        }
    }

    pub(super) fn finish(&mut self, report: &mut Report) {
        if let Some((row, grain)) = self.awaited.take() {
            let address = grain.address();
            let message = format!("entry {row}, grain {address}: its signature is not there");
            report.find("signature-missing", Severity::Damage, message);
        }
    }
}

fn verify(grain: &Grain, resolver: &dyn Resolver, report: &mut Report) {
    match grain.verify_signature(resolver) {
        // Who could be asked when it was stored may not be there now.
        Ok(_) | Err(crypto::Error::Unresolved { .. }) => {}
        Err(error) => {
            let message = format!("grain {}: {error}", grain.address());
            report.find("signature-invalid", Severity::Damage, message);
        }
    }
}
