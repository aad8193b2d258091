//! A host of CAL: changes in two phases, templates, and what it keeps between statements.
//!
//! A change is prepared to a capability token, which is executed once, within five minutes, by the
//! same reach (CAL 1.13). The change itself is a put or a supersession of the handle: its policy,
//! its consents and its rules are those of every other door.

mod quota;
mod token;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use grainstore::crypto::{OsRandom, Random};
use grainstore::store::{Clock, SystemClock};
use grainstore::{Store, Time};
use serde_json::{Value as Json, json};

use crate::assemble::Preset;
use crate::code::Code;
use crate::error::Error;
use crate::place::{At, Placed};
use crate::run::{Abilities, Change, Facade, Failure, Operation, Options, changed};
use crate::statement::{Query, Statement};
use crate::template::Template;
use quota::Quotas;
use token::Claims;

/// The memory of a program between statements: the key of its capability tokens, those that are
/// spent, the changes of the last minute, and the templates.
///
/// ```
/// use grainstore::{Options as StoreOptions, Store, Time};
/// use grainstore_cal::{Body, Host, Options, parse};
///
/// let store = Store::in_memory(StoreOptions::default())?;
/// let host = Host::with_changes()?;
/// let text = r#"ADD belief SET subject = "alice" SET relation = "mg:prefers" SET object = "tea" REASON "told""#;
/// let prepared = host.prepare(&store, &parse(text).unwrap(), &Options::at(Time::from_ms(0))).unwrap();
/// let answer = host.redeem(&store, &prepared.token).unwrap().apply(&store).unwrap();
/// assert!(matches!(answer.body, Body::Changed { replaced: None, .. }));
/// # Ok::<(), grainstore::Error>(())
/// ```
pub struct Host {
    /// Of the tokens of changes, where they are enabled (CAL 1.1: Tier 1 is opt-in).
    key: Option<[u8; 64]>,
    clock: Arc<dyn Clock>,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    /// The tokens that were executed, until they would expire.
    spent: Vec<(i64, String)>,
    quotas: Quotas,
    /// By reach and name.
    templates: BTreeMap<(String, String), Template>,
}

/// A change that waits for its execution.
///
/// ```
/// use grainstore::{Options as StoreOptions, Store, Time};
/// use grainstore_cal::{Host, Options, parse};
///
/// let store = Store::in_memory(StoreOptions::default())?;
/// let query = parse("RECALL").unwrap();
/// let refused = Host::with_changes()?.prepare(&store, &query, &Options::at(Time::from_ms(0)));
/// assert_eq!(refused.unwrap_err().code(), "CAL-E002");
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// The capability token: with it the same reach makes the change, once.
    pub token: String,
    /// When the token ends.
    pub expires_at: Time,
    /// The effects of the change.
    pub plan: Json,
}

impl Prepared {
    /// Returns the answer of a host: the token, the plan, the tier.
    pub fn to_json(&self) -> Json {
        json!({
            "expires_at": self.expires_at.ms(),
            "plan": self.plan,
            "tier": 1,
            "token": self.token,
        })
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").finish_non_exhaustive()
    }
}

impl Default for Host {
    /// Returns a host that takes no changes.
    fn default() -> Self {
        Self {
            key: None,
            clock: Arc::new(SystemClock),
            kept: Mutex::default(),
        }
    }
}

impl Host {
    /// Returns a host that takes changes, with a key of its own.
    ///
    /// # Errors
    /// `ERR_NO_RANDOMNESS`.
    pub fn with_changes() -> Result<Self, grainstore::Error> {
        let mut key = [0; 64];
        OsRandom.fill(&mut key)?;
        Ok(Self {
            key: Some(key),
            ..Self::default()
        })
    }

    /// Takes the time of another clock than the machine's.
    #[must_use]
    pub fn by(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    fn key(&self) -> Result<&[u8; 64], Error> {
        self.key.as_ref().ok_or_else(|| {
            let message = "changes are not enabled";
            Error::new(Code::Tier1NotEnabled, At::default(), message)
        })
    }

    /// Prepares a change: nothing is stored, and its token can be executed.
    ///
    /// # Errors
    /// Codes of the statement; CAL-E002 for one that changes nothing; CAL-E044 for a handle that only
    /// reads; CAL-E040 to E042 and E046 for a grain that cannot be changed; those of the store.
    pub fn prepare(
        &self,
        store: &Store,
        query: &Query,
        options: &Options,
    ) -> Result<Prepared, Failure> {
        query.checked()?;
        let bound = query.clone().bound(&options.parameters)?;
        let operation = operation(&bound.statement)?;
        // Ruling A11: the mistakes of the text come first.
        bound.checked()?;
        let key = self.key()?;
        let change = self.change(store, &bound, options)?;
        let abilities = Facade::describe(store);
        let now = self.clock.now();
        let expires_at = Time::from_ms(now.ms().saturating_add(TOKEN_MS));
        let kind = change.grain().type_().name().unwrap_or_default();
        let left = self.kept().quotas.left(&actor(&abilities), operation, now);
        let claims = Claims {
            token_id: uuid()?,
            namespace: abilities.namespace,
            user_id: abilities.user,
            actor: abilities.token,
            tier: 1,
            allowed_ops: vec![operation.name().to_owned()],
            allowed_grain_types: vec![kind.to_owned()],
            issued_at: now.ms(),
            expires_at: expires_at.ms(),
            max_uses: 1,
            write_quota_remaining: left,
            statement: bound.to_string(),
        };
        Ok(Prepared {
            token: claims.sealed(key),
            expires_at,
            plan: change.plan(),
        })
    }

    /// Spends a token, and returns the change that it permits: the caller applies it.
    ///
    /// # Errors
    /// CAL-E044 for a token that is not of this host, expired, spent, or of another reach; CAL-E045
    /// for one of another namespace; CAL-E043 and E052 for a change too many; as
    /// [`Host::prepare`] for what has changed since.
    pub fn redeem(&self, store: &Store, token: &str) -> Result<Change, Failure> {
        let abilities = Facade::describe(store);
        let now = self.clock.now();
        let claims = Claims::opened(token, self.key()?).ok_or_else(invalid)?;
        if claims.expires_at <= now.ms()
            || claims.user_id != abilities.user
            || claims.actor != abilities.token
        {
            return Err(invalid().into());
        }
        if claims.namespace != abilities.namespace {
            let message = "the change was prepared in another namespace";
            return Err(Error::new(Code::OtherNamespace, At::default(), message).into());
        }
        let bound = crate::parse(&claims.statement)?;
        let operation = operation(&bound.statement)?;
        self.spend(&claims, &actor(&abilities), operation, now)?;
        // Words of time mean what they meant when the change was prepared.
        let options = Options::at(Time::from_ms(claims.issued_at));
        self.change(store, &bound, &options)
    }

    fn spend(
        &self,
        claims: &Claims,
        actor: &str,
        operation: Operation,
        now: Time,
    ) -> Result<(), Error> {
        let mut kept = self.kept();
        kept.spent.retain(|(until, _)| *until > now.ms());
        if kept.spent.iter().any(|(_, id)| *id == claims.token_id) {
            return Err(invalid());
        }
        kept.quotas.take(actor, operation, now)?;
        let spent = (claims.expires_at, claims.token_id.clone());
        kept.spent.push(spent);
        Ok(())
    }

    fn change(&self, store: &Store, bound: &Query, options: &Options) -> Result<Change, Failure> {
        if !Facade::describe(store).may_write {
            let error = Error::new(
                Code::Tier1NotEnabled,
                At::default(),
                "the handle only reads",
            );
            return Err(error.into());
        }
        changed(store, bound, options, self.clock.now())
    }

    /// Returns whether changes are enabled.
    pub const fn takes_changes(&self) -> bool {
        self.key.is_some()
    }

    /// Keeps a template.
    ///
    /// # Errors
    /// CAL-E088 for a name that is taken, CAL-E089 for one template too many.
    pub(crate) fn define(
        &self,
        reach: &str,
        name: &Placed<String>,
        template: Template,
    ) -> Result<(), Error> {
        let key = (reach.to_owned(), name.it.to_ascii_lowercase());
        let mut kept = self.kept();
        let is_preset = Preset::ALL.iter().any(|preset| preset.as_str() == key.1);
        if is_preset || kept.templates.contains_key(&key) {
            let message = format!("there is a template {} already", name.it);
            return Err(Error::new(Code::DuplicateTemplate, name.at, message));
        }
        let count = kept.templates.keys().filter(|(of, _)| of == reach).count();
        if count >= TEMPLATES_MAX {
            let message = format!("there are at most {TEMPLATES_MAX} templates");
            return Err(Error::new(Code::TooManyTemplates, name.at, message));
        }
        kept.templates.insert(key, template);
        Ok(())
    }

    pub(crate) fn template(&self, reach: &str, name: &str) -> Option<Template> {
        let key = (reach.to_owned(), name.to_ascii_lowercase());
        self.kept().templates.get(&key).cloned()
    }

    pub(crate) fn template_names(&self, reach: &str) -> Vec<String> {
        let kept = self.kept();
        let names = kept.templates.keys().filter(|(of, _)| of == reach);
        names.map(|(_, name)| name.clone()).collect()
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the operation of a change.
fn operation(statement: &Statement) -> Result<Operation, Error> {
    Ok(match statement {
        Statement::Add(_) => Operation::Add,
        Statement::Supersede(_) => Operation::Supersede,
        Statement::Revert(_) => Operation::Revert,
        other => {
            let message = format!(
                "{} changes nothing: it is asked, not prepared",
                other.name()
            );
            return Err(Error::new(Code::Unexpected, At::default(), message));
        }
    })
}

/// Returns whose changes are counted together.
fn actor(abilities: &Abilities) -> String {
    format!("{:?} {:?}", abilities.token, abilities.user)
}

/// One message for all, so that a caller who guesses learns nothing (CAL 1.13).
fn invalid() -> Error {
    let message =
        "the token permits no change: it is of this host and reach, for five minutes, once";
    Error::new(Code::Tier1NotEnabled, At::default(), message).suggest("prepare the change again")
}

/// Returns a random UUID (RFC 9562, version 4).
fn uuid() -> Result<String, grainstore::Error> {
    let mut bytes = [0_u8; 16];
    OsRandom.fill(&mut bytes)?;
    let bits = u128::from_be_bytes(bytes);
    let bits = (bits & !(0xf << 76) & !(0x3 << 62)) | (0x4 << 76) | (0x2 << 62);
    let hex = format!("{bits:032x}");
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    let parts = [
        part(0, 8),
        part(8, 12),
        part(12, 16),
        part(16, 20),
        part(20, 32),
    ];
    Ok(parts.join("-"))
}

/// CAL 1.9: the templates of one namespace.
const TEMPLATES_MAX: usize = 50;

/// CAL 1.13: a token ends after five minutes.
const TOKEN_MS: i64 = 300_000;
