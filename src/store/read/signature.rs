//! The signature of a stored grain, and the grain as it is delivered with it.

use crate::codec::ContentAddress;
use crate::store::view::Signature;
use crate::store::{Error, Store};

impl Store {
    /// Returns the signer of a grain and how far the signature is trusted; `None` for an unsigned
    /// grain.
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`; as [`Store::get`].
    pub fn signature(&self, address: &ContentAddress) -> Result<Option<Signature>, Error> {
        let grain = self.peek(address)?;
        let grain = grain.ok_or(Error::NotFound { address: *address })?;
        Ok(self.engine.signature_of(&grain))
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
