//! The oracle: compares the answers of a store with those of the model.
//!
//! It asks through the public API only: reads, queries, searches, `check` and the head of the
//! chain.

use grainstore::grain::{ForeignId, Grain, Status, Time};
use grainstore::{ContentAddress, Filter, Store, Type};

use crate::workload::draft::{Kept, NAMESPACES, Role, SUBJECTS, WORDS, key};
use crate::workload::model::Model;
use grainstore::crypto::to_delivery;

/// The fault, in words.
pub(crate) type Verdict<T = ()> = Result<T, String>;

/// Holds a store to a model: the same grains in the same order, each verified against its address
/// and with its status; every index as a scan of the model answers; no finding of the store's own
/// check.
pub(crate) fn agrees(store: &Store, model: &Model) -> Verdict {
    holds(store, model)?;
    answers(store, model)?;
    audited(store, model)?;
    pending(store, model)?;
    let report = store
        .maintenance()
        .and_then(grainstore::Maintenance::check)
        .map_err(|error| format!("check: {error}"))?;
    let finding = report.findings.iter();
    let mut finding = finding.filter(|finding| !EXPECTED.contains(&finding.id));
    match finding.next() {
        Some(finding) => Err(format!("check finds {}: {}", finding.id, finding.message)),
        None => same(
            "grains that check counts",
            &report.grains,
            &(model.len() as u64),
        ),
    }
}

/// The findings of `check` that a crash may cause.
const EXPECTED: [&str; 1] = ["torn-tail"];

/// The grains themselves: what a store must be able to say even while its disk takes no writes.
pub(crate) fn holds(store: &Store, model: &Model) -> Verdict {
    let page = store.list(None, usize::MAX);
    let page = page.map_err(|error| format!("list: {error}"))?;
    if page.addresses != model.order() {
        return Err(format!(
            "it lists {} grains, not the {} that were stored",
            page.addresses.len(),
            model.len()
        ));
    }
    for (kept, expected) in model.grains() {
        let address = kept.grain.address();
        // A read of a watched grain would be recorded; `check` reads it against its address.
        if !(model.is_audited && kept.role == Role::Watched) {
            let found = store.get(&address);
            let found = found.map_err(|error| format!("get {address}: {error}"))?;
            if found.as_ref() != Some(&*kept.grain) {
                return Err(format!("get {address} is not the grain that was stored"));
            }
        }
        if let Some(signer) = kept.signer {
            signed_by(store, kept, signer)?;
        }
        let status = store.status(&address);
        let mut status = status.map_err(|error| format!("status of {address}: {error}"))?;
        if kept.is_protected && !status.is_current() && expected.is_current() {
            return Err(format!("{address} is protected and was superseded"));
        }
        // When it was superseded, the store's clock says.
        status.system_valid_to = status.system_valid_to.map(|_| Time::from_ms(0));
        let expected = Status {
            system_valid_to: expected.system_valid_to.map(|_| Time::from_ms(0)),
            ..*expected
        };
        if status != expected {
            return Err(format!(
                "status of {address} is {status:?}, not {expected:?}"
            ));
        }
    }
    Ok(())
}

/// Holds a signed grain to its signature.
fn signed_by(store: &Store, kept: &Kept, signer: usize) -> Verdict {
    let address = kept.grain.address();
    let told = |error: grainstore::Error| format!("signature of {address}: {error}");
    let expected = key(signer).map_err(told)?.did();
    let found = store.signature(&address).map_err(told)?;
    let found = found.map(|signature| signature.signer);
    same("signer", &found, &Some(expected))?;
    let delivery = store.delivery(&address);
    let delivery = delivery.map_err(told)?;
    let sent = to_delivery(&kept.grain);
    let sent = sent.map_err(|error| told(error.into()))?.into_owned();
    if delivery == Some(sent) {
        Ok(())
    } else {
        Err(format!("{address} is not delivered as it was signed"))
    }
}

/// Holds the recorded reads to those that were acknowledged.
fn audited(store: &Store, model: &Model) -> Verdict {
    let reads = store
        .admin()
        .and_then(|owner| owner.reads(None, None, usize::MAX));
    let reads = reads.map_err(|error| format!("reads: {error}"))?;
    let reads = reads
        .into_iter()
        .map(|read| (read.operation, read.addresses));
    let expected = model.reads().iter();
    let expected = expected.map(|(operation, grains)| ((*operation).to_owned(), grains.clone()));
    same(
        "recorded reads",
        &reads.collect::<Vec<_>>(),
        &expected.collect(),
    )
}

/// Holds the erasures that withdrawals demand to those of the model.
fn pending(store: &Store, model: &Model) -> Verdict {
    let pending = store.admin().and_then(grainstore::Admin::pending_erasures);
    let pending = pending.map_err(|error| format!("pending erasures: {error}"))?;
    let mut pending: Vec<_> = pending.iter().map(|one| one.address).collect();
    let mut expected = model.due();
    pending.sort_unstable();
    expected.sort_unstable();
    same("pending erasures", &pending, &expected)
}

/// Questions, each answered by a scan of the model.
fn answers(store: &Store, model: &Model) -> Verdict {
    for (id, address) in model.names() {
        let found = store.resolve(&ForeignId::new(FORMAT, SCOPE, id.as_str()));
        let found = found.map_err(|error| format!("resolve {id}: {error}"))?;
        same("foreign id", &found, &Some(*address))?;
    }
    for subject in (0..SUBJECTS).map(|nth| format!("s{nth}")) {
        let filter = Filter::new().subject(&subject);
        let expected = model
            .shown(|kept, status| status.is_current() && kept.subject.as_ref() == Some(&subject));
        query(store, &filter, &expected)?;
    }
    for namespace in NAMESPACES {
        let inside = format!("{namespace}:");
        let expected = model
            .shown(|kept, _| kept.namespace == namespace || kept.namespace.starts_with(&inside));
        query(
            store,
            &Filter::new().namespace(namespace).with_superseded(),
            &expected,
        )?;
    }
    let expected =
        model.shown(|kept, status| status.is_current() && kept.grain.type_() == Type::Event);
    query(store, &Filter::new().of_type(Type::Event), &expected)?;
    let middle = model.nth(model.len() / 2).map(Grain::created_at);
    if let Some(middle) = middle {
        let expected = model.shown(|kept, status| {
            let is_belief = kept.grain.type_() == Type::Belief;
            is_belief && status.is_current() && kept.grain.created_at() >= middle
        });
        let filter = Filter::new().of_type(Type::Belief).since(middle);
        query(store, &filter, &expected)?;
    }
    Ok(())
}

/// Searches, each answered by a scan of the model.
pub(crate) fn finds(store: &Store, model: &Model) -> Verdict {
    for word in (0..WORDS).step_by(3).map(|nth| format!("w{nth}")) {
        search(store, model, &word, |words| words.contains(&word))?;
    }
    let (one, two) = ("w1".to_owned(), "w2".to_owned());
    let follows = |words: &[String]| {
        let mut pairs = words.windows(2);
        pairs.any(|pair| pair == [one.clone(), two.clone()])
    };
    search(store, model, "\"w1 w2\"", follows)
}

fn query(store: &Store, filter: &Filter, expected: &[ContentAddress]) -> Verdict {
    let found = store.query(filter, usize::MAX, None);
    let found = found.map_err(|error| format!("{filter:?}: {error}"))?;
    let found: Vec<_> = found.results.iter().map(|found| found.address).collect();
    if found == expected {
        Ok(())
    } else {
        let (found, expected) = (found.len(), expected.len());
        Err(format!(
            "{filter:?} finds {found} grains where a scan finds {expected}"
        ))
    }
}

fn search(store: &Store, model: &Model, text: &str, says: impl Fn(&[String]) -> bool) -> Verdict {
    let found = store.search(text, &Filter::new(), usize::MAX);
    let found = found.map_err(|error| format!("search {text}: {error}"))?;
    let mut found: Vec<_> = found.results.iter().map(|found| found.address).collect();
    let mut expected = model.shown(|kept, status| status.is_current() && says(&kept.words));
    found.sort_unstable();
    expected.sort_unstable();
    if found == expected {
        Ok(())
    } else {
        let (found, expected) = (found.len(), expected.len());
        Err(format!(
            "search {text} finds {found} grains where a scan finds {expected}"
        ))
    }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: &T, expected: &T) -> Verdict {
    if found == expected {
        Ok(())
    } else {
        Err(format!("{what}: {found:?}, not {expected:?}"))
    }
}

/// Under which names the imports of the workload come.
pub(crate) const FORMAT: &str = "pam";
pub(crate) const SCOPE: &str = "someone";
