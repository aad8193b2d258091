//! The hooks in the agents themselves: Claude Code and Codex of npm, at a model server of our own.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use crate::command::Home;

/// The answer of the model.
const ANSWER: &str = "Noted: pnpm it is.";

/// Serves both protocols of models, and keeps what it was asked.
fn model_server() -> (u16, Arc<Mutex<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let asked = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&asked);
    // It ends with the test.
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let kept = Arc::clone(&kept);
            thread::spawn(move || drop(answer(&stream, &kept)));
        }
    });
    (port, asked)
}

fn answer(mut stream: &TcpStream, asked: &Mutex<String>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut len = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            len = value.trim().parse().unwrap_or(0);
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; len];
    reader.read_exact(&mut body)?;
    let body = String::from_utf8_lossy(&body);
    asked.lock().unwrap().push_str(&body);
    let body: Value = serde_json::from_str(&body).unwrap_or_default();
    let (kind, text) = if first.contains("/responses") {
        ("text/event-stream", events(&responses()))
    } else if body["stream"] == true {
        ("text/event-stream", events(&messages(&body["model"])))
    } else {
        (
            "application/json",
            json!({ "input_tokens": 1, "content": [] }).to_string(),
        )
    };
    let len = text.len();
    let head = format!("content-type: {kind}\r\ncontent-length: {len}\r\nconnection: close");
    write!(stream, "HTTP/1.1 200 OK\r\n{head}\r\n\r\n{text}")
}

fn events(events: &[Value]) -> String {
    let events = events.iter();
    let texts = events.map(|event| {
        let name = event["type"].as_str().unwrap();
        format!("event: {name}\ndata: {event}\n\n")
    });
    texts.collect()
}

fn messages(model: &Value) -> [Value; 6] {
    let usage = json!({ "input_tokens": 1, "output_tokens": 1 });
    let text = json!({ "type": "text", "text": "" });
    let delta = json!({ "type": "text_delta", "text": ANSWER });
    let message = json!({
        "id": "m", "type": "message", "role": "assistant", "model": model, "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": usage,
    });
    let end = json!({ "stop_reason": "end_turn", "stop_sequence": null });
    [
        json!({ "type": "message_start", "message": message }),
        json!({ "type": "content_block_start", "index": 0, "content_block": text }),
        json!({ "type": "content_block_delta", "index": 0, "delta": delta }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": end, "usage": usage }),
        json!({ "type": "message_stop" }),
    ]
}

fn responses() -> [Value; 3] {
    let content = json!([{ "type": "output_text", "text": ANSWER }]);
    let item = json!({ "type": "message", "id": "m", "role": "assistant", "content": content });
    let usage = json!({
        "input_tokens": 1, "input_tokens_details": null, "output_tokens": 1,
        "output_tokens_details": null, "total_tokens": 2,
    });
    [
        json!({ "type": "response.created", "response": { "id": "r" } }),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
        json!({ "type": "response.completed", "response": { "id": "r", "usage": usage } }),
    ]
}

/// Returns an agent that asks the model server, in a home of its own.
fn agent(home: &Home, name: &str, port: u16) -> Command {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = root.join("target/agents/node_modules/.bin");
    let at = format!("http://127.0.0.1:{port}");
    let mut command = Command::new(folder.join(if name == "codex" { "codex" } else { "claude" }));
    command.env("HOME", home.path("")).stdin(Stdio::null());
    command.current_dir(home.path("app"));
    command.env_remove("XDG_STATE_HOME");
    match name {
        "codex" => {
            let provider = [
                "model_provider=own".to_owned(),
                "model_providers.own.name=own".to_owned(),
                format!("model_providers.own.base_url={at}/v1"),
                "model_providers.own.wire_api=responses".to_owned(),
            ];
            command.args([
                "exec",
                "--skip-git-repo-check",
                "--dangerously-bypass-hook-trust",
            ]);
            command.args(provider.iter().flat_map(|setting| ["-c", setting]));
        }
        _ => {
            command.arg("-p").env("ANTHROPIC_BASE_URL", at);
            command.env("ANTHROPIC_API_KEY", "sk-ant-none");
        }
    }
    command
}

/// The agents are installed by `.ci/run`.
#[test]
#[ignore = "needs the coding agents"]
fn the_agents_themselves_store_each_turn_and_get_what_they_were_told() {
    for name in ["claude-code", "codex"] {
        let home = Home::new();
        std::fs::create_dir_all(home.path("app/.git")).unwrap();
        let mut install = home.command();
        install
            .args(["hook", "install", name])
            .env("HOME", home.path(""));
        assert!(install.output().unwrap().status.success());
        let (port, asked) = model_server();
        let told = "From now on use pnpm in this repository, never npm.";
        let question = "Which package manager do we use, npm?";
        for prompt in [told, question] {
            asked.lock().unwrap().clear();
            let output = agent(&home, name, port).arg(prompt).output().unwrap();
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{name}: {errors}");
        }
        let stored = home.run(&["--json", "query"]).json();
        let results = stored["results"].as_array().unwrap().iter();
        let texts: Vec<_> = results
            .map(|it| it["grain"]["content"].as_str().unwrap())
            .collect();
        assert_eq!(texts, [told, ANSWER, question, ANSWER], "{name}");
        let asked = asked.lock().unwrap();
        let at = asked
            .find("From the memory of earlier sessions")
            .expect(name);
        assert!(asked[at..].contains("never npm"), "{name}");
        assert!(
            !home.path(".local/state/grainstore/hook.log").exists(),
            "{name}"
        );
    }
}
