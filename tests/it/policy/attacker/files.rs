//! Files that the agent hands to the owner, who imports each: grains as JSON lines, exports of a
//! store of the agent's own in every format, and records under the identifiers of earlier ones.

use grainstore::interchange::provider::Provider;
use grainstore::interchange::{Format, ImportFile, ReadOptions};
use grainstore::{ContentAddress, Draft, Filter, Options, Store};
use serde_json::{Value as Json, json};

use crate::foreign::{FORMATS, sha256};
use crate::random::Random;

use super::mutation;
use super::world::{ADA, AGENT_WEB, BOB, OFFICE, World, parsed};

/// The formats of `record`.
const FOREIGN: [Format; 5] = [
    Format::Pam,
    Format::Aimem,
    Format::Omi,
    Format::Provider(Provider::Chatgpt),
    Format::PamConversation,
];

impl World {
    /// Imports a record of each foreign format, and holds it: a later record of its identifier must
    /// not take its place.
    pub(super) fn hold_foreign_records(&mut self) {
        for format in FOREIGN {
            let file = record(format, "protected", 0);
            self.import(format, file.as_bytes());
            let mut new = self.store.list(None, 100_000).unwrap().addresses;
            new.retain(|address| !self.known.contains(address));
            for address in new {
                let grain = parsed(&self.store.get(&address).unwrap().unwrap());
                if grain["type"] != "state" && grain.to_string().contains("protected") {
                    let admin = self.store.admin().unwrap();
                    admin.place_hold(&address, OFFICE).unwrap();
                    self.guard_stored(address, grain);
                }
            }
        }
        let held = self.guarded.iter().filter(|one| one.is_foreign);
        assert!(held.count() >= FOREIGN.len());
    }

    pub(super) fn hand_over_a_file(&mut self, random: &mut Random) {
        if random.below(4) == 0 {
            let format = random.pick(&FOREIGN);
            let file = record(format, &format!("instead {}", self.number), self.number);
            let file = self.perhaps_bent(random, format, file.into_bytes());
            return self.import(format, &file);
        }
        let mut lines = self.statements(random);
        if random.flag() {
            return self.import(Format::Jsonl, &joined(&lines));
        }
        // The world as the agent knows it, with what the agent says in between.
        for _ in 0..random.below(4) {
            let known = random.pick(&self.known);
            if let Ok(Some(grain)) = self.store.get(&known) {
                lines.insert(0, parsed(&grain));
            }
        }
        let format = random.pick(&FORMATS);
        if let Some(file) = exported(&lines, format) {
            let file = self.perhaps_bent(random, format, file);
            self.import(format, &file);
        }
        self.note_stored(&lines);
    }

    /// Grains and statements about grains: of an owner, successors, circles, consents, withdrawals,
    /// restricted grains, delegations.
    fn statements(&self, random: &mut Random) -> Vec<Json> {
        match random.below(9) {
            0 => vec![self.claim(random)],
            1..=3 => self.succession(random),
            4 => circle(self.number),
            5 => self.own_consent(random),
            6 => {
                let (consent, person, grantee) = &self.consents[random.within(1..3)];
                let prior = mutation::misspelt(random, &consent.to_string());
                let away = json!({"type": "consent", "subject_did": person,
                    "grantee_did": grantee, "scope": ["store"], "is_withdrawal": true,
                    "created_at": self.number, "prior_consent": prior});
                self.verified(random, away)
            }
            7 => vec![self.restricted(random)],
            _ => {
                let delegation = json!({"type": "goal", "description": "anything",
                    "goal_state": "active", "subject": ADA, "author_did": ADA,
                    "relation": "mg:delegates_to", "object": self.agent_did,
                    "created_at": self.number});
                self.verified(random, delegation)
            }
        }
    }

    fn claim(&self, random: &mut Random) -> Json {
        let agent = random.pick(&[self.agent_did.as_str(), AGENT_WEB]);
        let author = match random.below(3) {
            0 => format!("{agent}#key-1"),
            1 => self.agent_did.clone(),
            _ => AGENT_WEB.to_owned(),
        };
        json!({"type": "belief", "subject": agent, "relation": "mg:owned_by",
            "object": "itself", "namespace": "agent:identity", "author_did": author,
            "confidence": 1.0, "created_at": self.number, "owner": {"type": "human",
            "name": "itself"}, "structural_tags": ["legal:ownership"],
            "invalidation_policy": {"mode": "locked"}})
    }

    /// A protected grain, what the file says of its end, and a successor.
    fn succession(&self, random: &mut Random) -> Vec<Json> {
        let (old, mut grain) = self.target(random);
        mutation::successor(random, &mut grain, &old, &self.known, self.number);
        let mut status = json!({"of": old.to_string()});
        match (random.below(3), address_of(&grain)) {
            (0, Some(new)) => status["superseded_by"] = json!(new.to_string()),
            (1, _) => status["contradicted"] = json!(true),
            _ => status["verification_status"] = json!("retracted"),
        }
        if random.flag() {
            status["system_valid_to"] = json!(5);
        }
        let old = parsed(&self.store.get(&old).unwrap().unwrap());
        vec![old, json!({"status": status}), grain]
    }

    /// A consent for the agent that no person signed, and a grain that rests on it.
    fn own_consent(&self, random: &mut Random) -> Vec<Json> {
        let person = random.pick(&[ADA, BOB]);
        let consent = json!({"type": "consent", "subject_did": person,
            "grantee_did": self.agent_did, "scope": ["store", "retrieve"],
            "is_withdrawal": false, "created_at": self.number});
        let basis = address_of(&consent).unwrap().to_string();
        let mut lines = self.verified(random, consent);
        lines.push(
            json!({"type": "event", "content": format!("clinical file {}", self.number),
            "namespace": random.pick(&["clinic", "clinic:notes", "caf\u{e9}", "cafe\u{301}"]),
            "subject_did": person, "created_at": 1, "processing_basis": basis}),
        );
        lines
    }

    /// A grain that a file says is verified, or says nothing of.
    fn verified(&self, random: &mut Random, grain: Json) -> Vec<Json> {
        let status = address_of(&grain).filter(|_| random.flag()).map(|of| {
            let status = json!({"of": of.to_string(), "verification_status": "verified"});
            json!({"status": status})
        });
        [Some(grain), status].into_iter().flatten().collect()
    }

    fn perhaps_bent(&self, random: &mut Random, format: Format, file: Vec<u8>) -> Vec<u8> {
        if format == Format::Mg || random.flag() {
            return file;
        }
        let known = random.pick(&self.known).to_string();
        let words = [
            known.as_str(),
            ADA,
            BOB,
            &self.agent_did,
            "verified",
            "none",
            "open",
        ];
        mutation::bent(random, format, file, &words)
    }

    fn import(&mut self, format: Format, file: &[u8]) {
        let options = ReadOptions {
            accept_bad_checksum: true,
            scope: Some("test".into()),
            ..ReadOptions::default()
        };
        let Ok(reading) = ImportFile::of_bytes(file, Some(format), &options) else {
            return;
        };
        let summary = self.store.import(reading).unwrap();
        if summary.inserted + summary.updated > 0 {
            self.accepted += 1;
            *self.taken.entry(format.to_string()).or_default() += 1;
        }
        self.look_everywhere = true;
    }

    /// Notes what the file brought that must not leave the store, or must stay in it.
    fn note_stored(&mut self, lines: &[Json]) {
        for line in lines {
            if let Some(address) = address_of(line)
                && !self.known.contains(&address)
                && line["content"]
                    .as_str()
                    .is_some_and(|it| it.starts_with('z'))
                && self.store.exists(&address).unwrap()
            {
                self.note_restricted(address, line);
            }
        }
    }

    /// The owner chooses between the versions of a record, and the agent hopes for its own.
    pub(super) fn settle_a_conflict(&mut self, random: &mut Random) {
        let conflicts = self.store.admin().unwrap().conflicts().unwrap();
        if conflicts.is_empty() {
            return;
        }
        let versions = &conflicts[random.below(conflicts.len())].versions;
        let keep = random.pick(versions);
        let admin = self.store.admin().unwrap();
        let settled = admin.resolve_conflict(&keep, Some("the agent says so"));
        self.conflicts += usize::from(settled.is_ok());
        self.look_everywhere = true;
    }
}

/// Returns an export of a store of the agent's own that holds some grains.
fn exported(lines: &[Json], format: Format) -> Option<Vec<u8>> {
    let options = Options {
        text: None,
        ..Options::default()
    };
    let elsewhere = Store::in_memory(options).unwrap();
    let admin = elsewhere.admin().unwrap();
    let lines = joined(lines);
    let reading = ImportFile::of_bytes(&lines, Some(Format::Jsonl), &ReadOptions::default());
    elsewhere.import(reading.ok()?).unwrap();
    let mut file = Vec::new();
    let all = Filter::new().with_superseded();
    let written = admin.export(format, &all, &Default::default(), &mut file);
    written.is_ok().then_some(file)
}

fn joined(lines: &[Json]) -> Vec<u8> {
    let lines: Vec<_> = lines.iter().map(|line| format!("{line}\n")).collect();
    lines.concat().into_bytes()
}

fn address_of(grain: &Json) -> Option<ContentAddress> {
    let draft = Draft::from_json(&grain.to_string()).ok()?;
    Some(draft.finish(Default::default()).ok()?.address())
}

/// Three grains that a file says replaced each other.
fn circle(number: usize) -> Vec<Json> {
    let notes = ["a", "b", "c"].map(|name| {
        let text = format!("circle {name} {number}");
        json!({"type": "event", "content": text, "created_at": 1})
    });
    let addresses = notes
        .each_ref()
        .map(|note| address_of(note).unwrap().to_string());
    let mut lines = Vec::new();
    for (n, note) in notes.into_iter().enumerate() {
        let (of, by) = (&addresses[n], &addresses[(n + 1) % 3]);
        lines.extend([note, json!({"status": {"of": of, "superseded_by": by}})]);
    }
    lines
}

/// A file of a foreign format with one record, under the same identifier in all of them.
fn record(format: Format, text: &str, n: usize) -> String {
    let (day, hour) = (1 + n / 24 % 28, n % 24);
    let updated = format!("2026-02-{day:02}T{hour:02}:00:00Z");
    let hash = sha256(text.as_bytes());
    let file = match format {
        Format::Pam => json!({"schema": "portable-ai-memory", "schema_version": "1.0",
            "owner": {"id": "o"}, "export_id": format!("e{n}"), "export_date": updated,
            "memories": [{"id": "a", "type": "fact", "content": text, "content_hash": hash,
                "temporal": {"created_at": "2026-01-01T00:00:00Z", "updated_at": updated},
                "provenance": {"platform": "local"}, "tags": [],
                "status": if n.is_multiple_of(2) { "active" } else { "retracted" }}]}),
        Format::Aimem => {
            let bundle = json!({"format": "aimem-bundle", "version": "1", "producer": "test",
                "tenant_id": "11111111-1111-1111-1111-111111111111",
                "exported_at": updated, "scope": "FULL", "edges": [], "entities": [],
                "chunk_entities": [], "chunks": [{"id": "urn:aimem:test:fact",
                    "content": text, "content_hash": hash, "memory_type": "fact",
                    "created_at": updated}]});
            return mutation::sealed(&bundle);
        }
        Format::Omi => json!({"format": "open-memory-interchange", "version": "0.7",
            "subject": {"id": "user-123", "type": "person"}, "id_namespace": "urn:omi:test:",
            "generated_at": updated, "generator": "test/1",
            "memories": [{"id": "1", "content": text, "type": "semantic",
                "created": "2026-01-01T00:00:00Z", "updated": updated,
                "ext": {"sync": {"deleted": !n.is_multiple_of(2)}}}]}),
        Format::PamConversation => json!({"schema": "portable-ai-memory-conversation",
            "schema_version": "1.0", "id": "c", "provider": {"name": "local"},
            "temporal": {"created_at": "2026-01-01T00:00:00Z", "updated_at": updated},
            "messages": [{"id": "m", "role": "user", "content": {"type": "text", "text": text},
                "created_at": "2026-01-01T00:00:00Z"}]}),
        _ => json!([{"id": "c", "title": "t", "create_time": 1_700_000_000,
            "update_time": 1_700_000_000 + n, "current_node": "q", "mapping": {
                "q": {"id": "q", "parent": null, "children": [], "message": {"id": "q",
                    "author": {"role": "user"}, "create_time": 1_700_000_001,
                    "content": {"content_type": "text", "parts": [text]}}}}}]),
    };
    file.to_string()
}
