//! The MCP server as the inspector of npm sees it, whose client is the official SDK for TypeScript: every
//! tool, resource and prompt, over both transports, at two revisions of the protocol.

use std::process::{Command, Output};
use std::thread;

use serde_json::{Value, json};

use crate::command::{Home, binary};
use crate::faces::serve::Served;

/// The inspector's name of a revision, and the revision.
const REVISIONS: [(&str, &str); 2] = [("legacy", "2025-11-25"), ("modern", "2026-07-28")];

/// The inspector and the server that it starts or calls.
struct Inspector<'a> {
    target: &'a [String],
    era: &'a str,
}

impl Inspector<'_> {
    fn run(&self, method: &str, arguments: &[&str]) -> Output {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let package = "target/mcp-inspector/node_modules/@modelcontextprotocol/inspector";
        let mut node = Command::new("node");
        node.arg(root.join(package).join("clients/launcher/build/index.js"))
            .arg("--cli")
            .args(self.target)
            .args(["--protocol-era", self.era, "--method", method])
            .args(arguments);
        node.output().unwrap()
    }

    /// Returns the result of a method. A client warns of what it cannot use: there is none.
    #[track_caller]
    fn ask(&self, method: &str, arguments: &[&str]) -> Value {
        let output = self.run(method, arguments);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{method} {arguments:?}: {told}");
        // Its lints of how portable a schema is are advice, and none is an error.
        let is_advice = |line: &&str| line.starts_with("Schema portability: 0 errors");
        let warnings: Vec<&str> = told.lines().filter(|line| !is_advice(line)).collect();
        assert!(warnings.is_empty(), "{method} {arguments:?}: {told}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Calls a tool and returns its structured content, which the SDK holds to the schema.
    #[track_caller]
    fn call(&self, tool: &str, arguments: &[(&str, Value)]) -> Value {
        let result = self.ask("tools/call", &flags(tool, &pairs(arguments)));
        assert_eq!(result["isError"], false, "{tool}: {result}");
        result["structuredContent"].clone()
    }

    /// Calls a tool that refuses, and returns the text that the model reads.
    #[track_caller]
    fn refused(&self, tool: &str, arguments: &[(&str, Value)]) -> String {
        let output = self.run("tools/call", &flags(tool, &pairs(arguments)));
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(!output.stdout.is_empty(), "{tool}: {told}");
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(said["isError"], true, "{said}");
        said["content"][0]["text"].as_str().unwrap().to_owned()
    }
}

fn pairs(arguments: &[(&str, Value)]) -> Vec<String> {
    let pairs = arguments.iter().map(|(name, value)| match value {
        Value::String(text) => format!("{name}={text}"),
        other => format!("{name}={other}"),
    });
    pairs.collect()
}

fn flags<'a>(tool: &'a str, pairs: &'a [String]) -> Vec<&'a str> {
    let mut flags = vec!["--tool-name", tool];
    for pair in pairs {
        flags.extend(["--tool-arg", pair]);
    }
    flags
}

fn tools(inspector: &Inspector<'_>) {
    let listed = inspector.ask("tools/list", &[]);
    assert_eq!(listed["tools"].as_array().unwrap().len(), 12);
    let call = |tool: &str, arguments: &[(&str, Value)]| inspector.call(tool, arguments);
    let belief = [
        ("subject", json!("mira")),
        ("relation", json!("prefers")),
        ("object", json!("tea")),
        ("user", json!("mira")),
    ];
    let address = call("remember", &belief)["address"].clone();
    // Lists have the first digits.
    let short = &address.as_str().unwrap()[..8];
    let of_mira = [
        ("filter", json!({ "subject": "mira" })),
        ("limit", json!(3)),
    ];
    assert_eq!(call("query", &of_mira)["items"][0]["address"], short);
    let recalled = call("recall", &[("question", json!("which tea?"))]);
    assert!(
        recalled["markdown"]
            .as_str()
            .unwrap()
            .contains("mira prefers tea")
    );
    let found = call("search", &[("question", json!("tea"))]);
    assert_eq!(found["items"][0]["address"], short);
    let got = call("get", &[("address", address.clone())]);
    assert_eq!(got["grain"]["object"], "tea");
    let correction = [("address", address), ("text", json!("coffee"))];
    let new = call("correct", &correction)["address"].clone();
    let history = call("history", &[("address", new.clone())]);
    assert_eq!(history["versions"].as_array().unwrap().len(), 2);
    assert!(
        inspector
            .refused("correct", &correction)
            .contains("ERR_CONFLICT")
    );
    let messages = json!([{ "role": "user", "content": "where is my hat?" }]);
    let session = [
        ("messages", messages),
        ("session", json!("hats")),
        ("user", json!("mira")),
    ];
    assert_eq!(call("import_conversation", &session)["stored"], 1);
    assert_eq!(call("report", &[("user", json!("mira"))])["about_total"], 3);
    let path = ("path", json!("/memories/a.md"));
    let create = [
        ("command", json!("create")),
        path.clone(),
        ("file_text", json!("one")),
    ];
    call("memory", &create);
    let view = call("memory", &[("command", json!("view")), path]);
    assert!(view["result"].as_str().unwrap().contains("one"), "{view}");
    // It has no user to ask: the first call shows what would be deleted.
    let forget = [("address", new), ("confirm", json!(true))];
    assert_eq!(call("forget", &forget)["needs_confirmation"], true);
}

fn resources_and_prompts(inspector: &Inspector<'_>) {
    let listed = inspector.ask("resources/list", &[]);
    let uri = listed["resources"][0]["uri"].as_str().unwrap().to_owned();
    for uri in [&*uri, "session://hats"] {
        let read = inspector.ask("resources/read", &["--uri", uri]);
        assert!(read["contents"][0]["text"].is_string(), "{read}");
    }
    let templates = inspector.ask("resources/templates/list", &[]);
    assert_eq!(templates["resourceTemplates"].as_array().unwrap().len(), 2);
    let listed = inspector.ask("prompts/list", &[]);
    let prompts = listed["prompts"].as_array().unwrap();
    assert_eq!(prompts.len(), 3);
    for prompt in prompts {
        let (name, argument) = (&prompt["name"], &prompt["arguments"][0]["name"]);
        let pair = format!("{}=the garden", argument.as_str().unwrap());
        let arguments = [
            "--prompt-name",
            name.as_str().unwrap(),
            "--prompt-args",
            &pair,
        ];
        let got = inspector.ask("prompts/get", &arguments);
        let text = got["messages"][0]["content"]["text"].as_str().unwrap();
        assert!(text.contains("the garden"), "{got}");
    }
}

/// The inspector is installed by `.ci/run`, where there is a network.
#[test]
#[cfg(unix)]
#[ignore = "needs the MCP inspector"]
fn the_inspector_of_npm_drives_everything_over_both_transports_at_two_revisions() {
    let drive = |(era, revision): (&str, &str), is_http: bool| {
        let home = Home::new();
        let served = is_http.then(|| Served::with(&home, "read,write,erase,export,import", &[]));
        let target = match &served {
            Some(served) => vec![
                format!("http://{}/mcp", served.at),
                "--transport".to_owned(),
                "http".to_owned(),
                "--header".to_owned(),
                format!("Authorization: Bearer {}", served.token),
            ],
            None => vec![
                binary().to_owned(),
                "--quiet".to_owned(),
                "--store".to_owned(),
                home.path("s").to_str().unwrap().to_owned(),
                "mcp".to_owned(),
            ],
        };
        let target = &target;
        let inspector = Inspector { target, era };
        let said = inspector.ask("initialize", &[]);
        assert_eq!(said["protocolVersion"], revision, "{said}");
        tools(&inspector);
        resources_and_prompts(&inspector);
    };
    thread::scope(|scope| {
        for revision in REVISIONS {
            for is_http in [false, true] {
                scope.spawn(move || drive(revision, is_http));
            }
        }
    });
}
