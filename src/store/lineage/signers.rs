//! The keys that agree to a change, under all names that they are known by (OMS 23.2, 23.8).

use crate::codec::ContentAddress;
use crate::crypto::{Did, Signers, Statement};
use crate::grain::Grain;
use crate::policy::Protection;
use crate::store::Error;
use crate::store::instance::Inner;

use super::protection::EffectiveProtection;

impl Inner {
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
}
