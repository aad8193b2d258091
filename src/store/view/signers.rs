//! Signers: the keys that agree to a change, under all names that they are known by (OMS 23.2,
//! 23.8), and the signature of a stored grain.

use crate::code::ErrorCode;
use crate::codec::ContentAddress;
use crate::crypto::{Did, Signers, Statement, kid};
use crate::grain::Grain;
use crate::ledger::{EntryId, Kind};
use crate::policy::{Protection, Trust};
use crate::store::Error;
use crate::store::records::{Record, TrustRecord};
use crate::store::view::{Core, EffectiveProtection};

/// The signer of a grain, and how far the signature is trusted here now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// The signer; the signature was verified when the grain was stored.
    pub signer: Did,
    /// How far the signer is trusted to write this grain, by the current trust rules.
    pub trust: Trust,
}

impl Core {
    /// Returns whose signatures agree that `new` replaces `old`: in `supersession_auth`, over our
    /// statement or over the blob without that field, and around the grain itself (rulings I10, P9).
    /// Those that do not verify count for nothing. Unless the caller brought a resolver, only a
    /// did:key can be checked.
    pub(crate) fn signers(&self, new: &Grain, old: &ContentAddress) -> Result<Signers, Error> {
        if new.field("supersession_auth").is_none() && new.envelope().is_none() {
            return Ok(Signers::default());
        }
        let statement = Statement::supersede(new, *old, self.store_id())?;
        Ok(statement.signers_in(new, self.resolver()))
    }

    /// Returns the keys of signers for a decision: each under its own names, and under that of an
    /// author of the protected grains whose key it is (ruling P8).
    pub(crate) fn voices(
        &self,
        signers: &Signers,
        protection: &EffectiveProtection,
    ) -> Vec<Vec<String>> {
        let mut voices = signers.voices();
        if voices.is_empty() {
            return voices;
        }
        for author in protection
            .protections()
            .iter()
            .filter_map(Protection::author)
        {
            let keys = self.keys_of(author);
            for voice in &mut voices {
                if keys.iter().any(|key| voice.contains(key)) {
                    voice.push(Did::bare(author).to_owned());
                }
            }
        }
        voices
    }

    /// Returns the keys of a DID as did:key texts; none of one that cannot be resolved.
    pub(crate) fn keys_of(&self, did: &str) -> Vec<String> {
        let Ok(did) = Did::bare(did).parse::<Did>() else {
            return Vec::new();
        };
        if did.key().is_some() {
            return vec![did.to_string()];
        }
        let keys = self.resolver().resolve(&did).unwrap_or_default();
        keys.iter().map(|key| key.did().to_string()).collect()
    }

    /// Returns the signer of a grain from this store: the signature was verified when it was
    /// stored, and the ledger proves that the bytes are the same.
    pub(crate) fn signature_of(&self, grain: &Grain) -> Option<Signature> {
        grain.envelope()?;
        let signer = kid(grain).ok()?;
        let trust = self.known_state().trust().all().judge(&signer, grain);
        Some(Signature { signer, trust })
    }

    /// Adds the signature to a signed grain that was read from a row: it is in the next entry, of
    /// the same frame, unless a signer who is trusted more has signed the grain since.
    pub(crate) fn with_signature(&self, row: EntryId, grain: Grain) -> Result<Grain, Error> {
        let behind = row.next();
        if !grain.is_signed() || behind.get() >= self.ledger().len() {
            return Ok(grain);
        }
        if let Some(envelope) = self.later_signature(&grain.address())? {
            return Ok(grain.with_envelope(envelope));
        }
        let entry = match self.entry(behind) {
            Ok(entry) if entry.header.kind == Kind::Signature => entry,
            // Without it the grain can be read but not delivered; a check reports it.
            Ok(_) => return Ok(grain),
            Err(error) if matches!(error.code(), ErrorCode::Erased | ErrorCode::Locked) => {
                return Ok(grain);
            }
            Err(error) => return Err(error),
        };
        match Record::decode(Kind::Signature, &entry.body) {
            Some(Record::Signature(signature)) if signature.of == grain.address() => {
                Ok(grain.with_envelope(signature.envelope))
            }
            _ => Ok(grain),
        }
    }

    /// Returns the signature that is shown for a grain in place of its first one.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn later_signature(&self, of: &ContentAddress) -> Result<Option<Vec<u8>>, Error> {
        let entry = self.known_state().trust().signed_in(of);
        let record = entry.map(|entry| self.record_at(entry)).transpose()?;
        Ok(match record {
            Some(Record::Trust(TrustRecord::Signed { envelope, .. })) => Some(envelope),
            _ => None,
        })
    }
}
