//! `grainstore mcp` on stdin and stdout, and `mcp install` in a home of its own.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::command::{Home, Ran};

pub(crate) fn hello() -> String {
    let params = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    });
    request(0, "initialize", &params)
}

fn request(id: u64, method: &str, params: &Value) -> String {
    let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    format!("{request}\n")
}

pub(crate) fn call(id: u64, tool: &str, arguments: &Value) -> String {
    request(
        id,
        "tools/call",
        &json!({ "name": tool, "arguments": arguments }),
    )
}

/// Returns the response to a request.
pub(crate) fn answer(ran: &Ran, id: u64) -> Value {
    let mut lines = ran.json_lines().into_iter();
    lines.find(|line| line["id"] == id).unwrap()
}

#[test]
fn the_server_speaks_the_protocol_alone_on_stdout_and_ends_with_its_client() {
    let home = Home::new();
    let belief = json!({ "subject": "mira", "relation": "prefers", "object": "green tea" });
    let ran = home.run_with(&["mcp"], hello() + &call(1, "remember", &belief));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.json_lines().len(), 2, "{ran:?}");
    assert!(ran.stderr.contains("created"), "{ran:?}");
    assert!(!ran.stderr.contains("mira"), "{ran:?}");
    let address = answer(&ran, 1)["result"]["structuredContent"]["address"].clone();

    // What the server acknowledged, the command finds, and another server recalls.
    assert_eq!(home.addresses(), [address.as_str().unwrap()]);
    let question = json!({ "question": "what does mira drink? tea?" });
    let ran = home.run_with(&["mcp"], hello() + &call(1, "recall", &question));
    let text = answer(&ran, 1)["result"]["content"][0]["text"].clone();
    assert!(
        text.as_str().unwrap().contains("mira prefers green tea"),
        "{ran:?}"
    );
}

#[test]
fn stdout_may_be_a_file() {
    let home = Home::new();
    home.write("in", hello() + &request(1, "tools/list", &json!({})));
    let status = home
        .command()
        .arg("mcp")
        .stdin(fs::File::open(home.path("in")).unwrap())
        .stdout(fs::File::create(home.path("out")).unwrap())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    let out = fs::read_to_string(home.path("out")).unwrap();
    assert_eq!(out.lines().count(), 2, "{out}");
}

#[test]
fn a_client_that_says_nothing_or_nonsense_leaves_a_server_that_ends_well() {
    let home = Home::new();
    for input in [
        "",
        "nonsense\n",
        "{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}\n",
        "{",
    ] {
        let ran = home.run_with(&["mcp"], input);
        assert_eq!((ran.code, &*ran.stdout), (0, ""), "{ran:?}");
        assert!(ran.stderr.contains("without a message of MCP"), "{ran:?}");
    }
}

#[test]
fn the_server_is_bound_to_author_namespace_and_person() {
    let home = Home::new();
    let bound = [
        "mcp",
        "--as",
        "did:web:bot.example",
        "--namespace",
        "acme",
        "--user",
        "mira",
    ];
    let input = hello()
        + &call(1, "remember", &json!({ "text": "likes tea" }))
        + &call(2, "remember", &json!({ "text": "x", "namespace": "other" }))
        + &call(3, "remember", &json!({ "text": "x", "user": "bob" }));
    let ran = home.run_with(&bound, input);
    for id in [2, 3] {
        let refused = &answer(&ran, id)["result"];
        assert_eq!(
            refused["_meta"]["error"]["code"], "ERR_ACCESS_DENIED",
            "{ran:?}"
        );
    }
    let stored = home.run(&["--json", "query"]).json();
    let grain = &stored["results"][0]["grain"];
    assert_eq!(stored["total"], 1);
    assert_eq!(grain["author_did"], "did:web:bot.example");
    assert_eq!(
        (&grain["namespace"], &grain["user_id"]),
        (&json!("acme"), &json!("mira"))
    );
    home.run(&["--json", "mcp", "--as", "nobody"])
        .fails(2, "ERR_DID", "--as");
}

/// A server that is asked one request at a time.
struct Asked {
    server: Child,
    answers: BufReader<ChildStdout>,
}

impl Asked {
    fn start(home: &Home, arguments: &[&str]) -> Self {
        let mut server = home
            .command()
            .arg("mcp")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let answers = BufReader::new(server.stdout.take().unwrap());
        let mut asked = Self { server, answers };
        asked.ask(&hello());
        asked
    }

    fn ask(&mut self, request: &str) -> Value {
        let input = self.server.stdin.as_mut().unwrap();
        input.write_all(request.as_bytes()).unwrap();
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask(&call(1, tool, arguments))["result"].clone()
    }

    fn end(mut self) {
        drop(self.server.stdin.take());
        assert!(self.server.wait().unwrap().success());
    }
}

#[test]
fn changes_in_cal_are_made_in_two_steps_where_the_server_takes_them() {
    let home = Home::new();
    let add = "ADD belief SET subject = \"mira\" SET relation = \"mg:prefers\" SET object = $what \
        REASON \"she said so\"";
    let statement = json!({ "statement": add, "parameters": { "what": "tea" } });
    let mut server = Asked::start(&home, &["--cal", "evolve", "--as", "did:web:bot.example"]);
    let prepared = server.call("change", &statement);
    let token = prepared["structuredContent"]["token"].clone();
    assert_eq!(home.addresses().len(), 0, "{prepared}");
    let made = server.call("change", &json!({ "token": token }));
    let address = made["structuredContent"]["address"].as_str().unwrap();
    let stored = home.run(&["--json", "get", address]).json();
    assert_eq!(stored["grain"]["author_did"], "did:web:bot.example");
    assert_eq!(stored["grain"]["object"], "tea");
    let again = server.call("change", &json!({ "token": token }));
    assert_eq!(code(&again), "CAL-E044");
    // A token is of the server that prepared it.
    let supersede = format!("SUPERSEDE sha256:{address} SET object = \"coffee\" REASON \"r\"");
    let prepared = server.call("change", &json!({ "statement": supersede }));
    let token = prepared["structuredContent"]["token"].clone();
    let mut other = Asked::start(&home, &["--cal", "evolve", "--as", "did:web:bot.example"]);
    assert_eq!(
        code(&other.call("change", &json!({ "token": token }))),
        "CAL-E044"
    );
    other.end();
    let made = server.call("change", &json!({ "token": token }));
    assert_eq!(made["structuredContent"]["supersedes"], address);
    server.end();

    let mut reads = Asked::start(&home, &[]);
    let request = call(1, "change", &statement);
    let error = reads.ask(&request)["error"]["message"].clone();
    assert_eq!(error, "there is no tool \"change\"");
    let count = json!({ "statement": "RECALL | COUNT" });
    assert_eq!(reads.call("cal", &count)["isError"], false);
    reads.end();
    let mut off = Asked::start(&home, &["--cal", "off"]);
    assert_eq!(code(&off.call("cal", &count)), "ERR_CAL_OFF");
    off.end();
}

/// Returns the code of a refusal.
fn code(answer: &Value) -> Value {
    answer["_meta"]["error"]["code"].clone()
}

#[test]
fn the_operator_names_the_agent_and_no_client_names_itself() {
    let home = Home::new();
    let belief = json!({ "subject": "mira", "relation": "likes", "object": "tea", "user": "mira" });
    let remembered = |options: &[&str]| {
        let arguments = [&["mcp"], options].concat();
        let ran = home.run_with(&arguments, hello() + &call(1, "remember", &belief));
        let address = &answer(&ran, 1)["result"]["structuredContent"]["address"];
        address.as_str().unwrap().to_owned()
    };
    let shown = |address: &str| home.run(&["--json", "show", address]).json();
    // The client says that its name is "test", as anyone could.
    let by_owner = shown(&remembered(&[]));
    assert_eq!(by_owner["grain"].get("author_did"), None);
    assert_eq!(by_owner["stored_by"], Value::Null);
    let address = remembered(&["--agent", "claude-code"]);
    let did = "did:web:localhost:claude-code";
    let by_agent = shown(&address);
    assert_eq!(by_agent["grain"]["author_did"], did);
    assert_eq!(by_agent["stored_by"], did);

    // It keeps what the owner's server may do, under its own name alone.
    let mut named = Asked::start(&home, &["--agent", "claude-code"]);
    let stranger =
        json!({ "grain": { "type": "event", "content": "x", "author_did": "did:web:a.example" } });
    assert_eq!(
        code(&named.call("remember", &stranger)),
        "ERR_ACCESS_DENIED"
    );
    let report = named.call("report", &json!({ "user": "mira" }));
    assert_eq!(report["structuredContent"]["about_total"], 2);
    let export = fs::read_to_string(crate::command::sample("grains.jsonl")).unwrap();
    let imported = named.call("import_conversation", &json!({ "document": export }));
    assert_eq!(imported["isError"], false, "{imported}");
    let forget = json!({ "address": address, "reason": "asked" });
    named.call("forget", &forget);
    let forget = json!({ "address": address, "reason": "asked", "confirm": true });
    assert_eq!(named.call("forget", &forget)["isError"], false);
    named.end();
    let log = home.ok(&["audit", "log", "--by", did]);
    assert!(log.contains("erase"), "{log}");
    // With a person it reaches no more than the owner's server for that person.
    let mut of_mira = Asked::start(&home, &["--agent", "claude-code", "--user", "mira"]);
    let file = json!({ "document": export });
    assert_eq!(
        code(&of_mira.call("import_conversation", &file)),
        "ERR_ACCESS_DENIED"
    );
    of_mira.end();
}

/// The clients, with the file and the member of each on Linux.
const CLIENTS: &[(&str, &str, &str)] = &[
    ("claude-code", ".claude.json", "mcpServers"),
    (
        "claude-desktop",
        ".config/Claude/claude_desktop_config.json",
        "mcpServers",
    ),
    ("cursor", ".cursor/mcp.json", "mcpServers"),
    ("vscode", ".config/Code/User/mcp.json", "servers"),
    ("zed", ".config/zed/settings.json", "context_servers"),
];

fn install(home: &Home, arguments: &[&str]) -> Ran {
    let output = home
        .command()
        .args(["--json", "mcp", "install"])
        .args(arguments)
        .env("HOME", home.path(""))
        .env_remove("XDG_CONFIG_HOME")
        .output()
        .unwrap();
    Ran {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
#[cfg(target_os = "linux")]
fn each_client_gets_an_entry_that_starts_the_server() {
    for (client, file, section) in CLIENTS {
        let home = Home::new();
        let ran = install(
            &home,
            &["--client", client, "--user", "mira", "--cal", "evolve"],
        );
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(ran.stderr.contains("to load it"), "{ran:?}");
        let config: Value = serde_json::from_slice(&fs::read(home.path(file)).unwrap()).unwrap();
        let entry = &config[section]["grainstore"];
        let arguments = entry["args"].as_array().unwrap().iter();
        let arguments: Vec<_> = arguments.map(|it| it.as_str().unwrap()).collect();
        let options = ["mcp", "--agent", client, "--user", "mira", "--cal=evolve"];
        assert!(arguments.ends_with(&options), "{arguments:?}");
        // As the client would start it, from another directory.
        let mut server = std::process::Command::new(entry["command"].as_str().unwrap())
            .args(arguments)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = server.stdin.take().unwrap();
        input.write_all(hello().as_bytes()).unwrap();
        drop(input);
        let output = server.wait_with_output().unwrap();
        assert!(
            String::from_utf8(output.stdout)
                .unwrap()
                .contains("serverInfo"),
            "{client}"
        );
        assert!(home.path("memory.grains").is_dir(), "{client}");

        let before = fs::read(home.path(file)).unwrap();
        assert_eq!(
            install(
                &home,
                &["--client", client, "--user", "mira", "--cal", "evolve"]
            )
            .code,
            0
        );
        assert_eq!(
            fs::read(home.path(file)).unwrap(),
            before,
            "{client}: a second time"
        );
        assert!(!home.path(&format!("{file}.bak")).exists(), "{client}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn an_existing_configuration_loses_nothing() {
    use std::os::unix::fs::PermissionsExt as _;

    let home = Home::new();
    let old = "{\n\t\"theme\": \"dark\",\n\t\"mcpServers\": {\n\t\t\"other\": {\"command\": \"x\", \"env\": {\"KEY\": \"1.0e5\"}}\n\t},\n\t\"n\": 1.50\n}\n";
    home.write(".claude.json", old);
    fs::set_permissions(home.path(".claude.json"), fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(install(&home, &["--client", "claude-code"]).code, 0);
    let new = fs::read_to_string(home.path(".claude.json")).unwrap();
    let at = new.find(",\n    \"grainstore\"").unwrap();
    let end = new.find("\n\t},\n\t\"n\"").unwrap();
    assert_eq!(format!("{}{}", &new[..at], &new[end..]), old);
    assert_eq!(
        fs::read_to_string(home.path(".claude.json.bak")).unwrap(),
        old
    );
    let mode = fs::metadata(home.path(".claude.json"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
#[cfg(target_os = "linux")]
fn a_configuration_that_cannot_be_parsed_is_left_alone() {
    let home = Home::new();
    fs::create_dir_all(home.path(".config/zed")).unwrap();
    let old = "// my settings\n{ \"theme\": \"dark\",, }\n";
    home.write(".config/zed/settings.json", old);
    let ran = install(&home, &["--client", "zed"]);
    ran.fails(2, "ERR_CORRUPT", "settings.json");
    assert!(
        ran.json()["error"]["hint"]
            .as_str()
            .unwrap()
            .contains("--print"),
        "{ran:?}"
    );
    assert_eq!(
        fs::read_to_string(home.path(".config/zed/settings.json")).unwrap(),
        old
    );
    let printed = install(&home, &["--client", "zed", "--print"]);
    assert_eq!(printed.code, 0);
    assert!(printed.json()["context_servers"]["grainstore"]["command"].is_string());
    assert_eq!(
        fs::read_to_string(home.path(".config/zed/settings.json")).unwrap(),
        old
    );
}

/// The SDK is installed by `.ci/run`.
#[test]
#[cfg(unix)]
#[ignore = "needs the MCP SDK"]
fn the_official_sdk_drives_everything_at_two_revisions() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let script = root.join("crates/cli/tests/it/faces/mcp_sdk.py");
    for (mode, revision) in [("legacy", "2025-11-25"), ("2026-07-28", "2026-07-28")] {
        for transport in ["stdio", "http"] {
            let home = Home::new();
            let mut python = std::process::Command::new(root.join("target/mcp-sdk/bin/python"));
            python.arg(&script).args([mode, transport]);
            let served = (transport == "http").then(|| {
                let all = "read,write,erase,export,import";
                crate::faces::serve::Served::with(&home, all, &[])
            });
            match &served {
                Some(served) => python
                    .arg(format!("http://{}/mcp", served.at))
                    .arg(&served.token),
                None => python.arg(crate::command::binary()).arg(home.path("s")),
            };
            let output = python.output().unwrap();
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{mode}, {transport}: {errors}");
            let said: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(said["revision"], revision, "{errors}");
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn settings_with_comments_keep_them_and_a_tilde_is_the_home_directory() {
    let home = Home::new();
    let file = ".config/zed/settings.json";
    let settings = "// Zed\n{\n  \"theme\": \"One\", // mine\n}\n";
    fs::create_dir_all(home.path(".config/zed")).unwrap();
    home.write(file, settings);
    let ran = install(&home, &["--client", "zed", "--store", "~/memory.grains"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let changed = fs::read_to_string(home.path(file)).unwrap();
    assert!(
        changed.starts_with(settings.trim_end_matches("}\n")),
        "{changed}"
    );
    let store = home.path("memory.grains");
    assert!(
        changed.contains(&format!("\"{}\"", store.display())),
        "{changed}"
    );
}
