//! What stands after every step of the attacker.

use std::collections::BTreeSet;

use grainstore::grain::Verification;
use grainstore::interchange::{Format, WriteOptions};
use grainstore::policy::Purpose;
use grainstore::store::ConsentFilter;
use grainstore::{ContentAddress, Filter, Time};
use serde_json::{Value as Json, json};

use super::world::{Done, Guarded, OFFICE, World, parsed};
use super::{Broken, Findings};

/// What a transition that an agent makes alone may change (ruling P1), and the terms of the policy,
/// which are compared apart.
const FREE: [&str; 12] = [
    "goal_state",
    "satisfaction_evidence",
    "progress",
    "created_at",
    "system_valid_from",
    "derived_from",
    "provenance_chain",
    "author_did",
    "supersession_justification",
    "invalidation_policy",
    "allowed_transitions",
    "evidence_required",
];

fn note(findings: &mut Findings, broken: Broken, text: impl FnOnce() -> String) {
    findings.entry(broken).or_insert_with(text);
}

impl World {
    /// Checks what concerns the last step.
    pub(super) fn check_last(&mut self, findings: &mut Findings) {
        if std::mem::take(&mut self.look_everywhere) {
            for guarded in self.guarded.clone() {
                self.check_guarded(&guarded, findings);
            }
            self.check_waiting(findings);
        }
        match std::mem::replace(&mut self.last, Done::Nothing) {
            Done::Nothing => {}
            Done::Retracted(address) => self.check_retracted(&address, findings),
            Done::Put(address, json) => {
                self.check_put(address, &json, findings);
                if json.is_null() || json.get("derived_from").is_some() {
                    for guarded in self.guarded.clone() {
                        self.check_guarded(&guarded, findings);
                    }
                    self.check_waiting(findings);
                }
            }
        }
    }

    /// Checks all of the store.
    pub(super) fn check_all(&mut self, findings: &mut Findings) {
        for guarded in self.guarded.clone() {
            self.check_guarded(&guarded, findings);
        }
        self.check_waiting(findings);
        self.check_answers(findings);
        self.check_shown(findings);
        self.check_exports(findings);
        self.check_owners(findings);
        self.check_lineages(findings);
        for address in self.retained.clone() {
            let deleted = self.store.admin().unwrap().delete(&address, OFFICE);
            if deleted.is_ok() {
                note(findings, Broken::Retention, || {
                    format!("{address} is deleted")
                });
                self.retained.retain(|one| *one != address);
                self.known.retain(|one| *one != address);
            }
        }
    }

    fn check_put(&mut self, address: ContentAddress, json: &Json, findings: &mut Findings) {
        let grain = self.store.peek_all(&address);
        let kept = [
            "superseded_by",
            "verification_status",
            "system_valid_to",
            "contradicted",
        ];
        if json.is_null() && kept.iter().any(|name| grain.get(*name).is_some()) {
            note(findings, Broken::OpaqueStatus, || grain.to_string());
        }
        if json["type"] == "consent" {
            self.check_consent(address, json, findings);
            return;
        }
        let namespace = json["namespace"].as_str().unwrap_or_default();
        let basis = json["processing_basis"].as_str().unwrap_or_default();
        let is_consent = self.consents.iter().any(|(of, ..)| of.to_string() == basis);
        match namespace {
            "" => {}
            // An agent names the person whose consent it relies on.
            _ if person_of(json).is_some() && self.is_consented(json) => {}
            // A demand on a namespace that is spelled in another way was none.
            name if name.starts_with("caf") && !is_consent => {
                note(findings, Broken::Normalization, || json.to_string());
            }
            _ => note(findings, Broken::DemandedConsent, || {
                format!("stored: {json}")
            }),
        }
    }

    /// Whether a consent that the owner put, which stands, is for this person and for the agent.
    fn is_consented(&self, json: &Json) -> bool {
        let consents = self
            .consents
            .iter()
            .filter(|consent| rests_on(json, consent));
        let mut consents = consents.filter(|(_, _, grantee)| *grantee == self.agent_did);
        consents.any(|(consent, ..)| {
            !self.withdrawn.contains(consent) && self.store.status(consent).unwrap().is_current()
        })
    }

    fn check_consent(&mut self, address: ContentAddress, json: &Json, findings: &mut Findings) {
        if json["is_withdrawal"] != true {
            return;
        }
        let prior = json["prior_consent"]
            .as_str()
            .unwrap_or_default()
            .to_lowercase();
        let filter = ConsentFilter {
            at: Some(Time::from_ms(i64::MAX / 2)),
            ..ConsentFilter::default()
        };
        let standing = self.store.admin().unwrap().consents(&filter).unwrap();
        let stands = |of: &ContentAddress| {
            standing
                .iter()
                .any(|consent| consent.grain.address() == *of)
        };
        if stands(&address) {
            note(findings, Broken::Withdrawal, || {
                format!("stands as a consent: {json}")
            });
        }
        for (consent, ..) in &self.consents {
            let text = consent.to_string();
            let meant = prior.starts_with(&text) || text.starts_with(&prior);
            if meant && stands(consent) {
                note(findings, Broken::Withdrawal, || {
                    format!("without effect: {json}")
                });
            } else if meant {
                self.withdrawn.push(*consent);
            }
        }
    }

    fn check_guarded(&self, guarded: &Guarded, findings: &mut Findings) {
        let broken = match guarded {
            guarded if guarded.is_quorum => Broken::Quorum,
            guarded if guarded.states.is_empty() => Broken::Protection,
            _ => Broken::GoalWords,
        };
        let mut at = guarded.first;
        let mut state = guarded.grain["goal_state"].clone();
        loop {
            let status = self.store.status(&at).unwrap();
            let grain = self.store.peek_all(&at);
            if at != guarded.first {
                let listed = guarded.states.iter().any(|one| grain["goal_state"] == *one);
                if !listed || grain["goal_state"] == state || !says_the_same(&grain, &guarded.grain)
                {
                    note(findings, broken, || {
                        format!("{} became {grain}", guarded.grain)
                    });
                }
                if grain["invalidation_policy"]["mode"] == "open" {
                    note(findings, broken, || format!("opened: {grain}"));
                }
                self.check_evidence(guarded, &grain, findings);
                state = grain["goal_state"].clone();
            }
            match status.superseded_by {
                Some(next) => at = next,
                None => {
                    let disputed = matches!(
                        status.verification,
                        Verification::Contested | Verification::Retracted
                    );
                    if disputed || !status.is_current() {
                        note(findings, broken, || {
                            format!("{status:?}: {}", guarded.grain)
                        });
                    }
                    return;
                }
            }
        }
    }

    fn check_evidence(&self, guarded: &Guarded, grain: &Json, findings: &mut Findings) {
        let texts = grain["satisfaction_evidence"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let texts = texts.iter().filter_map(Json::as_str);
        let there: BTreeSet<_> = texts
            .filter_map(|text| ContentAddress::from_reference(text).ok())
            .filter(|address| *address != guarded.first && self.store.exists(address).unwrap())
            .collect();
        if there.len() < guarded.evidence {
            note(findings, Broken::Evidence, || grain.to_string());
        }
    }

    fn check_waiting(&self, findings: &mut Findings) {
        for first in &self.waiting {
            let mut at = *first;
            while let Some(next) = self.store.status(&at).unwrap().superseded_by {
                at = next;
                let grain = self.store.peek_all(&at);
                if grain["goal_state"] == "active" {
                    note(findings, Broken::Dependency, || grain.to_string());
                }
            }
        }
    }

    /// What the agent is shown of the namespaces that demand consent, and what was retracted.
    fn check_shown(&self, findings: &mut Findings) {
        let all = Filter::new().namespace("clinic").with_superseded();
        for found in self.handle.query(&all, 10_000, None).unwrap().results {
            let json = parsed(&found.grain);
            if json["type"] != "consent" && !self.is_consented(&json) {
                note(findings, Broken::DemandedConsent, || {
                    format!("shown: {json}")
                });
            }
        }
        // A file is imported by the owner, who acts for every grantee of a consent.
        for found in self.store.query(&all, 10_000, None).unwrap().results {
            let json = parsed(&found.grain);
            let is_consented = self.consents.iter().any(|consent| rests_on(&json, consent));
            if json["type"] != "consent" && !is_consented {
                note(findings, Broken::DemandedConsent, || {
                    format!("stored: {json}")
                });
            }
        }
        let everything = self.store.query(&Filter::new(), 10_000, None);
        for found in everything.unwrap().results {
            let address = found.grain.address();
            if self.retracted.contains(&address) {
                note(findings, Broken::Retraction, || {
                    format!("answered: {address}")
                });
            }
        }
    }

    /// Each asker finds the protected grains, with the words that they had.
    fn check_answers(&self, findings: &mut Findings) {
        for asker in [&self.store, &self.handle] {
            let found = asker.query(&Filter::new(), 10_000, None).unwrap().results;
            let found: BTreeSet<_> = found.iter().map(|found| found.address).collect();
            for guarded in &self.guarded {
                let mut newest = guarded.first;
                while let Some(next) = self.store.status(&newest).unwrap().superseded_by {
                    newest = next;
                }
                let winner = self.store.admin().unwrap().heads(&guarded.first);
                let read = asker.get(&newest).unwrap().map(|grain| parsed(&grain));
                let is_kept = winner.unwrap().winner == newest
                    && found.contains(&newest)
                    && read.is_some_and(|grain| says_the_same(&grain, &guarded.grain));
                if !is_kept {
                    note(findings, Broken::Protection, || {
                        format!("not found by {:?}: {}", asker.capability(), guarded.grain)
                    });
                }
            }
        }
    }

    fn check_retracted(&self, address: &ContentAddress, findings: &mut Findings) {
        if self.store.status(address).unwrap().is_current() {
            note(findings, Broken::Retraction, || {
                format!("current: {address}")
            });
        }
    }

    fn check_exports(&self, findings: &mut Findings) {
        let formats = [
            Format::Mg,
            Format::Jsonl,
            Format::Pam,
            Format::Aimem,
            Format::OmiJsonl,
        ];
        for format in formats {
            self.check_export(format, Purpose::Transfer, "legal", "zsecret", findings);
            self.check_export(format, Purpose::Transfer, "finance", "zbasis", findings);
            self.check_export(format, Purpose::Sale, "consumer", "zsold", findings);
        }
    }

    fn check_export(
        &self,
        format: Format,
        purpose: Purpose,
        profile: &str,
        word: &str,
        findings: &mut Findings,
    ) {
        let filter = Filter::new().tag(format!("profile:{profile}"));
        let options = WriteOptions {
            purpose,
            ..WriteOptions::default()
        };
        let mut file = Vec::new();
        let admin = self.store.admin().unwrap();
        admin.export(format, &filter, &options, &mut file).unwrap();
        let left: Vec<_> = said_after(&file, word).collect();
        if left.is_empty() {
            return;
        }
        let held = filter.with_superseded();
        let held = self.store.query(&held, 10_000, None).unwrap().results;
        let held: Vec<_> = held.iter().map(|found| parsed(&found.grain)).collect();
        for number in left {
            let text = format!("{word} {number}");
            let mut grains = held.iter().filter(|grain| grain["content"] == *text);
            if !grains.any(|grain| self.may_leave(profile, grain)) {
                note(findings, Broken::Export, || {
                    format!("{format} for {purpose:?}: {text}")
                });
            }
        }
    }

    /// Whether a grain with the word of a restriction is restricted by nothing: a file in which one
    /// value was changed may say so.
    fn may_leave(&self, profile: &str, grain: &Json) -> bool {
        let (field, open) = match profile {
            "legal" => ("legal:privilege", json!("none")),
            "consumer" => ("con:ccpa_opted_out", json!(false)),
            _ => return self.consents.iter().any(|of| rests_on(grain, of)),
        };
        let said = [&grain[field], &grain["context"][field]];
        said.iter().all(|it| it.is_null() || **it == open)
    }

    fn check_owners(&self, findings: &mut Findings) {
        for agent in [self.agent_did.as_str(), "did:web:agent.example"] {
            if let Some(owner) = self.store.agent_card(agent).unwrap().owner {
                note(findings, Broken::Ownership, || owner.grain.to_json());
            }
        }
    }

    fn check_lineages(&self, findings: &mut Findings) {
        let page = self.store.list(None, 100_000).unwrap();
        for address in page.addresses {
            let mut seen = BTreeSet::from([address]);
            let mut at = address;
            while let Some(next) = self.store.status(&at).unwrap().superseded_by {
                if !seen.insert(next) {
                    note(findings, Broken::Cycle, || format!("{address}"));
                    break;
                }
                if !self.store.exists(&next).unwrap() {
                    break;
                }
                at = next;
            }
        }
    }
}

trait PeekAll {
    fn peek_all(&self, address: &ContentAddress) -> Json;
}

impl PeekAll for grainstore::Store {
    /// Reads a grain as a history does, whatever its namespace asks of a reader.
    fn peek_all(&self, address: &ContentAddress) -> Json {
        match self.get(address) {
            Ok(grain) => parsed(&grain.unwrap()),
            Err(_) => Json::Null,
        }
    }
}

/// Returns whether a grain rests on a consent of the person that it is about, if it names one.
fn rests_on(json: &Json, (consent, of, _): &(ContentAddress, &'static str, String)) -> bool {
    let is_of = person_of(json).is_none_or(|person| person == *of);
    json["processing_basis"] == consent.to_string() && is_of
}

/// The numbers that stand after a word in a file.
fn said_after<'a>(file: &'a [u8], word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let places = file.windows(word.len()).enumerate();
    let places = places.filter(move |(_, at)| *at == word.as_bytes());
    places.map(move |(at, _)| {
        let digits = file[at + word.len()..].iter().skip(1);
        let digits = digits.take_while(|byte| byte.is_ascii_digit());
        digits.fold(0, |number, digit| number * 10 + usize::from(digit - b'0'))
    })
}

fn person_of(json: &Json) -> Option<&str> {
    let named = ["subject_did", "user_id", "subject"].map(|name| json[name].as_str());
    named
        .into_iter()
        .flatten()
        .find(|it| it.starts_with("did:"))
}

fn says_the_same(new: &Json, old: &Json) -> bool {
    let words = |grain: &Json| {
        let mut map = grain.as_object().unwrap().clone();
        map.retain(|name, _| !FREE.contains(&name.as_str()));
        map
    };
    words(new) == words(old)
}
