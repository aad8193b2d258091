//! `grainstore consolidate` with programs that are scripts of ours.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::command::{Home, Ran};

const PNPM: &str =
    r#"{"subject":"ana","relation":"uses","object":"pnpm","confidence":0.9,"derived_from":["t1"]}"#;

/// Returns a home with a turn of Ana's.
fn home() -> Home {
    let home = Home::new();
    let turn = r#"{"type":"event","content":"use pnpm, never npm","user_id":"ana","role":"user"}"#;
    home.run_with(&["put", "-"], turn);
    home
}

/// Runs a script of the shell as the program; what it is given is in `given`.
fn consolidate(home: &Home, script: &str, options: &[&str]) -> Ran {
    home.write("facts.sh", format!("cat > given\n{script}\n"));
    let arguments = [
        "--json",
        "consolidate",
        "--with",
        "sh facts.sh",
        "--method",
        "facts",
    ];
    home.run(&[&arguments, options].concat())
}

fn objects(home: &Home) -> Vec<String> {
    let found = home.run(&["--json", "query", "--type", "belief"]).json();
    let found = found["results"].as_array().unwrap().iter();
    found
        .map(|it| it["grain"]["object"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
#[cfg(unix)]
fn a_program_derives_beliefs_and_undo_takes_the_run_back() {
    let home = home();
    let said = consolidate(&home, &format!("echo '{PNPM}'"), &[]).json();
    assert_eq!(
        (said["turns"].as_u64(), said["left"].as_u64()),
        (Some(1), Some(0)),
        "{said}"
    );
    assert!(
        fs::read_to_string(home.path("given"))
            .unwrap()
            .contains("never npm")
    );
    assert_eq!(objects(&home), ["pnpm"]);
    let yarn = PNPM
        .replace("pnpm", "yarn")
        .replace("}", ",\"supersedes\":\"b1\"}");
    let turn = r#"{"type":"event","content":"use yarn now","user_id":"ana","role":"user"}"#;
    home.run_with(&["put", "-"], turn);
    assert_eq!(
        consolidate(&home, &format!("echo '{yarn}'"), &[]).json()["replaced"],
        1
    );
    assert_eq!(objects(&home), ["yarn"]);

    let would = home.run(&["--json", "undo", "--dry-run"]).json();
    assert_eq!(would["operation"], "consolidate", "{would}");
    for left in [vec!["pnpm"], vec![]] {
        let undone = home.run(&["--json", "undo"]).json();
        assert_eq!(undone["ended"].as_array().unwrap().len(), 1, "{undone}");
        assert_eq!(objects(&home), left);
    }
    assert_eq!(home.run(&["undo"]).code, 1);
    // Its turns are new again.
    assert_eq!(consolidate(&home, "true", &[]).json()["turns"], 2);
    assert_eq!(consolidate(&home, "exit 1", &[]).json()["calls"], 0);
}

#[test]
#[cfg(unix)]
fn an_undo_goes_on_with_what_was_before_a_run() {
    let home = home();
    home.ok(&[
        "remember",
        "tea",
        "--subject",
        "ana",
        "--relation",
        "likes",
        "--user",
        "ana",
    ]);
    let mate = [
        "remember",
        "mate",
        "--subject",
        "ana",
        "--relation",
        "likes",
        "--user",
        "ana",
    ];
    home.ok(&[&mate[..], &["--if-same", "supersede"]].concat());
    consolidate(&home, &format!("echo '{PNPM}'"), &[]);
    assert!(home.ok(&["undo"]).contains("a consolidation"));
    assert_eq!(objects(&home), ["mate"]);
    assert!(home.ok(&["undo"]).contains("supersede"));
    assert_eq!(objects(&home), ["tea"]);
}

#[test]
#[cfg(unix)]
fn a_program_that_fails_uses_no_turn_up() {
    let home = home();
    for (script, why) in [
        ("exit 3", "exit status: 3"),
        ("echo Sure, here they are:", "JSON"),
        ("head -c 20000000 /dev/zero", "16 MiB"),
        ("printf '\\377\\376\\n'", "UTF-8"),
        ("exec sleep 60", "no answer within 1 s"),
        ("exec >&-; exec sleep 60", "no answer within 1 s"),
    ] {
        let ran = consolidate(&home, script, &["--answer-wait", "1"]);
        let error = ran.json()["error"].clone();
        assert_eq!(error["code"], "ERR_PROGRAM", "{script}: {ran:?}");
        assert!(
            error["message"].as_str().unwrap().contains(why),
            "{script}: {error}"
        );
        assert_eq!(ran.code, 2, "{script}");
    }
    let ran = home.run(&["--json", "consolidate", "--with", "./no-such-program"]);
    assert_eq!(ran.json()["error"]["code"], "ERR_PROGRAM");
    home.run(&["--json", "consolidate", "--with", " "])
        .fails(2, "ERR_USAGE", "");
    let mixed = format!("echo Facts:; echo '{PNPM}'");
    let ran = consolidate(&home, &mixed, &[]);
    assert_eq!(
        (ran.code, ran.json()["refused"].as_array().unwrap().len()),
        (1, 1),
        "{ran:?}"
    );
    assert_eq!(objects(&home), ["pnpm"]);
}

/// The program is killed, and the command beside it, while it has the turns and after it has answered.
#[test]
#[cfg(unix)]
fn a_run_that_is_killed_stores_all_of_a_call_or_nothing() {
    for delay in [0, 5, 10, 20, 40, 80, 160, 320] {
        let home = home();
        home.write(
            "facts.sh",
            format!("cat > /dev/null; sleep 0.02; echo '{PNPM}'\n"),
        );
        let mut command = home.command();
        command
            .args(["consolidate", "--with", "sh facts.sh"])
            .stdin(Stdio::null());
        let mut child = command.stdout(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_millis(delay));
        child.kill().unwrap();
        child.wait().unwrap();
        let before = objects(&home).len();
        let said = consolidate(&home, &format!("echo '{PNPM}'"), &[]).json();
        assert_eq!(
            said["turns"].as_u64().unwrap(),
            1 - before as u64,
            "after {delay} ms"
        );
        assert_eq!(objects(&home), ["pnpm"], "after {delay} ms");
    }
}

#[test]
#[cfg(unix)]
fn held_beliefs_wait_for_a_person() {
    let home = home();
    consolidate(&home, &format!("echo '{PNPM}'"), &["--review"]);
    assert!(objects(&home).is_empty());
    let reviews = home.run(&["--json", "policy", "review", "list"]).json();
    let id = reviews["reviews"][0]["id"].to_string();
    home.ok(&[
        "policy",
        "review",
        "clear",
        &id,
        "--reason",
        "read",
        "--authority",
        "mira",
    ]);
    assert_eq!(objects(&home), ["pnpm"]);
}

/// The script of docs/interchange.md, at a model server of the test.
#[test]
#[ignore = "needs python3"]
fn the_script_asks_a_model_and_passes_its_lines_on() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut len = 0;
        for line in reader.by_ref().lines() {
            let line = line.unwrap().to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                len = value.trim().parse().unwrap();
            }
            if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; len];
        reader.read_exact(&mut body).unwrap();
        let text = format!("Here they are:\n```\n{PNPM}\n```\n");
        let answer = json!({ "choices": [{ "message": { "content": text } }] }).to_string();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n",
            answer.len()
        );
        stream.write_all((head + &answer).as_bytes()).unwrap();
        serde_json::from_slice::<Value>(&body).unwrap()
    });
    let home = home();
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/consolidate/facts.py"
    );
    let with = format!("python3 {script} {url} small");
    let said = home.run(&["--json", "consolidate", "--with", &with]).json();
    assert_eq!(said["stored"].as_array().unwrap().len(), 1, "{said}");
    let asked = server.join().unwrap();
    assert_eq!(asked["model"], "small");
    assert!(
        asked["messages"][1]["content"]
            .as_str()
            .unwrap()
            .contains("never npm")
    );
    let belief = &home.run(&["--json", "query", "--type", "belief"]).json()["results"][0]["grain"];
    assert_eq!(belief["provenance_chain"][0]["method"], "python3");
}
