//! What the tables of rules refuse is refused to a command, whatever else a grain holds.

use std::sync::Arc;

use grainstore::crypto::KeySource;
use grainstore::{Options, Store};
use serde_json::{Value, json};

use crate::attempts::{Door, Scene, Silence, Told, every_refusal, finish};
use crate::command::{Home, Ran};
use crate::statements::{
    OWN_CODES, Reach, WORDLESS, changes, no_answer_tells_more, options, questioned, reaches,
};

/// The commands, each as a process of its own.
struct Commands(Home);

impl Door for Commands {
    const SILENT: &'static [(&'static str, &'static str, &'static str)] = &[
        ("the token that writes it", "", "no command has a token"),
        (
            "its signers are trusted",
            "the owner's version",
            "an exclusive rule names a namespace, and a PAM record has none",
        ),
        (
            "",
            "an actor's file",
            "import is the owner's: it has no --as",
        ),
        (
            "",
            "an actor's version",
            "import is the owner's: it has no --as",
        ),
    ];

    // A process without the key cannot say more of what is sealed.
    const OTHERWISE: &'static [(&'static str, &'static str)] =
        &[("in the clear, it names no grain", "ERR_LOCKED")];

    fn empty(&mut self) -> Store {
        self.0 = Home::new();
        self.open()
    }

    fn attempt(&mut self, column: &str, scene: &Scene, store: Store) -> (Told, Store) {
        // A process that has the store open keeps the others from writing.
        drop(store);
        let told = self.told(column, scene);
        (told, self.open())
    }
}

impl Commands {
    fn open(&self) -> Store {
        let key = KeySource::Callback(Box::new(|| Ok(vec![7; 32].into())));
        let options = Options {
            master_key: Some(Arc::new(key)),
            text: None,
            ..Options::default()
        };
        Store::open(self.0.path("memory.grains"), options).unwrap()
    }

    fn told(&self, column: &str, scene: &Scene) -> Told {
        let address = scene.target.to_string();
        let run =
            |args: &[&str], input: &str| self.0.run_with(&[&["--json"], args].concat(), input);
        let mut by = vec!["--as", scene.actor];
        by.extend(scene.namespace.iter().flat_map(|it| ["--in", it]));
        by.extend(
            (!scene.may_write)
                .then_some(["--role", "reader"])
                .iter()
                .flatten(),
        );
        let why = ["--reason", scene.reason, "--authority", "the office"];
        let by_actor = |args: &[&str], input: &str| refusal(&run(&[args, &by].concat(), input));
        let by_owner = |args: &[&str]| refusal(&run(&[args, &why].concat(), ""));
        match column {
            "put" => by_actor(&["put", "-"], &format!("{}\n", scene.grain)),
            "supersede" | "supersede by a stored grain" => {
                by_actor(&["supersede", &address, "-"], &scene.grain.to_string())
            }
            "contradict" => by_actor(&["contradict", &address], ""),
            "verify" => {
                // What only the owner may confirm; of others, what counts against the grain.
                let word = if scene.old["type"] == "goal" {
                    "verified"
                } else {
                    "retracted"
                };
                by_actor(&["status", &address, "--verification", word], "")
            }
            "delete" => by_owner(&["delete", &address, "--yes"]),
            "erase" => {
                let person = scene.old["user_id"].as_str().unwrap();
                by_owner(&["user", "erase", person, "--yes"])
            }
            "hold" => by_owner(&["hold", "place", &address]),
            "review" => by_owner(&["policy", "review", "clear", "1"]),
            "a setting" => by_owner(&["consent", "require", "clinic", "--write"]),
            "a conflict" => {
                let keep = finish(&scene.grain).to_string();
                refusal(&run(&["conflicts", "resolve", &keep], ""))
            }
            "the owner's file" | "the owner's version" | "a file's ending" => {
                let (format, text) = scene.file(column);
                self.0.write("in", text);
                let own = (column == "a file's ending").then_some("--own");
                let args = [&["import", "in", "--format", format], own.as_slice()].concat();
                imported(&run(&args, ""))
            }
            other => unreachable!("the commands neither attempt nor name: {other}"),
        }
    }
}

/// Returns the code of a run, `stored` for one that refuses nothing.
fn refusal(ran: &Ran) -> Told {
    let code = |line: &Value| line["error"]["code"].as_str().map(str::to_owned);
    let told: Told = ran.json_lines().iter().filter_map(code).collect();
    match told.is_empty() {
        true => vec!["stored".to_owned()],
        false => told,
    }
}

/// Returns the codes of an import: of its failure, or of its records.
fn imported(ran: &Ran) -> Told {
    let summary = ran.json();
    if !summary["error"].is_null() {
        return refusal(ran);
    }
    let texts = |list: &str, member: &str| -> Told {
        let items = summary[list].as_array().unwrap().iter();
        items
            .map(|it| it[member].as_str().unwrap().to_owned())
            .collect()
    };
    let mut told = [texts("refused", "code"), texts("denied", "rule")].concat();
    if summary["erased"] != json!([]) {
        told.push("ERR_ERASED".to_owned());
    }
    if told.is_empty() && summary["findings"] != json!([]) {
        told.push("noted".to_owned());
    }
    told
}

#[test]
fn every_cell_that_refuses_refuses_at_every_command_of_its_way() {
    every_refusal(&mut Commands(Home::new()), 1);
}

/// The command `cal`.
struct Statements(Home);

impl Door for Statements {
    const SILENT: &'static [Silence] = &[
        ("the token that writes it", "put", "no command has a token"),
        (
            "its person, if sealed, is unlocked",
            "put",
            "the command is narrowed to no person",
        ),
    ];
    const WORDLESS: &'static [Silence] = WORDLESS;
    // A process without the key cannot say more of what is sealed.
    const OTHERWISE: &'static [(&'static str, &'static str)] = &[
        OWN_CODES[0],
        OWN_CODES[1],
        ("in the clear, it names no grain", "ERR_LOCKED"),
    ];

    fn empty(&mut self) -> Store {
        let mut commands = Commands(Home::new());
        let store = commands.empty();
        self.0 = commands.0;
        store
    }

    fn attempt(&mut self, column: &str, scene: &Scene, store: Store) -> (Told, Store) {
        drop(store);
        let reach = Reach::of(column, scene);
        let by = narrowed(&reach);
        let before = self.0.addresses();
        let change = |text: String| {
            let args = [&["--json", "cal", &text, "--allow-changes"], &*by].concat();
            refusal(&self.0.run(&args))
        };
        let told: Told = changes(column, scene)
            .into_iter()
            .flat_map(change)
            .collect();
        assert_eq!(self.0.addresses(), before, "{told:?}");
        let store = Store::open(
            self.0.path("memory.grains"),
            Options {
                text: None,
                ..options()
            },
        );
        (told, store.unwrap())
    }
}

/// Returns the options that narrow a command.
fn narrowed(reach: &Reach) -> Vec<&str> {
    let mut by = vec!["--as", reach.actor.as_deref().unwrap()];
    by.extend(reach.namespace.iter().flat_map(|it| ["--in", it]));
    if !reach.may_write {
        by.extend(["--role", "reader"]);
    }
    by
}

#[test]
fn every_cell_that_refuses_refuses_every_statement_of_a_command() {
    every_refusal(&mut Statements(Home::new()), 4);
}

#[test]
fn no_answer_in_cal_tells_a_command_what_it_does_not_reach() {
    let home = Home::new();
    let store = Store::open(home.path("memory.grains"), options()).unwrap();
    let secrets = questioned(&store);
    for reach in reaches().into_iter().filter(|it| it.user.is_none()) {
        no_answer_tells_more(&store, &secrets, &reach, |statements| {
            let args = [&["--json", "cal"], &*narrowed(&reach)].concat();
            let ran = home.run_with(&args, statements.join("\n"));
            let answers = ran.json_lines().into_iter();
            answers.map(|it| it.to_string()).collect()
        });
    }
}
