//! Steps about what governs grains: consents and the erasures that their withdrawals demand, reads
//! that a regime requires to be recorded, and signatures.
//!
//! Each is drawn from the seed and done on the store and on the model.

use grainstore::grain::Grain;
use grainstore::policy::{Regime, TrustRule};
use grainstore::store::{Authorization, Error};
use grainstore::{ContentAddress, ErrorCode, Filter, Maintenance, Store};

use crate::workload::draft::{
    Kept, WARD, consent, key, resigned, resting, signed, watched, withdrawal,
};
use crate::workload::model::Model;
use crate::workload::oracle::Verdict;
use crate::workload::run::Run;

impl Run {
    /// Goes on with consents: grants one, stores a grain that rests on it, withdraws it, erases what
    /// rested on it.
    pub(crate) fn consent(&mut self) -> Verdict {
        let model = self.model();
        if !model.due().is_empty() && self.random.percent(60) {
            return self.run_erasures();
        }
        if let Some(withdrawn) = self.random.pick(&model.withdrawn()).copied()
            && self.random.percent(15)
        {
            return self.put_refused(&withdrawn);
        }
        match self.random.pick(&model.grants()).copied() {
            Some(grant) if model.is_basis(&grant) && self.random.percent(60) => {
                self.withdraw(&grant)
            }
            Some(grant) => self.put_resting(&grant),
            None => {
                let serial = self.next_serial();
                let grant = told(consent(serial))?;
                let address = grant.grain.address();
                self.put_one(&grant)?;
                // An error may have been the answer.
                match self.model().get(&address) {
                    Some(_) if self.store.is_some() => self.put_resting(&address),
                    _ => Ok(()),
                }
            }
        }
    }

    fn put_resting(&mut self, basis: &ContentAddress) -> Verdict {
        let serial = self.next_serial();
        let kept = told(resting(serial, basis, &mut self.random))?;
        self.put_one(&kept)
    }

    /// A grain that rests on a withdrawn consent is not stored, and the refusal is recorded.
    fn put_refused(&mut self, basis: &ContentAddress) -> Verdict {
        let serial = self.next_serial();
        let kept = told(resting(serial, basis, &mut self.random))?;
        let mut next = (*self.model()).clone();
        next.entries += 1;
        self.attempt(next, |store| match store.put(Grain::clone(&kept.grain)) {
            Err(error) if error.code() == ErrorCode::Consent => Ok(()),
            outcome => outcome.map(drop),
        })
        .map(drop)
    }

    fn withdraw(&mut self, grant: &ContentAddress) -> Verdict {
        let serial = self.next_serial();
        let withdrawal = told(withdrawal(serial, grant))?;
        self.put_one(&withdrawal)
    }

    /// Erases what rests on withdrawn consents: all of it in one erasure.
    fn run_erasures(&mut self) -> Verdict {
        let store = self.store.clone().ok_or("it is closed")?;
        let due = self.model().due();
        let tried = self.try_erasure(&due);
        let erased = store
            .admin()
            .and_then(|owner| owner.run_consent_erasures(ASKED));
        match erased {
            Ok(report) if report.erased.len() == due.len() && report.kept.is_empty() => {
                self.acknowledge(tried[2])
            }
            Ok(report) => Err(format!("{} of {} erased", report.erased.len(), due.len())),
            Err(error) => self.unknown(&tried, &error),
        }
    }

    /// Says that an erasure is tried; returns the states it goes through, the last one completed.
    pub(crate) fn try_erasure(&mut self, of: &[ContentAddress]) -> [usize; 3] {
        // An erasure that waits is completed first.
        let resumed = self.model().opened();
        let mut next = (*resumed).clone();
        let resumed = self.begin(resumed);
        next.delete(of);
        let begun = self.begin(next.clone());
        next.complete();
        [resumed, begun, self.begin(next)]
    }

    /// Requires reads of a namespace to be recorded, stores a grain in it, reads from it.
    pub(crate) fn audit(&mut self) -> Verdict {
        let model = self.model();
        if !model.is_audited {
            let regime = Regime::parse(REGIME).map_err(|error| error.to_string())?;
            let mut next = (*model).clone();
            next.is_audited = true;
            next.entries += 1;
            let set = |store: &Store| {
                let owner = store.admin()?;
                owner.set_regimes(vec![regime], ASKED)
            };
            return self.attempt(next, set).map(drop);
        }
        let watched_here = model.watched();
        match self.random.pick(&watched_here).copied() {
            Some(one) if self.random.percent(40) => {
                let mut next = (*model).clone();
                next.read("get", &[one]);
                match self.attempt_read(next, |store| store.get(&one))? {
                    Some(None) => Err(format!("{one} is gone")),
                    _ => Ok(()),
                }
            }
            Some(_) if self.random.percent(40) => {
                let mut next = (*model).clone();
                next.read("query", &watched_here);
                let filter = Filter::new().namespace(WARD);
                let found =
                    self.attempt_read(next, |store| store.query(&filter, usize::MAX, None))?;
                match found {
                    Some(found) if found.results.len() != watched_here.len() => {
                        Err(format!("{} of the watched", found.results.len()))
                    }
                    _ => Ok(()),
                }
            }
            _ => {
                let serial = self.next_serial();
                let kept = told(watched(serial))?;
                self.put_one(&kept)
            }
        }
    }

    /// Reads what is recorded. The entry survives the process when the answer is there, and the
    /// machine after a sync, which half of the readers ask for.
    fn attempt_read<T>(
        &mut self,
        next: Model,
        ask: impl FnOnce(&Store) -> Result<T, Error>,
    ) -> Verdict<Option<T>> {
        let state = self.begin(next);
        let store = self.store.clone().ok_or("it is closed")?;
        let is_synced = self.random.percent(50);
        let answer = match ask(&store) {
            Ok(answer) => answer,
            Err(error) => return self.unknown(&[state], &error).map(|()| None),
        };
        self.acknowledge_unsynced(state)?;
        if is_synced {
            match store.maintenance().and_then(Maintenance::sync) {
                Ok(_) => self.acknowledge(state)?,
                Err(error) => self.unknown(&[state], &error)?,
            }
        }
        Ok(Some(answer))
    }

    /// Trusts a signer, stores signed grains, and the trusted signer's signature where another
    /// signed first.
    pub(crate) fn sign(&mut self) -> Verdict {
        let model = self.model();
        if !model.is_trusting {
            let signer = key(TRUSTED).map_err(|error| error.to_string())?.did();
            let mut next = (*model).clone();
            next.is_trusting = true;
            next.entries += 1;
            let trust = |store: &Store| {
                let owner = store.admin()?;
                owner.trust(TrustRule::new(signer), "known")
            };
            self.attempt(next, trust)?;
            return Ok(());
        }
        let loose = model.all(|kept, _| kept.signer == Some(OTHER));
        match self.random.pick(&loose).copied() {
            Some(address) if self.random.percent(60) => {
                let kept = model.get(&address).ok_or("no such grain")?;
                let again = told(resigned(kept, TRUSTED))?;
                let mut next = (*model).clone();
                next.sign(&address, &again);
                let put = self.attempt(next, |store| store.put(Grain::clone(&again.grain)))?;
                match put {
                    Some(put) if put != address => Err("a signature changed an address".into()),
                    _ => Ok(()),
                }
            }
            _ => {
                let serial = self.next_serial();
                let signer = if self.random.percent(60) {
                    OTHER
                } else {
                    TRUSTED
                };
                let kept = told(signed(serial, signer, &mut self.random))?;
                self.put_one(&kept)
            }
        }
    }

    fn put_one(&mut self, kept: &Kept) -> Verdict {
        let mut next = (*self.model()).clone();
        next.put(kept);
        let put = self.attempt(next, |store| store.put(Grain::clone(&kept.grain)))?;
        match put {
            Some(put) if put != kept.grain.address() => Err("put returns another address".into()),
            _ => Ok(()),
        }
    }

    fn next_serial(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }
}

fn told(kept: Result<Kept, Error>) -> Verdict<Kept> {
    kept.map_err(|error| error.to_string())
}

/// Recorded with what only an authority decides.
pub(crate) const ASKED: Authorization<'_> = Authorization {
    reason: "asked",
    authority: "the owner",
};

/// The key of a trusted signer, and another.
const TRUSTED: usize = 0;
const OTHER: usize = 1;

const REGIME: &str = "name = \"own\"\ntitle = \"our own\"\n[[clause]]\nid = \"reads\"\n\
    cites = \"a contract\"\nsays = \"reads are recorded\"\nwhen = { namespaces = [\"ward\"] }\n\
    requires = { read_audit = true }\n";
