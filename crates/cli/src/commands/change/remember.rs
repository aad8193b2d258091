//! `grainstore remember`: stores a belief or an event from plain words.
//!
//! Grains of every type, and many of them, are stored by `put`.

use clap::{Args, ValueEnum};
use grainstore::codec::{Profile, Value};
use grainstore::store::{Clock, Create, SystemClock};
use grainstore::{Draft, ErrorCode, Grain, also_believed};
use serde_json::json;

use super::assignment::assign;
use crate::args::address::short;
use crate::args::{As, share};
use crate::error::{CliError, Exit};
use crate::output::Output;
use crate::session::Session;

/// Store a belief or an event from plain words
///
/// With --subject and --relation the text is the object of a belief, else it is the content of an
/// event. The time is now, the source is the user (source_type user_explicit). A store is created if
/// there is none. A belief with the subject of current ones and a like relation is stored beside them,
/// with a warning that shows them; --if-same decides otherwise.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  grainstore remember \"I moved to Porto\" --user ana
  grainstore remember tea --subject ana --relation likes
  grainstore remember Porto --subject ana --relation lives_in --if-same supersede
  grainstore remember \"water the plants\" --set structural_tags=home --set importance=0.8")]
pub(crate) struct Remember {
    /// Text of the event, or object of the belief
    text: String,
    /// Subject of the belief
    #[arg(long, value_name = "TEXT", requires = "relation")]
    subject: Option<String>,
    /// Relation of the belief, such as likes or mg:prefers
    #[arg(long, value_name = "TEXT", requires = "subject")]
    relation: Option<String>,
    /// Confidence of the belief, from 0 to 1
    #[arg(long, value_name = "NUMBER", default_value_t = 1.0, value_parser = share)]
    confidence: f64,
    /// Person that the grain belongs to (user_id)
    #[arg(long, value_name = "ID")]
    user: Option<String>,
    /// Namespace
    #[arg(long, value_name = "NAME")]
    namespace: Option<String>,
    /// Session (session_id)
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Structural tag; may be repeated
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Set any other field; may be repeated. `grainstore schema` lists them
    #[arg(long, value_name = "FIELD=VALUE")]
    set: Vec<String>,
    /// Where current beliefs of the namespace and the user have the same subject and a like relation
    /// (`lives in`, `lives_in`): supersede the one, keep them all, or refuse
    #[arg(long, value_enum, value_name = "CHOICE", requires = "relation")]
    if_same: Option<IfSame>,
    #[command(flatten)]
    as_whom: As,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum IfSame {
    Supersede,
    Keep,
    Refuse,
}

impl Remember {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let mut draft = self.draft()?;
        if let Some(capability) = self.as_whom.capability()? {
            draft = capability.fill(draft);
        }
        let draft = draft.created_at_or(SystemClock.now());
        // Judged before the store is opened: a grain that is none creates no store.
        let grain = draft.clone().finish(Profile::Extended)?;
        let store = session.open_or(Create::IfMissing)?;
        let handle = self.as_whom.narrow(&store)?;
        let same = also_believed(&handle, &grain)?;
        let named = same.iter().map(|grain| short(&grain.address()));
        let named = named.collect::<Vec<_>>().join(", ");
        let superseded = match (self.if_same, same.as_slice()) {
            (Some(IfSame::Supersede), [one]) => Some(one.address()),
            (Some(IfSame::Supersede), [_, _, ..]) => {
                let message = format!("current beliefs have this subject and relation: {named}");
                let error = CliError::new(ErrorCode::Ambiguous, message);
                return Err(error
                    .advising("`grainstore correct ADDRESS` replaces one of them")
                    .into());
            }
            (Some(IfSame::Refuse), [_, ..]) => {
                let message = format!("a current belief has this subject and relation: {named}");
                let error = CliError::new(ErrorCode::Conflict, message);
                let hint =
                    "pass --if-same supersede to replace it, or --if-same keep to store both";
                return Err(error.advising(hint).into());
            }
            _ => None,
        };
        let (address, is_new) = match superseded {
            Some(old) => (handle.supersede(&old, draft.derived_from(old), None)?, true),
            None => {
                let put = handle.insert(draft)?;
                (put.address, put.is_new)
            }
        };
        if !is_new {
            session.out.note("it was stored before");
        }
        if self.if_same.is_none() {
            note_also_believed(&session.out, &same, "--if-same supersede replaces one");
        }
        let warnings = handle.warnings(&grain)?;
        let warnings: Vec<_> = warnings.iter().map(ToString::to_string).collect();
        for warning in &warnings {
            session.out.note(warning);
        }
        if session.out.is_json() {
            let same = same.iter().map(|grain| grain.address().to_string());
            session.out.json(&json!({
                "address": address.to_string(),
                "new": is_new,
                "supersedes": superseded.map(|old| old.to_string()),
                "same": same.collect::<Vec<_>>(),
                "warnings": warnings,
            }))?;
        } else {
            session.out.line(address)?;
        }
        Ok(Exit::Done)
    }

    fn draft(&self) -> anyhow::Result<Draft> {
        let draft = match (&self.subject, &self.relation) {
            (Some(subject), Some(relation)) => {
                Draft::belief(subject, relation, self.text.as_str()).confidence(self.confidence)
            }
            _ => Draft::event(&self.text),
        };
        let mut draft = draft.source("user_explicit");
        if let Some(user) = &self.user {
            draft = draft.user(user);
        }
        if let Some(namespace) = &self.namespace {
            draft = draft.namespace(namespace);
        }
        if let Some(session) = &self.session {
            draft = draft.session(session);
        }
        draft = self.tag.iter().fold(draft, Draft::tag);
        let (of, mut fields) = (draft.type_(), draft.fields().clone());
        assign(&mut fields, of, &self.set)?;
        Ok(Draft::from_value(Value::Map(fields))?)
    }
}

/// Says which beliefs a new version stands beside, and how one of them is replaced.
pub(super) fn note_also_believed(out: &Output, same: &[Grain], advice: &str) {
    if same.is_empty() {
        return;
    }
    out.note(format!("also believed; {advice}:"));
    for grain in same {
        out.note(format!(
            "  {}  {}",
            short(&grain.address()),
            grain.summary()
        ));
    }
}
