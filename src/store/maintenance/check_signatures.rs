//! The part of a check that verifies the signature entry behind every signed grain.

use crate::crypto::{self, Resolver, verify_signature};
use crate::grain::Grain;
use crate::ledger::{Entry, EntryId, Kind};
use crate::store::records::Record;

use super::report::{Report, Severity};

/// Checks, entry by entry, that each signed grain has its signature.
#[derive(Default)]
pub(crate) struct Signatures {
    /// The signed grain whose signature must come next, and its row.
    awaited: Option<(EntryId, Grain)>,
}

impl Signatures {
    pub(crate) fn see(&mut self, entry: &Entry<'_>, resolver: &dyn Resolver, report: &mut Report) {
        let row = entry.header.sequence;
        if entry.header.kind == Kind::Signature {
            let signature = match Record::decode(Kind::Signature, &entry.body) {
                Some(Record::Signature(signature)) => Some(signature),
                _ => None,
            };
            let of = self.awaited.take().filter(|(before, grain)| {
                let named = signature.as_ref().map(|signature| signature.of);
                before.next() == row && named == Some(grain.address())
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

    pub(crate) fn finish(&mut self, report: &mut Report) {
        if let Some((row, grain)) = self.awaited.take() {
            let address = grain.address();
            let message = format!("entry {row}, grain {address}: its signature is not there");
            report.find("signature-missing", Severity::Damage, message);
        }
    }
}

/// Reports a signature that does not verify.
pub(super) fn verify(grain: &Grain, resolver: &dyn Resolver, report: &mut Report) {
    match verify_signature(grain, resolver) {
        // A resolver that answered when it was stored may not be available now.
        Ok(_) | Err(crypto::Error::Unresolved { .. }) => {}
        Err(error) => {
            let message = format!("grain {}: {error}", grain.address());
            report.find("signature-invalid", Severity::Damage, message);
        }
    }
}
