//! ADD, SUPERSEDE and REVERT: the grain that a statement stores, and the one that it replaces.
//!
//! The store judges both, by the rules of every put and supersession (OMS 23, 28.4).

use std::time::Instant;

use grainstore::codec::{Profile, Value as Stored};
use grainstore::store::Version;
use grainstore::{ContentAddress, Draft, ErrorCode, Grain, Store, Time, Type};
use serde_json::{Value as Json, json};

use super::Run;
use super::answer::{Answer, Body};
use super::facade::Facade;
use super::failure::Failure;
use super::field::digits_of;
use super::recall::not_found;
use super::statement::digits;
use super::test::renamed;
use crate::check::no_time;
use crate::code::Code;
use crate::condition::Value;
use crate::error::Error;
use crate::place::{At, Placed};
use crate::statement::{Add, Revert, Setting, Statement, Supersede};
use crate::time;
use crate::vocabulary::Kind;

/// The kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Add,
    Supersede,
    Revert,
}

impl Operation {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Supersede => "supersede",
            Self::Revert => "revert",
        }
    }

    pub(crate) const fn keyword(self) -> &'static str {
        match self {
            Self::Add => "ADD",
            Self::Supersede => "SUPERSEDE",
            Self::Revert => "REVERT",
        }
    }
}

/// A change that is permitted and not made yet.
///
/// ```
/// use grainstore::{Draft, Options as StoreOptions, Store, Time};
/// use grainstore_cal::{Host, Options, parse};
///
/// let store = Store::in_memory(StoreOptions::default())?;
/// let tea = store.put(Draft::belief("alice", "mg:prefers", "tea").confidence(0.9))?;
/// let query = parse(&format!("SUPERSEDE sha256:{tea} SET object = \"milk\" REASON \"told\"")).unwrap();
/// let host = Host::with_changes()?;
/// let prepared = host.prepare(&store, &query, &Options::at(Time::from_ms(0))).unwrap();
/// let change = host.redeem(&store, &prepared.token).unwrap();
/// assert_eq!(change.replaces(), Some(&tea));
/// assert_eq!(change.grain().text("object"), Some("milk"));
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Debug)]
pub struct Change {
    operation: Operation,
    grain: Grain,
    replaces: Option<ContentAddress>,
    reason: String,
    query_hash: ContentAddress,
}

impl Change {
    /// Returns the grain that it stores.
    pub const fn grain(&self) -> &Grain {
        &self.grain
    }

    /// Returns the grain that it replaces.
    pub const fn replaces(&self) -> Option<&ContentAddress> {
        self.replaces.as_ref()
    }

    /// Makes the change through a handle, under the rules of the store.
    ///
    /// # Errors
    /// CAL-E040 where the grain was replaced meanwhile; the codes of [`Store::put`] and
    /// [`Store::supersede`].
    pub fn apply(self, store: &Store) -> Result<Answer, Failure> {
        let began = Instant::now();
        let made = match &self.replaces {
            None => Facade::add(store, self.grain),
            Some(old) => Facade::supersede(store, old, self.grain, &self.reason),
        };
        let address = made.map_err(|error| match error.code() {
            ErrorCode::Conflict => Failure::from(superseded(At::default())),
            _ => Failure::from(error),
        })?;
        Ok(Answer {
            statement: self.operation.name(),
            body: Body::Changed {
                address,
                replaced: self.replaces,
            },
            warnings: Vec::new(),
            query_hash: self.query_hash,
            grains_scanned: 0,
            duration: began.elapsed(),
        })
    }

    /// Tells its effects, and nothing of the old grain: a plan reads nothing.
    pub(crate) fn plan(&self) -> Json {
        let kind = self.grain.type_().name().unwrap_or_default();
        let mut effects = vec![format!("stores a {kind}")];
        effects.extend(self.replaces.map(|old| format!("supersedes sha256:{old}")));
        json!({
            "operation": self.operation.name(),
            "grain_type": kind,
            "target": self.replaces.map(|old| format!("sha256:{old}")),
            "reason": self.reason,
            "side_effects": effects,
        })
    }
}

/// Returns the change of a bound statement.
pub(crate) fn changed(
    store: &Store,
    bound: &crate::Query,
    options: &super::Options,
    now: Time,
) -> Result<Change, Failure> {
    let run = Run::new(store, options, options.timeout);
    let (operation, draft, replaces, reason) = match &bound.statement {
        Statement::Add(add) => (Operation::Add, run.add(add)?, None, &add.reason),
        Statement::Supersede(it) => {
            let (draft, old) = run.supersede(it)?;
            (Operation::Supersede, draft, Some(old), &it.reason)
        }
        Statement::Revert(it) => {
            let (draft, head) = run.revert(it)?;
            (Operation::Revert, draft, Some(head), &it.reason)
        }
        _ => return Err(Error::new(Code::Unexpected, At::default(), "no change").into()),
    };
    let reason = reason.as_ref().and_then(|reason| reason.it.as_text());
    let reason = reason.unwrap_or_default().to_owned();
    let draft = match operation {
        // OMS has no field for it (ruling CAL24).
        Operation::Add => draft.set("x_reason", reason.as_str()),
        _ => draft
            .set("supersession_justification", reason.as_str())
            .set("invalidation_reason", reason.as_str()),
    };
    let draft = match store.capability() {
        Some(capability) => capability.fill(draft),
        None => draft,
    };
    let grain = draft.created_at_or(now).finish(Profile::Extended);
    Ok(Change {
        operation,
        grain: grain.map_err(grainstore::Error::from)?,
        replaces,
        reason,
        query_hash: ContentAddress::of(bound.to_string().as_bytes()),
    })
}

impl<F: Facade> Run<'_, F> {
    fn add(&self, add: &Add) -> Result<Draft, Failure> {
        let said = |name: &str| {
            let one = add.set.iter().find(|one| one.field.it == name);
            one.and_then(|one| one.value.as_text()).unwrap_or_default()
        };
        let draft = match add.grain_type.it {
            Kind::Belief => {
                let belief = Draft::belief(said("subject"), said("relation"), said("object"));
                belief.confidence(CONFIDENCE_DEFAULT)
            }
            // Ruling C12.
            Kind::Goal => Draft::goal(said("object")).set("goal_state", "active"),
            _ => Draft::observation(said("observer_id"), said("observer_type")),
        };
        self.with_settings(draft, &add.set)
    }

    fn supersede(&self, it: &Supersede) -> Result<(Draft, ContentAddress), Failure> {
        let (old, versions) = self.versions(&it.target)?;
        let version = belief(&versions, &old, it.target.at)?;
        if !version.status.is_current() {
            return Err(superseded(it.target.at).into());
        }
        let draft = self.with_settings(next(&version.grain), &it.set)?;
        Ok((draft.replacing(old), old))
    }

    /// Returns the content of the version before the target, in place of the current one (ruling C20).
    fn revert(&self, it: &Revert) -> Result<(Draft, ContentAddress), Failure> {
        let at = it.target.at;
        let (target, versions) = self.versions(&it.target)?;
        let mut head = belief(&versions, &target, at)?;
        let mut before = versions.iter();
        let before = before.find(|version| version.status.superseded_by == Some(target));
        let before = before.ok_or_else(|| {
            Error::new(Code::NoVersionBefore, at, "there is no version before it")
        })?;
        // A lineage has no circle: each step is one version further.
        for _ in 0..versions.len() {
            let Some(by) = head.status.superseded_by else {
                break;
            };
            head = belief(&versions, &by, at)?;
        }
        if !head.status.is_current() {
            return Err(superseded(at).into());
        }
        let head = head.grain.address();
        Ok((next(&before.grain).replacing(head), head))
    }

    /// Returns the address of a target, and the versions of its grain.
    fn versions(&self, target: &Placed<Value>) -> Result<(ContentAddress, Vec<Version>), Failure> {
        let address = self.address(digits(target)?, target.at)?;
        let address = address.ok_or_else(|| not_found(target.at))?;
        let (versions, _) = self.facade.get_history(&address, self.options.bytes_max)?;
        Ok((address, versions))
    }

    fn with_settings(&self, mut draft: Draft, set: &[Setting]) -> Result<Draft, Failure> {
        for one in set {
            let (name, at) = (one.field.it.as_str(), one.field.at);
            draft = match (name, &one.value) {
                ("tags", Value::Array(tags)) => {
                    let tags = tags.iter().filter_map(Value::as_text).map(str::to_owned);
                    draft.set("structural_tags", tags.collect::<Vec<String>>())
                }
                ("depends_on", value) => draft.set(name, self.addresses(value, at)?),
                ("deadline", value) => {
                    let window = time::within(value, self.options.now);
                    draft.set(name, window.ok_or_else(|| no_time(at))?.to)
                }
                ("goal_state", value) => match renamed(name, value.clone()) {
                    Value::Text(state) => draft.set(name, state),
                    _ => draft,
                },
                (_, Value::Text(text)) => draft.set(name, text.as_str()),
                (_, value) => match value.as_number() {
                    Some(n) => draft.set(name, n),
                    None => draft,
                },
            };
        }
        Ok(draft)
    }

    /// Returns the addresses of a value, each whole.
    fn addresses(&self, value: &Value, at: At) -> Result<Vec<String>, Failure> {
        let values = match value {
            Value::Array(values) => values.as_slice(),
            value => std::slice::from_ref(value),
        };
        let whole = values.iter().map(|value| match value {
            Value::Hash { digits } => {
                let found = self.address(digits, at)?;
                Ok(found.ok_or_else(|| not_found(at))?.to_string())
            }
            value => Ok(digits_of(value.as_text().unwrap_or_default()).to_owned()),
        });
        whole.collect()
    }
}

/// Returns a version of a belief.
fn belief<'a>(
    versions: &'a [Version],
    address: &ContentAddress,
    at: At,
) -> Result<&'a Version, Error> {
    let mut found = versions.iter();
    let found = found.find(|version| version.grain.address() == *address);
    let version = found.ok_or_else(|| not_found(at))?;
    match version.grain.type_() {
        Type::Belief => Ok(version),
        _ => Err(Error::new(
            Code::NotEvolvable,
            at,
            "a change is of a belief",
        )),
    }
}

/// Returns the next version of a grain, without what the store states itself.
fn next(grain: &Grain) -> Draft {
    let stated = ["superseded_by", "verification_status"];
    let stated = stated.iter().filter(|name| grain.field(name).is_some());
    stated.fold(Draft::next_version(grain), |draft, name| {
        draft.set(*name, Stored::Nil)
    })
}

fn superseded(at: At) -> Error {
    let error = Error::new(Code::Superseded, at, "the grain is no longer current");
    error.suggest("HISTORY shows its current version")
}

/// Ruling C12.
const CONFIDENCE_DEFAULT: f64 = 1.0;
