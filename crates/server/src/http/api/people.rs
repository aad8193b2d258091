//! Routes about a person: all that is known, and its erasure with a preview and a receipt.
//!
//! Both are the owner's in the library. A token of a user does them for that user alone, and is not
//! told what of the store lies outside its reach.

use std::fs::File;
use std::io::{BufWriter, Write};

use grainstore::policy::Rule;
use grainstore::store::{Authorization, ErasureScope, Person, PersonGrain, PersonReport};
use grainstore::{ContentAddress, ErrorCode};
use serde_json::{Value, json};

use super::files::spool;
use super::grains::{grain_json, status_json};
use super::request::{AliasBody, ErasePersonBody, PersonBody};
use crate::http::answer::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::token_scope::TokenScope;
use crate::receipt::receipt_json;

/// Returns everything about a person (GDPR Art. 15).
pub(crate) fn report(call: &Call<'_>) -> Result<Answer, Failure> {
    let scope = call.scope()?;
    let body: PersonBody = call.json()?;
    let report = reported(scope, &body)?;
    let is_whole = scope.whole().is_ok();
    // A person may fill a store: the answer is written grain by grain, and is never whole in memory.
    let file = spool(|file| {
        let mut out = Written(BufWriter::new(file));
        out.text("{\"about\":[")?;
        out.grains(scope, &report.about)?;
        out.text("]")?;
        if is_whole {
            out.text(",\"mentions\":[")?;
            out.grains(scope, &report.mentions)?;
            let records = report.records.iter();
            let records =
                records.map(|(entry, kind)| json!({ "entry": entry.get(), "kind": kind }));
            let (records, written) = (Value::Array(records.collect()), report.written);
            out.text(&format!(
                "],\"records\":{records},\"entries_written\":{written},\"locked_persons\":{}",
                report.locked_persons
            ))?;
        }
        out.text("}")?;
        out.0.flush().map_err(full)
    })?;
    Ok(Answer::Spool("application/json", file, Vec::new()))
}

/// A document that is written piece by piece.
struct Written<'a>(BufWriter<&'a mut File>);

impl Written<'_> {
    fn text(&mut self, text: &str) -> Result<(), Failure> {
        self.0.write_all(text.as_bytes()).map_err(full)
    }

    fn grains(&mut self, scope: &TokenScope, grains: &[PersonGrain]) -> Result<(), Failure> {
        for (at, found) in grains.iter().enumerate() {
            if at > 0 {
                self.text(",")?;
            }
            self.text(&person_json(scope, found)?.to_string())?;
        }
        Ok(())
    }
}

fn full(_: std::io::Error) -> Failure {
    Failure::busy(503, ErrorCode::Io.as_str(), "no room for the answer")
}

/// Erases a person (GDPR Art. 17), or says what that would erase.
pub(crate) fn erase(call: &Call<'_>) -> Result<Answer, Failure> {
    let scope = call.scope()?;
    let body: ErasePersonBody = call.json()?;
    let person = PersonBody {
        user: body.user,
        also: body.also,
    };
    if body.mentions {
        scope.whole()?;
    }
    if body.preview {
        let report = reported(scope, &person)?;
        return Ok(Answer::Json(200, preview(&report, body.mentions)));
    }
    let named = person.named();
    let extent = ErasureScope {
        mentions: body.mentions,
        except_kept: body.except_kept,
        reseal_held: false,
    };
    let authorization = Authorization {
        reason: &body.reason,
        authority: &body.authority,
    };
    let admin = scope.admin()?;
    let done = admin.erase_person(&named, extent, authorization)?;
    let addresses = done.erased.iter().map(ToString::to_string);
    let kept = done.kept.iter();
    let kept = kept.map(|(address, rule)| kept_json(address, Some(*rule)));
    let mut document = json!({
        "erased": addresses.collect::<Vec<_>>(),
        "kept": kept.collect::<Vec<_>>(),
    });
    if scope.whole().is_ok() {
        document["mentions"] = json!(done.mentions.len());
        document["locked_persons"] = json!(done.locked_persons);
        document["is_vault_damaged"] = json!(done.is_vault_damaged);
    }
    if let Some(key) = call.app.signing_key() {
        // The receipt counts the entries of the ledger: it is for the operator and the person.
        let message = admin.erasure_receipt(&done, key, &key.did())?;
        document["receipt"] = receipt_json(&message).map_err(grainstore::Error::from)?;
    }
    Ok(Answer::Json(200, document))
}

/// States that two users are one person: for the whole store, and so by a token of it all.
pub(crate) fn alias(call: &Call<'_>) -> Result<Answer, Failure> {
    let scope = call.scope()?;
    let body: AliasBody = call.json()?;
    let authorization = Authorization {
        reason: &body.reason,
        authority: &body.authority,
    };
    let admin = scope.admin()?;
    let stated = admin.unite_users(&body.user, &body.other, authorization)?;
    let stated: Vec<_> = stated.iter().map(ToString::to_string).collect();
    Ok(Answer::Json(200, json!({ "stated": stated })))
}

impl PersonBody {
    fn named(&self) -> Person {
        self.also.iter().fold(Person::new(&self.user), Person::also)
    }
}

fn reported(scope: &TokenScope, body: &PersonBody) -> Result<PersonReport, Failure> {
    Ok(scope.admin()?.person_report(&body.named())?)
}

fn preview(report: &PersonReport, with_mentions: bool) -> Value {
    let mentions = report.mentions.iter().filter(|_| with_mentions);
    let chosen = report.about.iter().chain(mentions);
    let (kept, erased): (Vec<_>, Vec<_>) = chosen.partition(|found| found.kept.is_some());
    let erased = erased.iter().map(|found| found.address.to_string());
    let kept = kept.iter();
    let kept = kept.map(|found| kept_json(&found.address, found.kept));
    json!({
        "would_erase": erased.collect::<Vec<_>>(),
        "kept": kept.collect::<Vec<_>>(),
    })
}

fn kept_json(address: &ContentAddress, rule: Option<Rule>) -> Value {
    json!({ "address": address.to_string(), "rule": rule.map(Rule::name) })
}

/// Returns a grain of a report; its content, if the token sees it.
fn person_json(scope: &TokenScope, found: &PersonGrain) -> Result<Value, Failure> {
    let mut document = match scope.handle().get(&found.address)? {
        Some(grain) => grain_json(&grain),
        None => json!({ "address": found.address.to_string(), "grain": null }),
    };
    document["found_by"] = json!(found.found_by);
    document["kept"] = json!(found.kept.map(Rule::name));
    document["status"] = status_json(scope, &found.status)?;
    document["reads"] = json!(found.reads);
    Ok(document)
}
