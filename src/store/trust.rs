use crate::codec::{self, ContentAddress, Map, Value};
use crate::crypto::Did;
use crate::grain::{Grain, Namespace, Type};
use crate::ledger::Kind;
use crate::policy::{Trust, TrustRule, Trusts};

use super::commit::Frame;
use super::entry::{decode, encode};
use super::open::Inner;
use super::{Error, Store};

/// Who signed a grain, and how far that is to be believed here and now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// Who; the signature verified when the grain was stored.
    pub signer: Did,
    /// How far the signer is trusted to write this grain, by what the store's operator says now.
    pub trust: Trust,
}

impl Store {
    /// Trusts a signer as a rule says; why goes into the ledger with it. Saying the same again
    /// changes nothing. What is stored already is judged by it too.
    ///
    /// ```
    /// use grainstore::crypto::{Algorithm, OsRandom, SigningKey};
    /// use grainstore::policy::{Trust, TrustRule};
    /// use grainstore::{Draft, Options, Store, grain::Time};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// let key = SigningKey::generate(Algorithm::Ed25519, &OsRandom)?;
    /// let draft = Draft::event("hello").created_at(Time::from_ms(1)).to_be_signed();
    /// let address = store.put(draft.finish(Default::default())?.sign(&key, &key.did(), None)?)?;
    /// let trust = || store.signature(&address).map(|found| found.map(|it| it.trust));
    /// assert_ne!(trust()?, Some(Trust::Verified));
    /// store.trust(TrustRule::new(key.did()), "our own agent")?;
    /// assert_eq!(trust()?, Some(Trust::Verified));
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_TRUST` for a rule that closes everything to everybody else; storage errors.
    pub fn trust(&self, rule: TrustRule, reason: &str) -> Result<(), Error> {
        if rule.is_exclusive && rule.namespaces.is_empty() {
            return Err(Error::Trust {
                reason: "an exclusive rule names its namespaces",
            });
        }
        // Ruling I24: the empty text contains nothing, so the rule would say nothing.
        if rule.namespaces.contains(&Namespace::new("")) {
            return Err(Error::Trust {
                reason: "the empty text is not a namespace",
            });
        }
        let body = encode_added(&rule, reason)?;
        self.inner.change_trust(&body, |trusts| {
            let is_new = !trusts.rules().contains(&rule);
            trusts.add(rule);
            is_new
        })
    }

    /// Trusts a signer no longer, with nothing. Returns whether he was trusted before.
    ///
    /// # Errors
    /// Storage errors.
    pub fn distrust(&self, signer: &Did, reason: &str) -> Result<bool, Error> {
        let body = encode_removed(signer, reason)?;
        let mut was_trusted = false;
        self.inner.change_trust(&body, |trusts| {
            was_trusted = trusts.remove(signer);
            was_trusted
        })?;
        Ok(was_trusted)
    }

    /// Returns whom the store trusts with what, oldest first.
    pub fn trusted(&self) -> Vec<TrustRule> {
        self.inner.trusts.read().rules().to_vec()
    }

    /// Returns who signed a grain and how far that is to be believed; none of a grain that is not
    /// signed.
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`; as [`Store::get`].
    pub fn signature(&self, address: &ContentAddress) -> Result<Option<Signature>, Error> {
        let grain = self.peek(address)?;
        let grain = grain.ok_or(Error::NotFound { address: *address })?;
        Ok(self.inner.signature_of(&grain))
    }
}

impl Inner {
    /// Returns whose signature a grain carries; the grain comes from this store, so that it was
    /// verified before, and the ledger has proven that it is the same.
    pub(super) fn signature_of(&self, grain: &Grain) -> Option<Signature> {
        grain.envelope()?;
        let signer = grain.kid().ok()?;
        let trust = self.trusts.read().judge(&signer, grain);
        Some(Signature { signer, trust })
    }

    /// Refuses what nobody stores here by whatever way it comes.
    pub(super) fn refuse_unfit(&self, grain: &Grain) -> Result<(), Error> {
        Self::refuse_view(grain)?;
        Self::refuse_false_owner(grain)?;
        self.refuse_untrusted(grain)
    }

    /// Refuses what its signer, or nobody without a signature, may write; the signature of the
    /// grain has been checked.
    fn refuse_untrusted(&self, grain: &Grain) -> Result<(), Error> {
        let signer = match grain.is_signed() {
            true => Some(grain.kid()?),
            false => None,
        };
        let admitted = self.trusts.read().authorize_put(signer.as_ref(), grain);
        admitted.map_err(|reason| Error::Untrusted {
            address: grain.address(),
            reason,
        })
    }

    /// Changes what is trusted, in the ledger and then in memory, if there is anything to change.
    fn change_trust(
        &self,
        body: &[u8],
        change: impl FnOnce(&mut Trusts) -> bool,
    ) -> Result<(), Error> {
        let mut writer = self.lead_alone();
        let mut trusts = self.trusts.read().clone();
        if !change(&mut trusts) {
            return Ok(());
        }
        let mut frame = Frame::default();
        frame.record(Kind::Trust, body.to_vec());
        self.commit(&mut writer, &frame)?;
        *self.trusts.write() = trusts;
        Ok(())
    }

    /// Learns from the ledger what is trusted.
    pub(super) fn recover_trust(&self) -> Result<(), Error> {
        let mut trusts = Trusts::default();
        for row in self.index.snapshot().of_kind(Kind::Trust).rows()?.iter() {
            let body = self.ledger.read(row)?.body;
            // Trusting less than was meant is safe where an entry is not understood; guessing is not.
            if !apply(&mut trusts, &body) {
                tracing::warn!(row, "a trust entry is not understood and trusts nobody");
            }
        }
        *self.trusts.write() = trusts;
        Ok(())
    }
}

fn encode_added(rule: &TrustRule, reason: &str) -> Result<Vec<u8>, codec::Error> {
    let texts = |texts: &[String]| -> Value { texts.to_vec().into() };
    let types = rule.types.iter().map(|of| i64::from(of.byte()).into());
    let namespaces = rule.namespaces.iter();
    let namespaces = namespaces.map(|namespace| namespace.as_str().into());
    encode(Map::from_iter([
        ("op", Value::from("add")),
        ("did", rule.signer.as_str().into()),
        ("ns", Value::Array(namespaces.collect())),
        ("t", Value::Array(types.collect())),
        ("for", texts(&rule.authors)),
        ("only", Value::Bool(rule.is_exclusive)),
        ("why", reason.into()),
    ]))
}

fn encode_removed(signer: &Did, reason: &str) -> Result<Vec<u8>, codec::Error> {
    encode(Map::from_iter([
        ("op", "remove"),
        ("did", signer.as_str()),
        ("why", reason),
    ]))
}

/// Applies the body of a trust entry; returns whether it was understood.
fn apply(trusts: &mut Trusts, body: &[u8]) -> bool {
    let mut read = || {
        let map = decode(body)?;
        let signer: Did = map.get("did")?.as_text()?.parse().ok()?;
        match map.get("op")?.as_text()? {
            "add" => trusts.add(read_rule(&map, signer)?),
            "remove" => drop(trusts.remove(&signer)),
            _ => return None,
        }
        Some(())
    };
    read().is_some()
}

fn read_rule(map: &Map, signer: Did) -> Option<TrustRule> {
    let texts = |key: &str| {
        let values = map.get(key)?.as_array()?.iter();
        let texts = values.map(|value| value.as_text().map(str::to_owned));
        texts.collect::<Option<Vec<String>>>()
    };
    let types = map.get("t")?.as_array()?.iter();
    let types = types.map(|of| Some(Type::from_byte(u8::try_from(of.as_i64()?).ok()?)));
    Some(TrustRule {
        signer,
        namespaces: texts("ns")?.into_iter().map(Namespace::new).collect(),
        types: types.collect::<Option<_>>()?,
        authors: texts("for")?,
        is_exclusive: map.get("only")?.as_bool()?,
    })
}
