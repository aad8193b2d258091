//! The signature of a stored grain, and the grain as it is delivered with it.

use crate::code::ErrorCode;
use crate::codec::ContentAddress;
use crate::crypto::Did;
use crate::grain::Grain;
use crate::ledger::{EntryId, Kind};
use crate::policy::Trust;
use crate::store::instance::Inner;
use crate::store::records::Record;
use crate::store::{Error, Store};

/// The signer of a grain, and how far the signature is trusted here now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// The signer; the signature was verified when the grain was stored.
    pub signer: Did,
    /// How far the signer is trusted to write this grain, by the current trust rules.
    pub trust: Trust,
}

impl Store {
    /// Returns the signer of a grain and how far the signature is trusted; `None` for an unsigned
    /// grain.
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`; as [`Store::get`].
    pub fn signature(&self, address: &ContentAddress) -> Result<Option<Signature>, Error> {
        let grain = self.peek(address)?;
        let grain = grain.ok_or(Error::NotFound { address: *address })?;
        Ok(self.inner.signature_of(&grain))
    }

    /// Returns a grain as it is delivered: its blob, or for a signed grain the COSE_Sign1 message
    /// with the blob inside (OMS 9.2). [`Grain::from_delivery`](crate::Grain::from_delivery) reads it.
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
    /// Returns the signer of a grain from this store: the signature was verified when it was
    /// stored, and the ledger proves that the bytes are the same.
    pub(crate) fn signature_of(&self, grain: &Grain) -> Option<Signature> {
        grain.envelope()?;
        let signer = grain.kid().ok()?;
        let trust = self.state().trust().all().judge(&signer, grain);
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
}
