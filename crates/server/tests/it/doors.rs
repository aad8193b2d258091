//! What the tables of rules refuse is refused to a model, whatever else a grain holds.

use grainstore::Store;
use grainstore_cal::Host;
use grainstore_server::Scope;
use serde_json::{Value, json};

use crate::attempts::{Door, Scene, Silence, Told, every_refusal};
use crate::client::{Client, text};
use crate::statements::{
    OWN_CODES, Reach, WORDLESS, changes, no_answer_tells_more, options, questioned, reaches,
};

/// The tools.
struct Tools;

impl Door for Tools {
    const SILENT: &'static [(&'static str, &'static str, &'static str)] = &[
        (
            "the token that writes it",
            "",
            "a server of its own has no token",
        ),
        (
            "its signers are trusted",
            "the owner's version",
            "an exclusive rule names a namespace, and a PAM record has none",
        ),
        ("", "an actor's file", "a document is the owner's to import"),
        (
            "",
            "an actor's version",
            "a document is the owner's to import",
        ),
        (
            "",
            "a file's ending",
            "a document is no copy of the owner's own",
        ),
        ("", "contradict", "no tool contradicts"),
        ("", "verify", "no tool judges a grain"),
        ("", "erase", "no tool erases a person"),
        ("", "hold", "no tool places a hold"),
        ("", "review", "no tool clears a review"),
        ("", "a setting", "no tool sets a rule"),
        ("", "a conflict", "no tool settles a conflict"),
    ];

    const COUNTED: &'static [&'static str] = &["the owner's file", "the owner's version"];

    fn attempt(&mut self, column: &str, scene: &Scene, store: Store) -> (Told, Store) {
        let mut of_owner = Client::of(&store);
        let actor = store.as_actor(&scene.actor.parse().unwrap());
        let actor = match scene.may_write {
            true => actor,
            false => actor.read_only(),
        };
        let namespace = scene.namespace.iter();
        let actor = namespace.fold(actor, |actor, name| actor.in_namespace(name));
        let mut of_actor = Client::new(Scope::owner(actor));
        let address = scene.target.to_string();
        let told = match column {
            "put" => refusal(&of_actor.call("remember", json!({ "grain": scene.grain }))),
            "supersede" | "supersede by a stored grain" => {
                let mut fields = scene.grain.clone();
                let members = fields.as_object_mut().unwrap();
                members.remove("type");
                for name in scene
                    .old
                    .as_object()
                    .unwrap()
                    .keys()
                    .filter(|it| *it != "type")
                {
                    members.entry(name).or_insert(Value::Null);
                }
                let arguments = json!({ "address": address, "fields": fields });
                refusal(&of_actor.call("correct", arguments))
            }
            "delete" => {
                let arguments = |confirm: bool| json!({ "address": address, "reason": scene.reason, "confirm": confirm });
                // A client that cannot ask its user is told to ask, and calls again.
                of_owner.call("forget", arguments(false));
                refusal(&of_owner.call("forget", arguments(true)))
            }
            "the owner's file" | "the owner's version" => {
                let (_, text) = scene.file(column);
                let arguments = json!({ "document": text });
                imported(&of_owner.call("import_conversation", arguments))
            }
            other => unreachable!("the tools neither attempt nor name: {other}"),
        };
        (told, store)
    }
}

/// Returns the code of a result, `stored` for one that refuses nothing.
fn refusal(told: &Value) -> Told {
    let code = told["_meta"]["error"]["code"].as_str();
    vec![code.unwrap_or("stored").to_owned()]
}

/// Returns whether an import refused all that the document has.
fn imported(told: &Value) -> Told {
    let counts = &told["structuredContent"];
    match (&counts["stored"], &counts["refused"]) {
        (stored, refused) if *stored == 0 && *refused == 1 => vec!["refused".to_owned()],
        (stored, refused) if *stored == 1 && *refused == 0 => vec!["noted".to_owned()],
        _ => vec![told.to_string()],
    }
}

#[test]
fn every_cell_that_refuses_refuses_at_every_tool_of_its_way() {
    for seed in 0..4 {
        every_refusal(&mut Tools, seed << 32);
    }
}

/// The tools of CAL.
struct Statements;

impl Door for Statements {
    const SILENT: &'static [Silence] = &[(
        "the token that writes it",
        "put",
        "a server of its own has no token",
    )];
    const WORDLESS: &'static [Silence] = WORDLESS;
    const OTHERWISE: &'static [(&'static str, &'static str)] = OWN_CODES;

    fn attempt(&mut self, column: &str, scene: &Scene, store: Store) -> (Told, Store) {
        let host = Host::with_changes().unwrap();
        let scope = Scope::owner(Reach::of(column, scene).narrow(&store));
        let mut client = Client::new(scope.with_cal(Some(host)));
        let before = store.list(None, 100).unwrap().addresses;
        let mut told = Told::new();
        for statement in changes(column, scene) {
            let prepared = client.call("change", json!({ "statement": statement }));
            let token = &prepared["structuredContent"]["token"];
            told.extend(match token.is_null() {
                true => refusal(&prepared),
                false => refusal(&client.call("change", json!({ "token": token }))),
            });
        }
        assert_eq!(store.list(None, 100).unwrap().addresses, before, "{told:?}");
        (told, store)
    }
}

#[test]
fn every_cell_that_refuses_refuses_every_statement_to_a_model() {
    every_refusal(&mut Statements, 2);
}

#[test]
fn no_answer_in_cal_tells_a_model_what_its_scope_does_not_reach() {
    let store = Store::in_memory(options()).unwrap();
    let secrets = questioned(&store);
    for reach in reaches() {
        let mut client = Client::new(Scope::owner(reach.narrow(&store)));
        no_answer_tells_more(&store, &secrets, &reach, |statements| {
            let arguments = |it: &String| json!({ "statement": it, "max_tokens": 20_000 });
            let answers = statements.iter();
            answers
                .map(|it| text(&client.call("cal", arguments(it))))
                .collect()
        });
    }
}
