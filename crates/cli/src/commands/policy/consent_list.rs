//! `grainstore consent list`: consents and withdrawals, with their state.
//!
//! Consents are found by their fields and by a point in time.

use clap::Args;
use grainstore::Time;
use grainstore::store::{Consent, ConsentFilter};
use serde_json::{Map, Value, json};

use crate::args::address::short;
use crate::args::{Listing, time_from};
use crate::error::Exit;
use crate::output::printable;
use crate::session::Session;

#[derive(Debug, Args)]
pub(super) struct List {
    /// Data subject who consents (subject_did)
    #[arg(long, value_name = "DID")]
    subject: Option<String>,
    /// Recipient of the consent (grantee_did)
    #[arg(long, value_name = "DID")]
    grantee: Option<String>,
    /// Scope: store, retrieve, share, process, infer, train, profile, …
    #[arg(long, value_name = "TEXT")]
    scope: Option<String>,
    /// Purpose, if the application records one (purpose)
    #[arg(long, value_name = "TEXT")]
    purpose: Option<String>,
    /// In force at this time (a date, a time, or the words for one)
    #[arg(long, value_name = "TIME", value_parser = time_from)]
    at: Option<Time>,
    #[command(flatten)]
    listing: Listing,
}

impl List {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let filter = ConsentFilter {
            subject: self.subject.as_deref(),
            grantee: self.grantee.as_deref(),
            scope: self.scope.as_deref(),
            purpose: self.purpose.as_deref(),
            at: self.at,
        };
        let consents = session.open_to_read()?.admin()?.consents(&filter)?;
        if let Some(mut rows) = self.listing.rows(&mut session.out, &FIELDS) {
            for consent in &consents {
                rows.add(&record(consent), || consent_json(consent))?;
            }
            rows.end()?;
        } else if session.out.is_json() {
            let consents: Vec<_> = consents.iter().map(consent_json).collect();
            session.out.json(&json!({ "consents": consents }))?;
        } else {
            let mut consents = consents.iter();
            consents.try_for_each(|consent| session.out.line(consent_line(consent)))?;
        }
        Ok(Exit::done_if(!consents.is_empty()))
    }
}

fn consent_line(consent: &Consent) -> String {
    let text = |field| printable(consent.grain.text(field).unwrap_or_default());
    let (address, scope) = (
        short(&consent.grain.address()),
        texts(consent, "scope").join(","),
    );
    let (subject, grantee) = (text("subject_did"), text("grantee_did"));
    let (scope, state) = (printable(&scope), state(consent));
    let basis = text("basis");
    let basis = match basis.is_empty() {
        true => basis,
        false => format!("  on {basis}"),
    };
    format!("{address}  {subject} to {grantee}  {scope}  {state}{basis}")
}

/// Returns the state of a consent in words.
fn state(consent: &Consent) -> String {
    match (consent.withdraws, consent.withdrawn, consent.replaced_by) {
        (Some(of), _, _) if consent.is_grant_here => format!("withdraws {}", short(&of)),
        (Some(of), _, _) => format!("withdraws {}, which is not here", short(&of)),
        _ if consent.is_withdrawal => "withdraws nothing: prior_consent is no address".into(),
        (_, Some(withdrawal), _) => format!("withdrawn {}", withdrawal.at),
        (_, _, Some(by)) => format!("replaced by {}", short(&by)),
        _ if consent.ended_at.is_some() => "contradicted".into(),
        _ => "in force".into(),
    }
}

/// Returns the fields of a consent, with its state and times for people.
fn record(consent: &Consent) -> Map<String, Value> {
    let mut record = consent_json(consent)
        .as_object()
        .cloned()
        .unwrap_or_default();
    let time = |time: Option<Time>| json!(time.map(|time| time.to_string()));
    for (name, value) in [
        ("state", json!(state(consent))),
        ("stored_at", time(Some(consent.stored_at))),
        ("withdrawn_at", time(consent.withdrawn.map(|it| it.at))),
        ("ended_at", time(consent.ended_at)),
    ] {
        record.insert(name.to_owned(), value);
    }
    record
}

/// The fields of a list that names none.
const FIELDS: [&str; 5] = ["address", "subject_did", "grantee_did", "scope", "state"];

fn texts<'c>(consent: &'c Consent, field: &str) -> Vec<&'c str> {
    let texts = consent.grain.field(field);
    texts
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
        "scope": texts(consent, "scope"),
        "basis": consent.grain.text("basis"),
        "jurisdiction": consent.grain.text("jurisdiction"),
        "witness_dids": texts(consent, "witness_dids"),
        "valid_from": number("valid_from"),
        "valid_to": number("valid_to"),
        "stored_at": consent.stored_at.ms(),
        "is_withdrawal": consent.is_withdrawal,
        "withdraws": consent.withdraws.map(|of| of.to_string()),
        "is_grant_here": consent.is_grant_here,
        "withdrawn_by": withdrawn.map(|withdrawal| withdrawal.by.to_string()),
        "withdrawn_at": withdrawn.map(|withdrawal| withdrawal.at.ms()),
        "replaced_by": consent.replaced_by.map(|by| by.to_string()),
        "ended_at": consent.ended_at.map(Time::ms),
    })
}
