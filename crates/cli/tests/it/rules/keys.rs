//! The keys of JSON output, held to the table of docs/command.md.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::command::{Home, belief, event, sample};

const PAGE: &str = include_str!("../../../../../docs/command.md");

/// Members whose own members are data of grains or files, and no keys of the command.
const FREE: [&str; 5] = ["grain", "by_type", "counts", "loss", "not_read"];

/// A grain that `put` warns about.
const MISSPELT: &str = r#"{"type":"event","content":"hi","userid":"ana","created_at":1}"#;

/// The keys that each command has printed.
#[derive(Default)]
struct Seen(BTreeMap<String, BTreeSet<String>>);

impl Seen {
    /// Runs a command with `--json`, and returns its first document. Its name are the words before
    /// `/`, which is left out.
    fn run(&mut self, home: &Home, line: &str) -> Value {
        self.run_with(home, line, "")
    }

    fn run_with(&mut self, home: &Home, line: &str, input: &str) -> Value {
        let (name, rest) = line.split_once(" /").unwrap_or((line, ""));
        let words = name.split(' ').chain(rest.split(' '));
        let args = words.filter(|word| !word.is_empty()).chain(["--json"]);
        let args: Vec<_> = args.map(|word| word.replace('_', " ")).collect();
        let args: Vec<_> = args.iter().map(String::as_str).collect();
        let ran = home.run_with(&args, input);
        assert!(ran.code < 2, "{line}: {ran:?}");
        let documents = ran.json_lines();
        let keys = self.0.entry(name.to_owned()).or_default();
        for document in &documents {
            collect(document, "", keys);
        }
        documents.into_iter().next().unwrap_or_default()
    }
}

fn collect(value: &Value, path: &str, keys: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (name, value) in members {
                let path = match path {
                    "" => name.clone(),
                    outer => format!("{outer}.{name}"),
                };
                if FREE.contains(&name.as_str()) && value.is_object() {
                    keys.insert(format!("{path}.*"));
                } else {
                    collect(value, &path, keys);
                }
            }
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            let path = format!("{path}[]");
            items.iter().for_each(|item| collect(item, &path, keys));
        }
        // A member that may be an object is one key with and without it.
        _ => drop(keys.insert(path.to_owned())),
    }
}

/// Commands on the address of a grain, `$A`, and of a note, `$N`.
const LINES: [&str; 47] = [
    "hold place /$A --reason r --authority a",
    "get /$A",
    "show /$A",
    "hold list",
    "hold lift /$A --reason r --authority a",
    "exists /$A",
    "status /$A",
    "list",
    "ls",
    "sessions",
    "query /--subject ana",
    "search /tea",
    "recall /tea",
    "tail",
    "stats",
    "check",
    "doctor",
    "upgrade",
    "compact",
    "policy explain /$A supersede",
    "policy report",
    "policy clock",
    "correct /$A --set object=milk",
    "history /$A",
    "contradict /$N",
    "undo",
    "did new /key.pem",
    "audit log",
    "audit timeline /$A",
    "audit why /$A",
    "audit head",
    "checkpoint create /--key key.pem",
    "checkpoint list",
    "trust list",
    "consent due",
    "consent list",
    "consent run /--reason r --authority a --yes",
    "consent require",
    "conflicts",
    "export /--format mg -o out.mg",
    "validate /out.mg",
    "convert /out.mg out.jsonl",
    "backup /copy.grains",
    "restore /copy.grains again.grains",
    "recover /copy.grains whole.grains",
    "merge /again.grains",
    "user report /ana",
];

fn seen() -> Seen {
    let (home, mut seen) = (Home::new(), Seen::default());
    seen.run(&home, "init");
    seen.run_with(&home, "put /-", &(belief("ana", "likes", "tea") + MISSPELT));
    let address = home.addresses().remove(0);
    let note = seen.run(&home, "remember /hello --user ana --session s1");
    let note = note["address"].as_str().unwrap().to_owned();
    let with = |line: &str| line.replace("$A", &address).replace("$N", &note);
    for line in LINES {
        seen.run(&home, &with(line));
    }
    if cfg!(unix) {
        // A program that answers nothing.
        seen.run(&home, "consolidate /--with true");
        seen.run(&home, "undo");
    }
    seen.run(&home, &format!("import /{}", sample("sample.mg")));
    let projects = home.path(".claude/projects/p");
    std::fs::create_dir_all(&projects).unwrap();
    std::fs::write(projects.join("s.jsonl"), "{}\n").unwrap();
    seen.run(&home, "scan /--home .");
    seen.run(&home, "sync /notes");
    seen.run_with(&home, "embed /-", "");
    let replaced = home.put(&event("old", 5)).remove(0);
    let line = format!("supersede /{replaced} -");
    seen.run_with(&home, &line, &event("new", 6));
    let gone = home.put(&event("gone", 7)).remove(0);
    let line = format!("delete /{gone} --reason r --authority a --yes");
    seen.run(&home, &line);
    let url = format!("file://{}", home.path("objects").display());
    seen.run(&home, &format!("replicate /{url} --once"));
    seen.run(&home, &format!("follow /{url} reader --once"));
    seen.run(&home, "user alias /ana anna --reason r --authority a");
    seen.run(&home, "user erase /ana --reason r --authority a --yes");
    seen
}

/// Returns the rows of the table: each command with its keys, and where it shows a status, the members
/// that the row of `status` has.
fn documented() -> BTreeMap<String, BTreeSet<String>> {
    let (_, table) = PAGE.split_once("| command | keys |").unwrap();
    let rows = table.lines().skip(2).take_while(|row| row.starts_with('|'));
    let rows = rows.flat_map(|row| {
        let cells: Vec<_> = row.split('|').map(quoted).collect();
        let keys: BTreeSet<_> = cells[2].iter().flat_map(|key| keys_of(key)).collect();
        let commands = cells[1].iter().map(|&command| command.to_owned());
        commands
            .map(|command| (command, keys.clone()))
            .collect::<Vec<_>>()
    });
    let mut rows: BTreeMap<_, BTreeSet<String>> = rows.collect();
    let status = rows["status"].clone();
    let status: Vec<_> = status
        .iter()
        .filter_map(|key| key.strip_prefix("status."))
        .collect();
    for keys in rows.values_mut() {
        *keys = std::mem::take(keys)
            .into_iter()
            .flat_map(|key| match key.strip_suffix("status.*") {
                Some(outer) => {
                    let members = status.iter();
                    members.map(|it| format!("{outer}status.{it}")).collect()
                }
                None => vec![key],
            })
            .collect();
    }
    rows
}

fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// Returns the keys that `{a, b}.{c, d}` stands for.
fn keys_of(text: &str) -> Vec<String> {
    let Some((before, rest)) = text.split_once('{') else {
        return vec![text.to_owned()];
    };
    let (members, after) = rest.split_once('}').unwrap();
    let members = members.split(", ");
    let keys = members.map(|member| format!("{before}{member}{after}"));
    keys.flat_map(|key| keys_of(&key)).collect()
}

/// The commands that need PostgreSQL: `admin::shared` runs them.
const ELSEWHERE: [&str; 2] = ["pull", "ship"];

#[test]
fn the_documented_keys_are_those_that_commands_print() {
    let (seen, documented) = (seen().0, documented());
    let mut faults = Vec::new();
    for (command, keys) in &seen {
        if documented.get(command) != Some(keys) {
            let keys: Vec<_> = keys.iter().map(|key| format!("`{key}`")).collect();
            faults.push(format!("| `{command}` | {} |", keys.join(", ")));
        }
    }
    let is_unseen = |it: &&String| !seen.contains_key(*it) && !ELSEWHERE.contains(&it.as_str());
    let unseen = documented.keys().filter(is_unseen);
    faults.extend(unseen.map(|command| format!("not run here: {command}")));
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn every_key_of_the_table_has_a_meaning() {
    let (_, meanings) = PAGE.split_once("| key | meaning |").unwrap();
    let meanings: BTreeSet<_> = meanings
        .lines()
        .skip(2)
        .take_while(|row| row.starts_with('|'))
        .flat_map(|row| quoted(row.split('|').nth(1).unwrap()))
        .collect();
    let mut missing = BTreeSet::new();
    for key in documented().values().flatten() {
        let names = key.split('.').map(|name| name.trim_end_matches("[]"));
        missing.extend(
            names
                .map(str::to_owned)
                .filter(|it| it != "*" && !meanings.contains(it.as_str())),
        );
    }
    assert!(missing.is_empty(), "{missing:?}");
}
