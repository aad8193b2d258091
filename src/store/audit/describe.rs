//! Records in words: the operation that an entry records, and its facts without content.

use crate::ledger::Kind;
use crate::policy::RecordedAuthorization;
use crate::store::records::{
    KeyEventRecord, PolicyRecord, Record, ReviewRecord, StatusRecord, TrustRecord,
};

/// Returns the operation that a record is of, and what it says of it.
pub(super) fn describe(record: &Record) -> (&'static str, String) {
    let none = String::new;
    match record {
        Record::Status(status) => status_change(status),
        Record::Flag(flag) if flag.is_from_file => ("flag", "came in a file".to_owned()),
        Record::Signature(_) => ("sign", none()),
        Record::Embedding(embedding) => ("embed", embedding.model.clone()),
        Record::ConsentEffect(effect) => ("withdraw", format!("by {}", effect.withdrawal)),
        Record::Hold(hold) => {
            let operation = if hold.is_placed { "hold" } else { "release" };
            (operation, because(&hold.authorization))
        }
        Record::Review(ReviewRecord::Opened { operation, .. }) => ("review", operation.clone()),
        Record::Review(ReviewRecord::Cleared {
            opened,
            authorization,
            ..
        }) => {
            let why = because(authorization);
            ("clear", format!("review {opened}: {why}"))
        }
        Record::Denial(denial) => ("deny", format!("{}: {}", denial.operation, denial.rule)),
        Record::Import(import) => ("import", import.to_string()),
        Record::Export(export) => ("export", export.to_string()),
        Record::Trust(trust) => trust_change(trust),
        Record::Policy(policy) => policy_change(policy),
        Record::KeyEvent(event) => ("key", key_event(event)),
        Record::Restored(restored) => ("restore", restored.until.clone()),
        Record::Erasing(erasing) => {
            let entries = erasing.rows.len();
            let (why, by) = (&erasing.reason, &erasing.authority);
            ("erase", format!("{entries} entries: {why} ({by})"))
        }
        Record::Erased(erased) => ("erased", format!("as entry {} began", erased.begun)),
        Record::Read(read) => (
            "read",
            format!("{}: {}", read.operation, read.clauses.join(" ")),
        ),
        // Names of other systems may name persons, and actors are named where they act.
        record => (operation_of(record.kind()), none()),
    }
}

/// Returns the operation that entries of a kind are of, as far as the kind tells.
pub(super) const fn operation_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Grain | Kind::SealedGrain => "store",
        Kind::Status => "status",
        Kind::Flag => "flag",
        Kind::Alias => "name",
        Kind::Embedding => "embed",
        Kind::ConsentEffect => "withdraw",
        Kind::Hold => "hold",
        Kind::Review => "review",
        Kind::Denial => "deny",
        Kind::Import => "import",
        Kind::Export => "export",
        Kind::Trust => "trust",
        Kind::Policy => "policy",
        Kind::Actor => "actor",
        Kind::KeyEvent => "key",
        Kind::Erasing => "erase",
        Kind::Erased => "erased",
        Kind::Restored => "restore",
        Kind::Checkpoint => "checkpoint",
        Kind::Signature => "sign",
        Kind::Read => "read",
    }
}

fn status_change(status: &StatusRecord) -> (&'static str, String) {
    let change = &status.change;
    let why = status.justification.clone().unwrap_or_default();
    match (
        &change.superseded_by,
        change.contradicted,
        &change.verification,
    ) {
        (Some(by), ..) => ("supersede", join(&[format!("by {by}"), why])),
        (None, Some(true), _) => ("contradict", why),
        (None, _, Some(verification)) => ("verify", join(&[verification.name().to_owned(), why])),
        _ => ("status", why),
    }
}

fn trust_change(record: &TrustRecord) -> (&'static str, String) {
    match record {
        TrustRecord::Added { rule, reason } => {
            ("trust", join(&[rule.signer.to_string(), reason.clone()]))
        }
        TrustRecord::Removed { signer, reason } => {
            ("distrust", join(&[signer.to_string(), reason.clone()]))
        }
        TrustRecord::Signed { .. } => ("sign", String::new()),
    }
}

fn policy_change(record: &PolicyRecord) -> (&'static str, String) {
    match record {
        PolicyRecord::ConsentRequired {
            namespace,
            required,
            authorization,
        } => {
            let (read, write) = (required.read, required.write);
            let what = format!("consent in {namespace:?}: reading {read}, writing {write}");
            ("policy", join(&[what, because(authorization)]))
        }
        PolicyRecord::ConsentDeadline { ms, authorization } => {
            let what = format!("withdrawals carried out within {ms} ms");
            ("policy", join(&[what, because(authorization)]))
        }
        PolicyRecord::ConsentRun {
            waiting,
            authorization,
        } => {
            let what = format!(
                "withdrawals carried out, {} locked persons wait",
                waiting.len()
            );
            ("policy", join(&[what, because(authorization)]))
        }
        PolicyRecord::ConsentRan { persons } => {
            let what = "withdrawals carried out for persons who were unlocked";
            ("policy", format!("{what}: {}", persons.len()))
        }
        PolicyRecord::Regimes {
            documents,
            authorization,
        } => {
            let what = format!("{} regimes in force", documents.len());
            ("policy", join(&[what, because(authorization)]))
        }
        PolicyRecord::ClockLeapt(to) => ("clock", format!("leapt, trusted up to {to}")),
        PolicyRecord::ClockFollowed(to) => ("clock", format!("followed to {to}")),
        PolicyRecord::ClockMeasured(reading) => ("clock", format!("measured at {}", reading.told)),
        PolicyRecord::ClockAccepted {
            reading,
            authorization,
        } => {
            let what = format!("accepted at {}", reading.told);
            ("clock", join(&[what, because(authorization)]))
        }
        PolicyRecord::ClockRepaired {
            reading,
            authorization,
        } => {
            let what = format!("set to {}", reading.told);
            ("clock", join(&[what, because(authorization)]))
        }
        PolicyRecord::Checked(check) => ("check", check.to_string()),
    }
}

fn key_event(event: &KeyEventRecord) -> String {
    let what = match event {
        KeyEventRecord::Added { uids, .. } => format!("{} persons got keys", uids.len()),
        KeyEventRecord::Sealed { uids, .. } => {
            format!("what {} persons had in the clear is sealed", uids.len())
        }
        KeyEventRecord::Rekeyed { .. } => "a person got a new key".to_owned(),
        KeyEventRecord::RootRotated { .. } => "the root was replaced".to_owned(),
        KeyEventRecord::MasterRotated { .. } => "the master key was replaced".to_owned(),
        KeyEventRecord::BlindFields { fields, .. } => {
            format!("blind tokens of {} from here on", fields.name())
        }
        KeyEventRecord::Escrowed(escrow) => format!("an escrow copy, until {}", escrow.until),
        KeyEventRecord::RootRestored { .. } => "the root came back from escrow".to_owned(),
        KeyEventRecord::Erased { .. } => "the keys of a person were destroyed".to_owned(),
    };
    format!("{what}, epoch {}", event.epoch())
}

fn because(authorization: &RecordedAuthorization) -> String {
    format!("{} ({})", authorization.reason, authorization.authority)
}

fn join(parts: &[String]) -> String {
    let parts: Vec<_> = parts.iter().filter(|part| !part.is_empty()).collect();
    let parts: Vec<&str> = parts.into_iter().map(String::as_str).collect();
    parts.join(", ")
}
