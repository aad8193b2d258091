//! Trust rules: adding, removing and listing the signers that the operator trusts.

use crate::crypto::Did;
use crate::grain::Namespace;
use crate::policy::{TrustRule, Trusts};
use crate::store::records::{EntryBody, Frame, Record, TrustRecord};
use crate::store::{Error, Owner};

/// See [`Admin::trust`](crate::Admin::trust).
pub(crate) fn trust(owner: Owner<'_>, rule: TrustRule, reason: &str) -> Result<(), Error> {
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
    let engine = owner.engine();
    let record = Record::Trust(TrustRecord::Added {
        rule,
        reason: reason.to_owned(),
    });
    let mut txn = owner.begin()?;
    txn.record(&record)?;
    if adds_to(txn.frame(), engine.state().trust().all()) {
        txn.commit()?;
    }
    Ok(())
}

/// See [`Admin::distrust`](crate::Admin::distrust).
pub(crate) fn distrust(owner: Owner<'_>, signer: &Did, reason: &str) -> Result<bool, Error> {
    let engine = owner.engine();
    let mut txn = owner.begin()?;
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

/// See [`Admin::trusted`](crate::Admin::trusted).
pub(crate) fn trusted(owner: Owner<'_>) -> Vec<TrustRule> {
    owner.engine().state().trust().all().rules().to_vec()
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
