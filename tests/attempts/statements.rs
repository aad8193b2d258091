//! The attempts as statements of CAL, which is a way to change and to ask at every door: what the
//! language has words for of a scene, and questions whose answers may tell no grain out of reach.

use std::collections::BTreeSet;
use std::sync::Arc;

use grainstore::crypto::KeySource;
use grainstore::policy::{Capability, Role};
use grainstore::store::RequiredConsent;
use grainstore::{ContentAddress, Options, Store};
use serde_json::{Value, json};

use crate::attempts::{ACTOR, OFFICE, Scene, Silence, draft};

/// The cells for which CAL has no words, with the reasons.
pub(crate) const WORDLESS: &[Silence] = &[
    (
        "the handle may write it",
        "",
        "a statement names no author and no namespace",
    ),
    ("the token that writes it", "supersede", KEEPS),
    (
        "it was not deleted here",
        "",
        "a statement states the time of its own grain",
    ),
    ("its person, if sealed", "supersede", KEEPS),
    (
        "it is no disclosed view",
        "",
        "a statement names no digest of a view",
    ),
    ("an ownership claim is well formed", "supersede", KEEPS),
    ("its signer, or an unsigned writer", "supersede", KEEPS),
    ("in the clear, it names no grain", "supersede", KEEPS),
    (
        "an ownership claim is stronger",
        "",
        "a statement cannot say who owns in a claim",
    ),
    (
        "it replaces no current parent",
        "",
        "a statement names no parent but its target",
    ),
    ("the delegations of its author cover it", "supersede", KEEPS),
    (
        "a goal starts after those",
        "supersede",
        "SUPERSEDE is of beliefs",
    ),
    (
        "a Consent comes from one who may",
        "",
        "no statement gives or withdraws a consent",
    ),
    ("the consent it rests on", "supersede", KEEPS),
    (
        "",
        "supersede by a stored grain",
        "a statement makes its grain",
    ),
    ("", "the owner's file", "no statement imports"),
    ("", "the owner's version", "no statement imports"),
    ("", "an actor's file", "no statement imports"),
    ("", "an actor's version", "no statement imports"),
    ("", "a file's ending", "no statement imports"),
    ("", "contradict", "no statement contradicts"),
    ("", "verify", "no statement judges a grain"),
    ("", "delete", "no statement deletes"),
    ("", "erase", "no statement erases"),
    ("", "hold", "no statement places a hold"),
    ("", "review", "no statement clears a review"),
    ("", "a setting", "no statement sets a rule"),
    ("", "a conflict", "no statement settles a conflict"),
];

const KEEPS: &str = "SUPERSEDE keeps what it does not set";

/// The rules of which CAL has a code of its own (rulings CAL25 and CAL28).
pub(crate) const OWN_CODES: &[(&str, &str)] = &[
    ("the handle sees the grain", "CAL-E046"),
    ("the handle may write", "CAL-E044"),
];

/// The reach of a handle: a statement names neither an author, a namespace nor a person.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reach {
    pub(crate) actor: Option<String>,
    pub(crate) namespace: Option<String>,
    pub(crate) user: Option<String>,
    pub(crate) may_write: bool,
}

impl Reach {
    /// Returns the reach that writes the grain of a scene.
    pub(crate) fn of(column: &str, scene: &Scene) -> Self {
        let member = |name: &str| match column {
            "put" => scene.grain[name].as_str().map(str::to_owned),
            _ => None,
        };
        Self {
            actor: Some(scene.actor.to_owned()),
            namespace: member("namespace").or(scene.namespace.map(str::to_owned)),
            user: member("user_id"),
            may_write: scene.may_write,
        }
    }

    /// Returns the capability of it.
    pub(crate) fn capability(&self) -> Capability {
        let capability = Capability::default();
        let capability = match &self.actor {
            Some(actor) => capability.author(&actor.parse().unwrap()),
            None => capability,
        };
        let capability = match &self.namespace {
            Some(namespace) => capability.inside(namespace),
            None => capability,
        };
        let capability = match &self.user {
            Some(user) => capability.of_user(user),
            None => capability,
        };
        match self.may_write {
            true => capability,
            false => capability.role(Role::Reader),
        }
    }

    /// Returns the handle of it.
    pub(crate) fn narrow(&self, store: &Store) -> Store {
        store.with_capability(self.capability()).unwrap()
    }
}

/// Returns the statements that attempt a column of a scene, each of which must be refused.
pub(crate) fn changes(column: &str, scene: &Scene) -> Vec<String> {
    if column == "put" {
        return vec![addition(&scene.grain)];
    }
    let target = scene.target;
    let tags = &scene.grain["structural_tags"];
    let set = match tags.is_null() {
        true => format!("SET object = {}", scene.grain["object"]),
        false => format!("SET tags = {tags}"),
    };
    let supersede = format!("SUPERSEDE sha256:{target} {set} REASON \"\"");
    match tags.is_null() {
        // What was there before it has no tag that it could bring back.
        false => vec![supersede],
        true => vec![supersede, format!("REVERT sha256:{target} REASON \"\"")],
    }
}

/// Returns the ADD of a grain: of what it names otherwise, as a goal that depends on it.
fn addition(grain: &Value) -> String {
    let linked = [
        &grain["related_to"][0]["hash"],
        &grain["depends_on"][0],
        &grain["derived_from"][0],
    ];
    let linked = linked.into_iter().find(|it| !it.is_null());
    let is_goal = grain["type"] == "goal" || linked.is_some();
    let mut text = format!("ADD {}", if is_goal { "goal" } else { "belief" });
    let or = |name: &str, other: &str| match &grain[name] {
        Value::Null => json!(other),
        said => said.clone(),
    };
    let parts = [
        ("subject", or("subject", "the work")),
        ("relation", or("relation", "mg:intends")),
        ("object", or("object", "second")),
    ];
    for (name, value) in parts {
        text.push_str(&format!(" SET {name} = {value}"));
    }
    if let Some(linked) = linked {
        text.push_str(&format!(
            " SET goal_state = \"active\" SET depends_on = [{linked}]"
        ));
    }
    if !grain["structural_tags"].is_null() {
        text.push_str(&format!(" SET tags = {}", grain["structural_tags"]));
    }
    text + " REASON \"\""
}

/// A grain of the questioned store: a word that only it has, and its address.
#[derive(Debug, Clone)]
pub(crate) struct Secret {
    pub(crate) word: String,
    pub(crate) address: ContentAddress,
}

/// Returns the options of a store that is questioned: with a text view and the key of sealed persons.
pub(crate) fn options() -> Options {
    let key = KeySource::Callback(Box::new(|| Ok(vec![7; 32].into())));
    Options {
        master_key: Some(Arc::new(key)),
        ..Options::default()
    }
}

const ALPHABET: [&str; 10] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];

/// Fills a store with grains of every reach, each told by a word of its own.
pub(crate) fn questioned(store: &Store) -> Vec<Secret> {
    store.admin().unwrap().vault().add(&["mira"]).unwrap();
    store.admin().unwrap().unlock("mira").unwrap();
    let mut secrets = Vec::new();
    for (at, namespace) in ["", "acme:chat", "acme:chat:sub", "acme:pay", "clinic"]
        .iter()
        .enumerate()
    {
        for (of, user) in ["", "noah", "mira"].iter().enumerate() {
            for (kind, members) in kinds().into_iter().enumerate() {
                // Letters alone: a stemmer leaves them, and no number begins with them.
                let digits = [at, of, kind].map(|n| ALPHABET[n]);
                let word = format!("zq{}wxq", digits.concat());
                let mut grain = said(&word, members);
                for (name, value) in [("namespace", namespace), ("user_id", user)] {
                    if !value.is_empty() {
                        grain[name] = json!(value);
                    }
                }
                let address = store.put(draft(&grain)).unwrap();
                secrets.push(Secret { word, address });
            }
        }
    }
    let admin = store.admin().unwrap();
    let read = RequiredConsent {
        read: true,
        write: false,
    };
    admin.require_consent("clinic", read, OFFICE).unwrap();
    store.admin().unwrap().lock("mira").unwrap();
    secrets
}

fn kinds() -> [Value; 5] {
    [
        json!({"type": "belief"}),
        json!({"type": "event"}),
        json!({"type": "goal"}),
        json!({"type": "belief", "structural_tags": ["phi:mrn"]}),
        json!({"type": "belief", "requires_human_review": true}),
    ]
}

/// A grain that has its word in each of its texts.
fn said(word: &str, mut grain: Value) -> Value {
    let members = match grain["type"].as_str().unwrap() {
        "event" => {
            json!({"content": format!("tea with {word}"), "session_id": word, "role": "user"})
        }
        "goal" => json!({"description": format!("tea for {word}"), "goal_state": "active"}),
        _ => json!({"subject": word, "relation": format!("likes_{word}"),
            "object": format!("tea of {word}"), "confidence": 0.9}),
    };
    let grain_members = grain.as_object_mut().unwrap();
    grain_members.extend(members.as_object().unwrap().clone());
    grain_members.insert("semantic_tags".into(), json!([format!("abc:{word}")]));
    grain_members.insert("created_at".into(), json!(1_768_471_200_000_i64));
    grain
}

/// The reaches from which the store is questioned.
pub(crate) fn reaches() -> Vec<Reach> {
    let reach = |namespace: &str, user: &str| Reach {
        actor: Some(ACTOR.to_owned()),
        namespace: Some(namespace.to_owned()).filter(|it| !it.is_empty()),
        user: Some(user.to_owned()).filter(|it| !it.is_empty()),
        may_write: true,
    };
    vec![
        reach("", ""),
        reach("acme:chat", ""),
        reach("", "noah"),
        reach("acme", "noah"),
        reach("acme:pay", "mira"),
        reach("clinic", ""),
    ]
}

/// Returns questions about a grain, in every form of statement; two of them change what is believed.
pub(crate) fn questions(about: &Secret) -> Vec<String> {
    let Secret { word, address } = about;
    let short = address.to_string();
    let short = short.get(..10).unwrap_or_default();
    let recalls = [
        "RECALL WITH superseded | LIMIT 200".to_owned(),
        format!("RECALL ABOUT \"{word}\""),
        "RECALL LIKE \"tea\" WITH score_breakdown | LIMIT 100".to_owned(),
        format!("RECALL LIKE \"{word}\""),
        format!("RECALL WHERE subject = \"{word}\""),
        "RECALL beliefs WHERE confidence >= 0.5 AND object != \"x\" | LIMIT 200".to_owned(),
        format!("RECALL WHERE hash = sha256:{address}"),
        format!("RECALL WHERE hash = sha256:{short}"),
        format!("RECALL WHERE tags INCLUDE [\"abc:{word}\"]"),
        "RECALL IN \"acme:pay\" | LIMIT 200".to_owned(),
        "RECALL IN SCOPE \"acme\" | LIMIT 200".to_owned(),
        "RECALL WHERE user_id = \"noah\" | LIMIT 200".to_owned(),
        format!("RECALL THREAD \"{word}\""),
        format!("RECALL THREAD FROM sha256:{address}"),
        "RECALL RECENT 200".to_owned(),
    ];
    let bare = "RECALL | LIMIT 200";
    let mut asked = vec![
        "RECALL beliefs | SUBJECTS".to_owned(),
        "RECALL beliefs | OBJECTS".to_owned(),
        "RECALL | HASHES".to_owned(),
        "RECALL | GROUP BY subject".to_owned(),
        "RECALL beliefs | SELECT subject, object | LIMIT 200".to_owned(),
        format!("EXISTS sha256:{address}"),
        format!("HISTORY sha256:{address}"),
        format!("HISTORY sha256:{short}"),
        format!("HISTORY sha256:{address} DIFF sha256:{address}"),
        format!("HISTORY WHERE subject = \"{word}\" AND relation = \"likes_{word}\""),
        format!("({bare}) UNION (RECALL LIKE \"tea\")"),
        format!("({bare}) EXCEPT (RECALL events)"),
        "RECALL WHERE subject IN (RECALL beliefs | SUBJECTS) | LIMIT 200".to_owned(),
        "LET $x = RECALL beliefs | SUBJECTS; RECALL WHERE subject IN ($x) | LIMIT 200".to_owned(),
        format!("COALESCE (RECALL ABOUT \"nothing\", {bare})"),
        format!("BATCH {{ a: {bare}, b: EXISTS sha256:{address}, c: HISTORY sha256:{address} }}"),
        format!("EXPLAIN RECALL WHERE hash = sha256:{short}"),
        "DESCRIBE capabilities".to_owned(),
        "DESCRIBE templates".to_owned(),
    ];
    for shape in [
        "markdown", "json", "yaml", "text", "sml", "triples", "toon", "readable",
    ] {
        let from = format!("a: ({bare}), b: (RECALL LIKE \"tea\")");
        asked.push(format!(
            "ASSEMBLE FROM {from} BUDGET 60000 TOKENS FORMAT {shape}"
        ));
    }
    asked.push(format!(
        "ASSEMBLE FROM ({bare}) BUDGET 60000 TOKENS STREAM {{ all }}"
    ));
    asked.extend(recalls);
    asked
}

/// Asks every question about grains in reach and out of it, and holds that no answer tells a word or an
/// address of a grain that the handle cannot get, but for what the statement itself says.
///
/// # Panics
/// If an answer tells such a word or address, or if no answer tells a grain in reach.
pub(crate) fn no_answer_tells_more(
    store: &Store,
    secrets: &[Secret],
    reach: &Reach,
    mut ask: impl FnMut(&[String]) -> Vec<String>,
) {
    let handle = reach.narrow(store);
    let seen = |secret: &&Secret| matches!(handle.get(&secret.address), Ok(Some(_)));
    let (visible, hidden): (Vec<_>, Vec<_>) = secrets.iter().partition(seen);
    let some = visible.first().into_iter().chain(hidden.iter().step_by(17));
    let statements: Vec<_> = some.flat_map(|secret| questions(secret)).collect();
    let answers = ask(&statements);
    assert_eq!(answers.len(), statements.len());
    let mut told = BTreeSet::new();
    for (statement, answer) in statements.iter().zip(&answers) {
        for secret in &hidden {
            let digits = secret.address.to_string();
            let digits = digits.get(..10).unwrap_or_default();
            for what in [&*secret.word, digits] {
                let is_told = answer.contains(what) && !statement.contains(what);
                assert!(
                    !is_told,
                    "{reach:?}: {statement}\n{answer}\ntells {secret:?}"
                );
            }
        }
        let told_here = visible.iter().filter(|it| answer.contains(&it.word));
        told.extend(told_here.map(|secret| &secret.word));
    }
    assert_eq!(
        told.len(),
        visible.len(),
        "{reach:?}: some grain is told by no answer"
    );
}
