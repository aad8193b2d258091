//! Grains that were derived together: they are stored in one frame with the record of what they were
//! derived from, so that a crash leaves all of them or none.

use crate::code::CodeDomain;
use crate::codec::ContentAddress;
use crate::grain::{Draft, Grain, Time};
use crate::store::commit::NewGrain;
use crate::store::engine::{Caller, Engine};
use crate::store::rules::{Proposed, Way, non_superseding_parents};
use crate::store::txn::Transaction;
use crate::store::{Access, Error};

use super::supersede::{Added, Replacement};

/// A grain that is to be stored, and the one that it replaces.
pub(crate) struct Derived {
    pub(crate) grain: Draft,
    pub(crate) replaces: Option<ContentAddress>,
}

/// The outcome of each grain: its address, or the rule that refused it.
pub(crate) type Outcomes = Vec<Result<ContentAddress, Error>>;

/// Stores grains, and ends those that they replace, in one frame with a record of them all. A grain that a
/// rule refuses is left out, and the refusal is recorded as that of a put or a supersession.
///
/// `record` makes the record of the outcomes. It is asked while nothing else writes; if it makes none,
/// nothing is stored, and the answer is `None`.
///
/// # Errors
/// Storage errors, after which nothing is stored or the outcome is unknown; the refusal of the record.
pub(crate) fn store_together(
    store: &Access,
    derived: Vec<Derived>,
    justification: &str,
    record: impl FnOnce(&Outcomes) -> Result<Option<Draft>, Error>,
) -> Result<Option<Outcomes>, Error> {
    let (engine, caller) = (&*store.engine, store.caller()?);
    let now = engine.now();
    let derived = derived.into_iter();
    let steps = derived.map(|one| unless_refused(Step::new(engine, caller, now, one)));
    let steps = steps.collect::<Result<Vec<_>, _>>()?;
    let mut txn = Transaction::begin(engine, caller)?;
    let (mut outcomes, mut added) = (Vec::with_capacity(steps.len()), Vec::new());
    for step in steps {
        let outcome = step.and_then(|step| step.add(&mut txn, justification, &mut added));
        outcomes.push(unless_refused(outcome)?);
    }
    let Some(record) = record(&outcomes)? else {
        return Ok(None);
    };
    let record = NewGrain::from(record).finish(now, engine.options(), caller)?;
    add_new(&mut txn, &record)?;
    txn.commit()?;
    for one in added {
        one.inherit(engine);
    }
    Ok(Some(outcomes))
}

/// A grain that is finished, as far as possible without the right to write.
enum Step {
    New(Grain),
    Replacement(Replacement),
}

impl Step {
    fn new(
        engine: &Engine,
        caller: Caller<'_>,
        now: Time,
        derived: Derived,
    ) -> Result<Self, Error> {
        let grain = NewGrain::from(derived.grain).finish(now, engine.options(), caller)?;
        Ok(match derived.replaces {
            Some(old) => Self::Replacement(Replacement::new(engine, old, grain)?),
            None => Self::New(grain),
        })
    }

    fn add(
        self,
        txn: &mut Transaction<'_>,
        justification: &str,
        added: &mut Vec<Added>,
    ) -> Result<ContentAddress, Error> {
        match self {
            Self::New(grain) => {
                add_new(txn, &grain)?;
                Ok(grain.address())
            }
            Self::Replacement(replacement) => {
                added.extend(replacement.add(txn, Some(justification))?);
                Ok(replacement.address())
            }
        }
    }
}

/// Adds a grain that replaces none to the frame, unless it is stored or there already.
fn add_new(txn: &mut Transaction<'_>, grain: &Grain) -> Result<(), Error> {
    let address = grain.address();
    if txn.frame().find(&address).is_some() || txn.view().locate(&address)?.is_some() {
        return Ok(());
    }
    let non_superseding = non_superseding_parents(&txn.view(), grain)?;
    let caller = txn.caller();
    let proposed = Proposed {
        grain,
        way: Way::Put,
        capability: caller.capability.map(|it| &**it),
        actor: caller.actor,
        is_again: false,
        non_superseding: &non_superseding,
        replaces: None,
    };
    let judged = txn.admit(&|address| txn.frame().find(address), &proposed);
    let admitted = txn.recorded(judged)?;
    txn.frame_mut().grain(&admitted, grain.clone())?;
    txn.record_consequences(grain, None)
}

/// Returns a refusal as an outcome. Any other error ends the whole.
fn unless_refused<T>(outcome: Result<T, Error>) -> Result<Result<T, Error>, Error> {
    match outcome {
        Err(error) if error.code().domain() == CodeDomain::Storage => Err(error),
        outcome => Ok(outcome),
    }
}
