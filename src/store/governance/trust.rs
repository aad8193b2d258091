//! Trust rules: adding, removing and listing the signers that the operator trusts.

use crate::crypto::Did;
use crate::grain::Namespace;
use crate::policy::{TrustRule, Trusts};
use crate::store::records::{EntryBody, Frame, Record, TrustRecord};
use crate::store::{Admin, Error};

impl Admin<'_> {
    /// Adds a trust rule for a signer; the reason goes into the ledger. Adding the same rule again
    /// changes nothing. The rule also applies to grains stored before.
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
    /// store.admin()?.trust(TrustRule::new(key.did()), "our own agent")?;
    /// assert_eq!(trust()?, Some(Trust::Verified));
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_TRUST` for an exclusive rule without a namespace, which would exclude all other
    /// writers; storage errors.
    pub fn trust(self, rule: TrustRule, reason: &str) -> Result<(), Error> {
        if rule.is_exclusive && rule.namespaces.is_empty() {
            return Err(Error::Trust {
                reason: "an exclusive rule names its namespaces",
            });
        }
        // Ruling I24: the empty text contains nothing, so the rule would have no effect.
        if rule.namespaces.contains(&Namespace::new("")) {
            return Err(Error::Trust {
                reason: "the empty text is not a namespace",
            });
        }
        let engine = self.engine();
        let record = Record::Trust(TrustRecord::Added {
            rule,
            reason: reason.to_owned(),
        });
        let mut txn = self.begin()?;
        txn.record(&record)?;
        if adds_to(txn.frame(), engine.state().trust().all()) {
            txn.commit()?;
        }
        Ok(())
    }

    /// Removes all trust rules of a signer. Returns whether there were any.
    ///
    /// # Errors
    /// Storage errors.
    pub fn distrust(self, signer: &Did, reason: &str) -> Result<bool, Error> {
        let engine = self.engine();
        let mut txn = self.begin()?;
        let is_trusted = {
            let state = engine.state();
            let mut rules = state.trust().all().rules().iter();
            rules.any(|rule| rule.signer == *signer)
        };
        if is_trusted {
            txn.record(&Record::Trust(TrustRecord::Removed {
                signer: signer.clone(),
                reason: reason.to_owned(),
            }))?;
            txn.commit()?;
        }
        Ok(is_trusted)
    }

    /// Returns the trust rules, oldest first.
    pub fn trusted(self) -> Vec<TrustRule> {
        self.engine().state().trust().all().rules().to_vec()
    }
}

/// Returns whether a rule in a frame is none of some rules, compared as the ledger keeps it.
fn adds_to(frame: &Frame, trusts: &Trusts) -> bool {
    frame.entries().iter().any(|entry| match entry.body() {
        EntryBody::Record(Record::Trust(TrustRecord::Added { rule, .. }), _) => {
            !trusts.rules().contains(rule)
        }
        _ => false,
    })
}
