use clap::{Args, Subcommand};
use grainstore::store::{Consent, ConsentFilter, Due, Required};
use grainstore::{ErrorCode, Time};
use serde_json::{Value, json};

use super::mandate::Decision;
use crate::address::short;
use crate::exit::Exit;
use crate::filters::since;
use crate::printable::printable;
use crate::problem::Problem;
use crate::session::Session;

/// Find consents, carry out withdrawn ones, and demand consent where it must be given
///
/// A Consent grain with is_withdrawal takes effect as soon as it is stored: what rests on the
/// consent is no longer found, and nothing more that rests on it is stored. What is there is due
/// for erasure within a day, or as `deadline` says.
///
/// Example: grainstore consent run --reason "withdrawn by the user" --authority "the DPO"
#[derive(Debug, Args)]
pub(crate) struct ConsentTool {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show consents and withdrawals, those that have ended too; exit 1 if there is none
    ///
    /// With --at: the grants that were in force then. A grant begins with its valid_from, else with
    /// its creation, and ends with its valid_to, or when it was withdrawn or replaced here.
    List(List),
    /// Show what is to be erased, by when, and what holds keep
    Due,
    /// Erase what is due, all of it; exit 1 if holds or retention keep a part
    Run(Run),
    /// Say whether a namespace demands consent, or show which do
    Require(Require),
    /// Say within how many hours a withdrawal is carried out: 24 unless said, 720 at most
    Deadline(Deadline),
}

#[derive(Debug, Args)]
struct List {
    /// Who consents (subject_did)
    #[arg(long, value_name = "DID")]
    subject: Option<String>,
    /// To whom (grantee_did)
    #[arg(long, value_name = "DID")]
    grantee: Option<String>,
    /// To what: store, retrieve, share, process, infer, train, profile, …
    #[arg(long, value_name = "TEXT")]
    scope: Option<String>,
    /// What for (purpose, a field of your own)
    #[arg(long, value_name = "TEXT")]
    purpose: Option<String>,
    /// In force at this time (RFC 3339, a day, or milliseconds since 1970)
    #[arg(long, value_name = "TIME", value_parser = since)]
    at: Option<Time>,
}

#[derive(Debug, Args)]
struct Run {
    #[command(flatten)]
    decision: Decision,
    /// Do not ask: it cannot be undone
    #[arg(long)]
    yes: bool,
}

#[derive(Debug, Args)]
struct Require {
    /// The namespace, with those inside it; none to show what is demanded
    #[arg(requires = "reason", requires = "authority")]
    namespace: Option<String>,
    /// Store grains only under a consent with `store` in its scope
    #[arg(long, requires = "namespace")]
    write: bool,
    /// Show grains only under a consent with `retrieve` in its scope
    #[arg(long, requires = "namespace")]
    read: bool,
    /// Why, in words; kept for good
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Who decided it: a person, an office, a DID; kept for good
    #[arg(long, value_name = "WHO")]
    authority: Option<String>,
}

#[derive(Debug, Args)]
struct Deadline {
    /// The hours
    hours: u32,
    #[command(flatten)]
    decision: Decision,
}

impl ConsentTool {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        match self.action {
            Action::List(list) => list.run(session),
            Action::Due => due(session),
            Action::Run(run) => run.run(session),
            Action::Require(require) => require.run(session),
            Action::Deadline(Deadline { hours, decision }) => {
                let store = session.open()?;
                store.set_consent_deadline(hours, decision.mandate())?;
                session.done("deadline", format!("{hours} hours"))
            }
        }
    }
}

fn due(session: &mut Session) -> anyhow::Result<Exit> {
    let due = session.open()?.consent_due()?;
    if session.out.is_json() {
        let due: Vec<_> = due.iter().map(due_json).collect();
        session.out.json(&json!({ "due": due }))?;
        return Ok(Exit::Done);
    }
    for one in &due {
        session.out.line(line(one))?;
    }
    Ok(Exit::done_if(!due.is_empty()))
}

impl List {
    fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let filter = ConsentFilter {
            subject: self.subject.as_deref(),
            grantee: self.grantee.as_deref(),
            scope: self.scope.as_deref(),
            purpose: self.purpose.as_deref(),
            at: self.at,
        };
        let consents = session.open()?.consents(&filter)?;
        if session.out.is_json() {
            let consents: Vec<_> = consents.iter().map(consent_json).collect();
            session.out.json(&json!({ "consents": consents }))?;
            return Ok(Exit::Done);
        }
        for consent in &consents {
            session.out.line(consent_line(consent))?;
        }
        Ok(Exit::done_if(!consents.is_empty()))
    }
}

fn consent_line(consent: &Consent) -> String {
    let text = |field| printable(consent.grain.text(field).unwrap_or_default());
    let state = match (consent.withdraws, consent.withdrawn, consent.replaced_by) {
        (Some(of), _, _) => format!("withdraws {}", short(&of)),
        (_, Some(withdrawal), _) => format!("withdrawn {}", withdrawal.at),
        (_, _, Some(by)) => format!("replaced by {}", short(&by)),
        _ if consent.ended_at.is_some() => "contradicted".into(),
        _ => "stands".into(),
    };
    let (address, scope) = (short(&consent.grain.address()), scope(consent).join(","));
    let (subject, grantee) = (text("subject_did"), text("grantee_did"));
    let scope = printable(&scope);
    format!("{address}  {subject} to {grantee}  {scope}  {state}")
}

fn scope(consent: &Consent) -> Vec<&str> {
    let scope = consent.grain.field("scope");
    scope
        .into_iter()
        .flat_map(grainstore::codec::Value::texts)
        .collect()
}

fn consent_json(consent: &Consent) -> Value {
    let number = |field| {
        consent
            .grain
            .field(field)
            .and_then(grainstore::codec::Value::as_i64)
    };
    let withdrawn = consent.withdrawn;
    json!({
        "address": consent.grain.address().to_string(),
        "subject_did": consent.grain.text("subject_did"),
        "grantee_did": consent.grain.text("grantee_did"),
        "scope": scope(consent),
        "valid_from": number("valid_from"),
        "valid_to": number("valid_to"),
        "stored_at": consent.stored_at.ms(),
        "withdraws": consent.withdraws.map(|of| of.to_string()),
        "withdrawn_by": withdrawn.map(|withdrawal| withdrawal.by.to_string()),
        "withdrawn_at": withdrawn.map(|withdrawal| withdrawal.at.ms()),
        "replaced_by": consent.replaced_by.map(|by| by.to_string()),
        "ended_at": consent.ended_at.map(Time::ms),
    })
}

impl Run {
    fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        if !self.yes {
            let message = "what is erased is gone for good: say --yes";
            return Err(Problem::new(ErrorCode::Usage, message).into());
        }
        let done = session.open()?.consent_run(self.decision.mandate())?;
        if session.out.is_json() {
            let erased: Vec<_> = done.erased.iter().map(ToString::to_string).collect();
            let kept: Vec<_> = done.kept.iter().map(due_json).collect();
            session
                .out
                .json(&json!({ "erased": erased, "kept": kept }))?;
        } else {
            for address in &done.erased {
                session.out.line(format!("erased {address}"))?;
            }
            for one in &done.kept {
                session.out.line(line(one))?;
            }
        }
        Ok(Exit::done_if(done.kept.is_empty()))
    }
}

impl Require {
    fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open()?;
        if let (Some(namespace), Some(reason), Some(authority)) =
            (&self.namespace, &self.reason, &self.authority)
        {
            let required = Required {
                read: self.read,
                write: self.write,
            };
            let mandate = grainstore::store::Mandate { reason, authority };
            store.require_consent(namespace, required, mandate)?;
        }
        let required = store.required_consent();
        if session.out.is_json() {
            let demands: Vec<_> = required
                .iter()
                .map(|(name, what)| json!({ "namespace": name, "read": what.read, "write": what.write }))
                .collect();
            session.out.json(&json!({ "required": demands }))?;
            return Ok(Exit::Done);
        }
        for (name, what) in &required {
            let words = match (what.read, what.write) {
                (true, true) => "read and write",
                (true, false) => "read",
                (false, true) => "write",
                (false, false) => "nothing",
            };
            session.out.line(format!("{name}  {words}"))?;
        }
        Ok(Exit::done_if(!required.is_empty()))
    }
}

fn line(due: &Due) -> String {
    let kept = match due.kept {
        Some(rule) => format!("kept: {rule}"),
        None => format!("due {}", due.due_at),
    };
    let (address, consent) = (short(&due.address), short(&due.consent));
    format!("{address}  rests on {consent}  {kept}")
}

fn due_json(due: &Due) -> Value {
    json!({
        "address": due.address.to_string(),
        "consent": due.consent.to_string(),
        "withdrawal": due.withdrawal.to_string(),
        "withdrawn_at": due.withdrawn_at.ms(),
        "due_at": due.due_at.ms(),
        "kept": due.kept.map(grainstore::policy::Rule::name),
    })
}
