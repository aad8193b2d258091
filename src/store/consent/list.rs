//! The list of consents with their later state: found by subject, grantee, scope, purpose and time.

use crate::codec::{ContentAddress, Value, nfc};
use crate::grain::{Grain, Time, Type};
use crate::index::{Family, Rows, Snapshot};
use crate::ledger::EntryId;
use crate::policy::is_withdrawal;
use crate::store::engine::Engine;
use crate::store::read::read_recorder;
use crate::store::records::Frame;
use crate::store::state::Withdrawal;
use crate::store::view::withdrawn_by;
use crate::store::{Error, Owner};

/// A filter of consents: every given condition must hold (OMS 8.10).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ConsentFilter<'a> {
    /// The person who consents: `subject_did`.
    pub subject: Option<&'a str>,
    /// The party that receives the consent: `grantee_did`.
    pub grantee: Option<&'a str>,
    /// The permitted operation: one of `scope`.
    pub scope: Option<&'a str>,
    /// The purpose: `purpose`, a text or a list of them. The specification has no field for it.
    pub purpose: Option<&'a str>,
    /// In force at this time: a grant inside its window, not yet withdrawn and not yet replaced.
    pub at: Option<Time>,
}

/// A Consent with its later state: a grant, or a withdrawal of one.
#[derive(Debug, Clone)]
pub struct Consent {
    /// The grain.
    pub grain: Grain,
    /// The time at which it was stored here.
    pub stored_at: Time,
    /// Whether it withdraws a consent; a withdrawal is never in force as one.
    pub is_withdrawal: bool,
    /// The consent it withdraws; `None` for a grant, and for a withdrawal from elsewhere whose
    /// `prior_consent` is no address and which has no effect.
    pub withdraws: Option<ContentAddress>,
    /// Whether the consent it withdraws is stored here; while it is not, the withdrawal waits for it.
    pub is_grant_here: bool,
    /// The Consent that withdrew it; `None` while it is in force.
    pub withdrawn: Option<Withdrawal>,
    /// The grain that replaced it, which may be a withdrawal.
    pub replaced_by: Option<ContentAddress>,
    /// The time since which it is not current: replaced, withdrawn or contradicted.
    pub ended_at: Option<Time>,
}

impl Consent {
    /// Returns whether it is in force at a time: a grant, from its `valid_from`, else its creation,
    /// until its `valid_to`, or until it is withdrawn or replaced.
    pub fn is_in_force_at(&self, time: Time) -> bool {
        let bound = |field| self.grain.field(field).and_then(Value::as_i64);
        let from = bound("valid_from").map_or_else(|| self.grain.created_at(), Time::from_ms);
        let ended = self.withdrawn.map(|withdrawal| withdrawal.at);
        let ends = [bound("valid_to").map(Time::from_ms), ended, self.ended_at];
        !self.is_withdrawal && from <= time && ends.into_iter().flatten().all(|end| time < end)
    }
}

/// See [`Admin::consents`](crate::Admin::consents).
pub(crate) fn consents(
    owner: Owner<'_>,
    filter: &ConsentFilter<'_>,
) -> Result<Vec<Consent>, Error> {
    owner.authorize_whole()?;
    let snapshot = owner.store().snapshot();
    let mut found = Vec::new();
    for row in filter.rows(&snapshot)?.iter() {
        let consent = consent_at(owner.engine(), &snapshot, row)?;
        let is_asked = filter.is_of(&consent.grain);
        if is_asked && filter.at.is_none_or(|at| consent.is_in_force_at(at)) {
            found.push(consent);
        }
    }
    let grains = found.iter().map(|consent| &consent.grain);
    read_recorder(owner.store(), "consents").all(grains)?;
    Ok(found)
}

fn consent_at(engine: &Engine, snapshot: &Snapshot, row: EntryId) -> Result<Consent, Error> {
    let version = engine.as_of(snapshot).version_at(row)?;
    let address = version.grain.address();
    let withdraws = withdrawn_by(&version.grain);
    let is_withdrawal = is_withdrawal(&version.grain);
    let withdrawn = match is_withdrawal {
        true => None,
        false => engine
            .as_of(snapshot)
            .withdrawal_of(&Frame::default(), &address)?,
    };
    let is_grant_here = match withdraws {
        Some(grant) => engine.as_of(snapshot).locate(&grant)?.is_some(),
        None => false,
    };
    Ok(Consent {
        is_withdrawal,
        withdraws,
        is_grant_here,
        withdrawn,
        replaced_by: version.status.superseded_by,
        ended_at: version.status.system_valid_to,
        stored_at: version.stored_at,
        grain: version.grain,
    })
}

impl ConsentFilter<'_> {
    fn texts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let asked = [self.subject, self.grantee, self.scope, self.purpose];
        let asked = Family::CONSENTS.into_iter().zip(asked);
        asked.filter_map(|(field, text)| Some((field, text?)))
    }

    /// Returns the rows that the index has for it.
    fn rows(&self, snapshot: &Snapshot) -> Result<Rows, Error> {
        let mut narrowed: Option<Rows> = None;
        for (field, text) in self.texts() {
            let rows = snapshot.with_consent(field, text).rows()?;
            match &mut narrowed {
                None => narrowed = Some(rows),
                Some(known) => known.intersect(&rows),
            }
        }
        let mut rows = match narrowed {
            Some(rows) => rows,
            None => snapshot.of_type(Type::Consent).rows()?,
        };
        if let Some(at) = self.at {
            let over = snapshot.in_time(Family::ValidTo, None, Some(at));
            // Used only where it costs less than reading the consents.
            if over.estimate()?.rows < rows.len() {
                let over = over.rows()?;
                rows = rows.iter().filter(|row| !over.contains(*row)).collect();
            }
        }
        Ok(rows)
    }

    /// Returns whether a grain meets the filter. The index holds hashes of texts, so the texts are
    /// checked.
    fn is_of(&self, grain: &Grain) -> bool {
        let mut asked = self.texts();
        asked.all(|(field, text)| {
            let (value, text) = (grain.field(field), nfc(text));
            let one = value.and_then(Value::as_text);
            let mut all = one
                .into_iter()
                .chain(value.into_iter().flat_map(Value::texts));
            all.any(|one| one == text)
        })
    }
}
