//! What the tables of rules refuse is refused over HTTP, whatever else a grain holds.

use grainstore::Store;
use grainstore_server::http::{Grant, Limits, Operation};
use serde_json::{Value, json};

use crate::attempts::{Door, Scene, Silence, Told, every_refusal};
use crate::statements::{
    OWN_CODES, Reach, WORDLESS, changes, no_answer_tells_more, options, questioned, reaches,
};
use crate::{Server, Told as Answer};

/// The routes.
struct Http;

impl Door for Http {
    const SILENT: &'static [(&'static str, &'static str, &'static str)] = &[
        (
            "its signers are trusted",
            "an actor's version",
            "an exclusive rule names a namespace, and a PAM record has none",
        ),
        ("", "the owner's file", "a token is an actor"),
        ("", "the owner's version", "a token is an actor"),
        ("", "a file's ending", "a token is an actor"),
        ("", "verify", "no route judges a grain"),
        ("", "hold", "no route places a hold"),
        ("", "review", "no route clears a review"),
        ("", "a setting", "no route sets a rule"),
        (
            "for a program, it is cleared",
            "an actor's version",
            "no foreign record waits for a review",
        ),
        (
            "the handle sees the grain",
            "an actor's version",
            "a confined token has identifiers of its own, and no foreign record has a guarded tag",
        ),
        (
            "the handle may write",
            "an actor's version",
            "the record itself is judged first, by the same delegations",
        ),
    ];

    fn attempt(&mut self, column: &str, scene: &Scene, store: Store) -> (Told, Store) {
        let server = Server::of(store.clone(), Limits::default(), None);
        let operations = Operation::ALL.into_iter();
        let operations = operations.filter(|it| scene.may_write || *it != Operation::Write);
        let grant = Grant::new(scene.actor, operations);
        let token = server.token(scene.namespace.iter().copied().fold(grant, Grant::inside));
        let post = |path: &str, body: &Value| refusal(&server.post(&token, path, body));
        let of = format!("/v1/grains/{}", scene.target);
        let why = json!({ "reason": scene.reason, "authority": "the office" });
        let told = match column {
            "put" => {
                let note = json!({ "type": "event", "content": "innocent", "created_at": 5,
                    "namespace": scene.namespace.unwrap_or("free") });
                let batch = json!({ "grains": [note, scene.grain] });
                let alone = post("/v1/grains", &scene.grain);
                [alone, post("/v1/grains/batch", &batch)].concat()
            }
            "supersede" | "supersede by a stored grain" => {
                let body = json!({ "grain": scene.grain });
                post(&format!("{of}/supersede"), &body)
            }
            "contradict" => post(&format!("{of}/contradict"), &json!({})),
            "delete" => post(&format!("{of}/delete"), &why),
            "erase" => {
                let mut body = why;
                body["user"] = scene.old["user_id"].clone();
                post("/v1/persons/erase", &body)
            }
            "a conflict" => {
                let keep = crate::attempts::finish(&scene.grain).to_string();
                post("/v1/conflicts/settle", &json!({ "keep": keep }))
            }
            "an actor's file" | "an actor's version" => {
                let (format, text) = scene.file(column);
                let ask = server.ask("POST", &format!("/v1/import?format={format}"));
                imported(&ask.bearer(&token).send(text))
            }
            other => unreachable!("the routes neither attempt nor name: {other}"),
        };
        (told, store)
    }
}

/// Returns the code of an answer, `stored` for one that refuses nothing.
fn refusal(told: &Answer) -> Told {
    match told.status {
        200 => vec!["stored".to_owned()],
        _ => vec![told.code()],
    }
}

/// Returns the codes of an import: of its answer, or of its records.
fn imported(told: &Answer) -> Told {
    if told.status != 200 {
        return refusal(told);
    }
    let last = told.lines().pop().unwrap();
    let summary = &last["summary"];
    if summary.is_null() {
        return vec![last["error"]["code"].as_str().unwrap_or("none").to_owned()];
    }
    let texts = |list: &str, member: &str| -> Told {
        let items = summary[list].as_array().unwrap().iter();
        items
            .map(|it| it[member].as_str().unwrap().to_owned())
            .collect()
    };
    let mut told = [texts("refused", "code"), texts("denied", "rule")].concat();
    if summary["erased"] != 0 {
        told.push("ERR_ERASED".to_owned());
    }
    told
}

#[test]
fn every_cell_that_refuses_refuses_at_every_route_of_its_way() {
    for seed in 0..4 {
        every_refusal(&mut Http, seed << 32);
    }
}

/// The routes of CAL.
struct Statements;

impl Door for Statements {
    const SILENT: &'static [Silence] = &[];
    const WORDLESS: &'static [Silence] = WORDLESS;
    // A token that does not write is refused by the route, before its statement is read.
    const OTHERWISE: &'static [(&'static str, &'static str)] = &[OWN_CODES[0]];

    fn attempt(&mut self, column: &str, scene: &Scene, store: Store) -> (Told, Store) {
        let server = Server::of(store.clone(), Limits::default(), None);
        let token = server.token(grant(&Reach::of(column, scene)));
        let before = store.list(None, 100).unwrap().addresses;
        let mut told = Told::new();
        for statement in changes(column, scene) {
            let asked = json!({ "cal": statement });
            let prepared = server.post(&token, "/v1/cal/prepare", &asked);
            told.extend(match prepared.status {
                200 => {
                    let change = json!({ "token": prepared.json()["token"] });
                    refusal(&server.post(&token, "/v1/cal/execute", &change))
                }
                _ => refusal(&prepared),
            });
        }
        assert_eq!(store.list(None, 100).unwrap().addresses, before, "{told:?}");
        (told, store)
    }
}

fn grant(reach: &Reach) -> Grant {
    let operations = Operation::ALL.into_iter();
    let operations = operations.filter(|it| reach.may_write || *it != Operation::Write);
    let grant = Grant::new(reach.actor.as_deref().unwrap(), operations);
    let grant = reach.namespace.iter().fold(grant, Grant::inside);
    reach.user.iter().fold(grant, Grant::for_user)
}

#[test]
fn every_cell_that_refuses_refuses_every_statement_of_a_token() {
    every_refusal(&mut Statements, 3);
}

#[test]
fn no_answer_in_cal_tells_a_token_what_it_does_not_reach() {
    let store = Store::in_memory(options()).unwrap();
    let secrets = questioned(&store);
    let server = Server::of(store.clone(), Limits::default(), None);
    for reach in reaches() {
        let token = server.token(grant(&reach));
        no_answer_tells_more(&store, &secrets, &reach, |statements| {
            let ask = |it: &String| server.post(&token, "/v1/cal", &json!({ "cal": it }));
            let answers = statements.iter().map(ask);
            let body = |told: Answer| String::from_utf8(told.body.to_vec()).unwrap();
            answers.map(body).collect()
        });
    }
}
