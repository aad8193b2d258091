//! `grainstore hook`: what a coding agent runs, with transcripts of our own making.

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::command::{Home, Ran};

/// Runs the hook as an agent does: by a shell, with an event on stdin.
fn hook(home: &Home, options: &[&str], event: &Value) -> Ran {
    hook_with(home, options, event.to_string())
}

fn hook_with(home: &Home, options: &[&str], stdin: impl Into<String>) -> Ran {
    hook_of("claude-code", home, options, stdin)
}

fn hook_of(agent: &str, home: &Home, options: &[&str], stdin: impl Into<String>) -> Ran {
    let mut command = home.command();
    command.args(["hook", agent]).args(options);
    command.env("XDG_STATE_HOME", home.path("state"));
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let stdin = stdin.into();
    drop(std::io::Write::write_all(
        &mut child.stdin.take().unwrap(),
        stdin.as_bytes(),
    ));
    Ran::of(&child.wait_with_output().unwrap())
}

fn event(home: &Home, name: &str) -> Value {
    json!({
        "hook_event_name": name,
        "session_id": "s1",
        "cwd": home.path(""),
        "transcript_path": home.path("transcript.jsonl"),
    })
}

fn said(role: &str, second: u32, text: &str) -> String {
    let line = json!({
        "type": role,
        "timestamp": format!("2026-10-02T08:00:{second:02}.000Z"),
        "gitBranch": "main",
        "message": { "role": role, "content": [{ "type": "text", "text": text }] },
    });
    format!("{line}\n")
}

fn texts(home: &Home) -> Vec<String> {
    let stored = home.run(&["--json", "query", "--sort", "created_at"]);
    let stored = stored.json();
    let results = stored["results"].as_array().unwrap().iter();
    let text = |result: &Value| result["grain"]["content"].as_str().unwrap().to_owned();
    results.map(text).collect()
}

#[test]
fn what_was_said_is_stored_once_and_recalled_before_the_next_turn() {
    let home = Home::new();
    let mut transcript = said("user", 1, "Use pnpm in this repository, never npm.");
    transcript += &said("assistant", 2, "I will install with pnpm.");
    home.write("transcript.jsonl", &transcript);
    for name in ["Stop", "PreCompact", "Stop"] {
        let ran = hook(&home, &[], &event(&home, name));
        assert_eq!((ran.code, &*ran.stdout), (0, ""), "{ran:?}");
    }
    transcript += &said("user", 3, "Deploy on Thursdays.");
    home.write("transcript.jsonl", &transcript);
    assert_eq!(hook(&home, &[], &event(&home, "SessionEnd")).code, 0);
    let expected = [
        "Use pnpm in this repository, never npm.",
        "I will install with pnpm.",
        "Deploy on Thursdays.",
    ];
    assert_eq!(texts(&home), expected);
    let grain = &home.run(&["--json", "query"]).json()["results"][0]["grain"];
    assert_eq!(grain["session_id"], "s1");
    assert!(grain["namespace"].as_str().unwrap().starts_with("project:"));

    let mut prompt = event(&home, "UserPromptSubmit");
    prompt["prompt"] = "which package manager do we use, npm?".into();
    let ran = hook(&home, &[], &prompt);
    let answer = ran.json();
    let answer = &answer["hookSpecificOutput"];
    assert_eq!(answer["hookEventName"], "UserPromptSubmit");
    let context = answer["additionalContext"].as_str().unwrap();
    assert!(context.contains("never npm"), "{context}");

    // Another repository has a memory of its own.
    fs::create_dir_all(home.path("other")).unwrap();
    prompt["cwd"] = home.path("other").to_str().unwrap().into();
    let ran = hook(&home, &[], &prompt);
    assert_eq!((ran.code, &*ran.stdout), (0, ""), "{ran:?}");
}

#[test]
fn an_erased_turn_does_not_come_back_from_the_transcript() {
    let home = Home::new();
    let transcript = said("user", 1, "My key is 1234.") + &said("assistant", 2, "Noted.");
    home.write("transcript.jsonl", &transcript);
    hook(&home, &[], &event(&home, "Stop"));
    let addresses = home.addresses();
    assert_eq!(addresses.len(), 2);
    let why = ["--reason", "a secret", "--authority", "mira", "--yes"];
    for address in &addresses {
        home.ok(&[&["delete", address], &why[..]].concat());
    }
    let transcript = transcript + &said("user", 3, "What now?");
    home.write("transcript.jsonl", transcript);
    let ran = hook(&home, &[], &event(&home, "Stop"));
    assert_eq!((ran.code, &*ran.stderr), (0, ""), "{ran:?}");
    assert_eq!(texts(&home), ["What now?"]);
}

#[test]
fn a_hook_that_fails_exits_with_0_and_tells_it_on_stderr_and_in_its_log() {
    let home = Home::new();
    let mut gone = event(&home, "Stop");
    gone["transcript_path"] = "/no/such/file".into();
    home.write("file", "");
    let cases = [
        (hook(&home, &[], &gone), "No such file"),
        (hook_with(&home, &[], ""), "no event"),
        (hook_with(&home, &[], "[1"), "no event"),
        (hook_with(&home, &[], "{}"), "hook_event_name"),
        (
            hook(&home, &["--store", "file"], &event(&home, "Stop")),
            "file",
        ),
    ];
    for (ran, says) in &cases {
        assert_eq!((ran.code, &*ran.stdout), (0, ""), "{ran:?}");
        assert!(ran.stderr.contains(says), "{says}: {ran:?}");
    }
    let log = fs::read_to_string(home.path("state/grainstore/hook.log")).unwrap();
    assert_eq!(log.lines().count(), cases.len(), "{log}");
    // Neither do arguments of another version stop it, and there is nothing to recall at first.
    assert_eq!(hook_with(&home, &["--no-such-option"], "{}").code, 0);
    let mut prompt = event(&home, "UserPromptSubmit");
    prompt["prompt"] = "hello".into();
    let ran = hook(&home, &[], &prompt);
    assert_eq!(
        (ran.code, &*ran.stdout, &*ran.stderr),
        (0, "", ""),
        "{ran:?}"
    );
    home.run(&["--json", "hook"]).fails(2, "ERR_USAGE", "");
}

/// Runs `grainstore hook` with these arguments in a home directory.
pub(super) fn setup(home: &Home, arguments: &[&str]) -> Ran {
    let mut command = home.command();
    command.arg("--json").arg("hook").args(arguments);
    Ran::of(&command.env("HOME", home.path("")).output().unwrap())
}

#[test]
#[cfg(target_os = "linux")]
fn installed_hooks_run_and_removed_ones_leave_the_file_as_it_was() {
    for (agent, file) in [
        ("claude-code", ".claude/settings.json"),
        ("codex", ".codex/hooks.json"),
    ] {
        let home = Home::new();
        fs::create_dir_all(home.path(file).parent().unwrap()).unwrap();
        let old = "{\n\t\"model\": \"x\",\n\t\"hooks\": { \"Stop\": [ {\"hooks\": []} ] }\n}\n";
        home.write(file, old);
        let ran = setup(&home, &["install", agent, "--user", "mira o'hara"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        let config: Value = serde_json::from_slice(&fs::read(home.path(file)).unwrap()).unwrap();
        let stop = config["hooks"]["Stop"].as_array().unwrap();
        assert_eq!(stop.len(), 2);
        home.write("transcript.jsonl", said("user", 1, "Use pnpm."));
        // As the agent runs it: by a shell, in another directory.
        let mut shell = std::process::Command::new("sh");
        shell
            .arg("-c")
            .arg(stop[1]["hooks"][0]["command"].as_str().unwrap());
        shell.current_dir("/").stdin(Stdio::piped());
        let mut child = shell.spawn().unwrap();
        let event = event(&home, "Stop").to_string();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), event.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
        let grain = &home.run(&["--json", "query"]).json()["results"][0]["grain"];
        assert_eq!(grain["user_id"], "mira o'hara");

        let installed = fs::read(home.path(file)).unwrap();
        setup(&home, &["install", agent, "--user", "mira o'hara"]);
        assert_eq!(fs::read(home.path(file)).unwrap(), installed);
        setup(&home, &["install", agent]);
        assert_ne!(fs::read(home.path(file)).unwrap(), installed);
        assert_eq!(setup(&home, &["remove", agent]).code, 0);
        assert_eq!(fs::read_to_string(home.path(file)).unwrap(), old);
        let printed = setup(&home, &["install", agent, "--print"]).json();
        assert!(printed["hooks"]["UserPromptSubmit"].is_array());
        assert_eq!(fs::read_to_string(home.path(file)).unwrap(), old);
    }
}

#[test]
fn an_agent_that_runs_no_commands_gets_its_plugin() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../integrations");
    for (agent, source, folder, file, turns_on) in [
        (
            "openclaw",
            "openclaw",
            ".openclaw/grainstore-plugin",
            ".openclaw/grainstore-plugin/settings.json",
            "openclaw plugins install",
        ),
        (
            "hermes",
            "hermes/grainstore",
            ".hermes/plugins/grainstore",
            ".hermes/grainstore.json",
            "hermes config set memory.provider grainstore",
        ),
    ] {
        let home = Home::new();
        let told = home.run(&["--json", "hook", agent]);
        told.fails(2, "ERR_USAGE", "");
        let message = told.json()["error"]["message"].to_string();
        assert!(
            message.contains(&format!("hook install {agent}")),
            "{message}"
        );
        let ran = setup(&home, &["install", agent]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(ran.stderr.contains(turns_on), "{ran:?}");
        let mut sources = fs::read_dir(root.join(source)).unwrap();
        assert!(sources.all(|file| {
            let file = file.unwrap();
            let written = home.path(folder).join(file.file_name());
            file.path().is_dir() || fs::read(file.path()).unwrap() == fs::read(written).unwrap()
        }));
        let printed = setup(&home, &["install", agent, "--print"]).json();
        let kept = fs::read(home.path(file)).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&kept).unwrap(), printed);
        let settings = match agent {
            "hermes" => printed,
            _ => printed["plugins"]["entries"]["grainstore"]["config"].clone(),
        };
        let store = settings["store"].as_str().unwrap();
        assert!(std::path::Path::new(store).is_absolute(), "{settings}");
        setup(&home, &["install", agent, "--namespace", "x"]).fails(2, "ERR_USAGE", "");

        home.write(&format!("{folder}/mine"), "");
        let ran = setup(&home, &["remove", agent]);
        assert_eq!(ran.code, 0, "{ran:?}");
        let left: Vec<_> = fs::read_dir(home.path(folder)).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
        assert!(!home.path(file).exists());
        assert!(
            setup(&home, &["remove", agent])
                .stderr
                .contains("not set up")
        );
    }
}

#[test]
#[cfg(unix)]
fn after_a_session_a_program_derives_beliefs_and_no_agent_waits_for_it() {
    let home = Home::new();
    home.ok(&["init"]);
    home.write("transcript.jsonl", said("user", 1, "Use pnpm, never npm."));
    let line = r#"{"subject":"app","relation":"uses","object":"pnpm","derived_from":["t1"]}"#;
    // It goes on once the hook has ended: a hook that waited for it would wait for ever.
    let facts = format!("while [ ! -e go ]; do sleep 0.05; done; cat > given; echo '{line}'\n");
    home.write("facts.sh", facts);
    let options = ["--consolidate", "sh facts.sh", "--user", "mira"];
    let beliefs = || {
        let found = home.run(&["--json", "query", "--type", "belief"]).json();
        found["results"].as_array().unwrap().clone()
    };
    for name in ["Stop", "PreCompact", "SessionEnd"] {
        let ran = hook(&home, &options, &event(&home, name));
        assert_eq!(
            (ran.code, &*ran.stdout, &*ran.stderr),
            (0, "", ""),
            "{ran:?}"
        );
        assert!(beliefs().is_empty(), "{name}");
    }
    home.write("go", "");
    let mut tries = 0;
    while beliefs().is_empty() {
        tries += 1;
        assert!(
            tries < 200,
            "{:?}",
            fs::read_to_string(home.path("state/grainstore/hook.log"))
        );
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let belief = &beliefs()[0]["grain"];
    assert_eq!(
        (&belief["user_id"], &belief["object"]),
        (&json!("mira"), &json!("pnpm"))
    );
    assert!(
        belief["namespace"]
            .as_str()
            .unwrap()
            .starts_with("project:")
    );
    assert!(
        fs::read_to_string(home.path("given"))
            .unwrap()
            .contains("never npm")
    );
}

/// A line of a transcript as an import of it takes it: with its session and an id.
fn logged(role: &str, second: u32, text: &str) -> String {
    let mut line: Value = serde_json::from_str(&said(role, second, text)).unwrap();
    line["sessionId"] = "s1".into();
    line["uuid"] = format!("u{second}").into();
    format!("{line}\n")
}

#[test]
fn a_session_that_was_imported_is_not_stored_again_by_a_hook() {
    let home = Home::new();
    let secret = logged("user", 0, "My key is 1234.");
    let call = json!([
        { "type": "text", "text": "I look." },
        { "type": "tool_use", "id": "t1", "name": "Bash", "input": { "command": "ls" } },
    ]);
    let mut answer: Value = serde_json::from_str(&logged("assistant", 1, "")).unwrap();
    answer["message"]["content"] = call;
    let transcript = format!("{secret}{answer}\n{}", logged("assistant", 3, "Done."));
    home.write("transcript.jsonl", &transcript);
    home.ok(&["import", "transcript.jsonl"]);
    let imported = ["My key is 1234.", "I look.", "Done."];
    assert_eq!(texts(&home), imported);
    for _ in 0..2 {
        let ran = hook(&home, &[], &event(&home, "Stop"));
        assert_eq!((ran.code, &*ran.stderr), (0, ""), "{ran:?}");
        assert_eq!(texts(&home), imported);
    }
    // Neither does what was deleted of it come back, and what is said then is stored.
    delete_the_first(&home);
    home.write(
        "transcript.jsonl",
        transcript + &logged("user", 4, "What now?"),
    );
    let ran = hook(&home, &["--user", "mira"], &event(&home, "Stop"));
    assert_eq!((ran.code, &*ran.stderr), (0, ""), "{ran:?}");
    assert_eq!(texts(&home), ["I look.", "Done.", "What now?"]);
}

/// Deletes the turn that was said first.
fn delete_the_first(home: &Home) {
    let found = home
        .run(&["--json", "query", "--sort", "created_at"])
        .json();
    let address = found["results"][0]["content_address"].as_str().unwrap();
    let why = ["--reason", "a secret", "--authority", "mira", "--yes"];
    home.ok(&[&["delete", address], &why[..]].concat());
}

#[test]
fn a_rollout_of_codex_that_was_imported_is_not_stored_again_by_a_hook() {
    let home = Home::new();
    let line = |second: u32, kind: &str, payload: Value| {
        let time = format!("2026-10-02T08:00:{second:02}.000Z");
        format!(
            "{}\n",
            json!({ "timestamp": time, "type": kind, "payload": payload })
        )
    };
    let said = |second: u32, kind: &str, text: &str| {
        line(
            second,
            "event_msg",
            json!({ "type": kind, "message": text }),
        )
    };
    let rollout = line(0, "session_meta", json!({ "id": "s1", "cwd": "/app" }))
        + &said(1, "user_message", "My key is 1234.")
        + &said(2, "agent_message", "Noted.");
    home.write("transcript.jsonl", &rollout);
    home.ok(&["import", "transcript.jsonl"]);
    let stop = || hook_of("codex", &home, &[], event(&home, "Stop").to_string());
    assert_eq!(stop().stderr, "");
    assert_eq!(texts(&home), ["My key is 1234.", "Noted."]);
    delete_the_first(&home);
    assert_eq!(stop().stderr, "");
    assert_eq!(texts(&home), ["Noted."]);
}

#[test]
fn a_session_that_a_hook_stored_does_not_come_again_with_its_transcript() {
    let home = Home::new();
    let transcript = logged("user", 0, "use pnpm") + &logged("assistant", 3, "Done.");
    home.write("transcript.jsonl", transcript);
    hook(&home, &[], &event(&home, "Stop"));
    assert_eq!(texts(&home), ["use pnpm", "Done."]);
    let result = home.run(&["--json", "import", "transcript.jsonl"]).json();
    let counts = (&result["inserted"], &result["unchanged"]);
    assert_eq!(counts, (&0.into(), &2.into()), "{result}");
    assert_eq!(texts(&home).len(), 2);
    delete_the_first(&home);
    let result = home.run(&["--json", "import", "transcript.jsonl"]).json();
    assert_eq!(result["inserted"], 0, "{result}");
    assert_eq!(texts(&home), ["Done."]);
}
