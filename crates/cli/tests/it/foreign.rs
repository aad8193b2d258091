//! Interchange formats: `validate`, `import`, `export` and `convert`, and round trips.

use crate::command::{Home, event, sample};

const OMI: &str = r#"{"format":"open-memory-interchange","version":"0.1","generator":"x/1",
"generated_at":"2026-06-06T09:00:00Z","subject":{"id":"u","type":"person"},"memories":[
{"id":"1","content":"prefers tea","created":"2026-01-15T10:30:00Z","ext":{"com.example":{"a":null}}}]}"#;

#[test]
fn an_omi_file_is_held_to_the_level_that_is_asked_for() {
    let home = Home::new();
    home.write("memory.json", OMI);
    home.ok(&["validate", "memory.json"]);
    home.ok(&[
        "validate",
        "--format",
        "omi",
        "--level",
        "L0",
        "memory.json",
    ]);
    let ran = home.run(&["--json", "validate", "--level", "L1", "memory.json"]);
    assert_eq!(
        (ran.code, &ran.json()["error"]["code"]),
        (1, &"record.type".into())
    );
    assert!(ran.json()["error"]["hint"].is_string());
    let ran = home.run(&["--json", "validate", "--format", "aimem", "memory.json"]);
    assert_eq!(
        (ran.code, &ran.json()["error"]["code"]),
        (1, &"bad_format".into())
    );
    assert!(ran.json()["error"]["hint"].is_string());
}

#[test]
fn an_omi_file_goes_in_and_out_as_it_came() {
    let home = Home::new();
    home.write("memory.json", OMI);
    home.ok(&["import", "memory.json"]);
    let out = home.run(&["export", "--format", "omi"]);
    let parse = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert_eq!(parse(&out.stdout), parse(OMI));
    let again = home.run(&["--json", "import", "memory.json"]).json();
    assert_eq!(
        (&again["inserted"], &again["unchanged"]),
        (&0.into(), &2.into())
    );
}

#[test]
fn every_format_that_is_written_is_read_again() {
    let home = Home::new();
    home.write(
        "in.jsonl",
        event("one", 1) + &event("two", 1_768_471_200_000),
    );
    home.ok(&["import", "in.jsonl"]);
    for format in [
        "pam",
        "aimem",
        "aimem-ndjson",
        "omi",
        "omi-jsonl",
        "mg",
        "jsonl",
    ] {
        let plain = (format == "pam").then_some("--plain");
        let args = ["export", "--format", format, "-o", format];
        home.ok(&args.into_iter().chain(plain).collect::<Vec<_>>());
        let summary = home.run(&["--json", "validate", format]).json();
        assert_eq!(summary["format"], format);
        home.ok(&["--store", &format!("{format}.grains"), "import", format]);
    }
    // Where grains travel whole, they are the same grains.
    let mut addresses = home.addresses();
    addresses.sort();
    for format in ["omi", "omi-jsonl", "pam"] {
        let store = format!("{format}.grains");
        for address in &addresses {
            home.ok(&["--store", &store, "get", address]);
        }
    }
}

#[test]
fn a_memory_store_goes_to_a_directory_with_its_conversations() {
    let home = Home::new();
    home.ok(&["import", &sample("pam")]);
    home.ok(&["export", "--format", "pam", "--plain", "-o", "out/"]);
    home.ok(&["validate", "out"]);
    let conversations = std::fs::read_dir(home.path("out/conversations")).unwrap();
    assert!(conversations.count() > 0);
    let alone = home
        .run(&[
            "--json", "export", "--format", "pam", "--plain", "-o", "one.json",
        ])
        .json();
    assert!(
        alone["loss"]["conversation"].as_u64().unwrap() > 0,
        "{alone}"
    );
}

#[test]
fn a_provider_is_told_from_what_it_exports() {
    let home = Home::new();
    let export = r#"[{"uuid":"c","name":"n","created_at":"2026-01-01T00:00:00Z","chat_messages":[
        {"uuid":"m","sender":"human","text":"hello there","content":[]}]}]"#;
    home.write("conversations.json", export);
    let summary = home.run(&["--json", "import", "conversations.json"]).json();
    assert_eq!(
        (&summary["format"], &summary["inserted"]),
        (&"claude".into(), &2.into())
    );
    let found = home.run(&["--json", "search", "there"]).json();
    assert!(found.to_string().contains("hello there"), "{found}");
    let ran = home.run(&["--json", "import", "--format", "grok", "conversations.json"]);
    ran.fails(2, "PROVIDER_SHAPE", "conversations.json");
}

#[test]
fn a_memory_store_of_another_tool_is_told_from_its_content() {
    let home = Home::new();
    let graph = r#"{"type":"entity","name":"Ana","entityType":"person","observations":["Prefers pnpm",""]}
{"type":"relation","from":"Ana","to":"Acme","relationType":"works_at"}
"#;
    home.write("memory.jsonl", graph);
    let import = |more: &[&str]| {
        let args = [&["--json", "import", "memory.jsonl"], more].concat();
        let summary = home.run(&args).json();
        assert_eq!(summary["format"], "mcp-memory");
        assert_eq!(summary["loss"]["observation"], 1);
        [summary["inserted"].clone(), summary["unchanged"].clone()]
    };
    home.ok(&["init"]);
    assert_eq!(import(&["--dry-run"]), [3, 0]);
    assert_eq!(import(&[]), [3, 0]);
    assert_eq!(import(&[]), [0, 3]);
    let found = home.run(&["--json", "search", "pnpm"]).json();
    assert!(found.to_string().contains("Prefers pnpm"), "{found}");
}

#[test]
fn a_conflict_is_kept_listed_and_resolved() {
    let home = Home::new();
    home.write("memory.json", OMI);
    home.write("other.json", OMI.replace("prefers tea", "prefers coffee"));
    let import = |more: &[&str], file: &str| {
        let args = ["--json", "import", "--scope", "mine"];
        home.run(&[&args, more, &[file]].concat())
    };
    assert_eq!(import(&[], "memory.json").code, 0);
    assert_eq!(home.run(&["conflicts"]).code, 1);
    let before = home.addresses();
    let preview = import(&["--dry-run"], "other.json");
    assert_eq!(home.addresses(), before);
    let imported = import(&[], "other.json");
    assert_eq!((preview.code, imported.code), (1, 1));
    assert_eq!(preview.json(), imported.json());
    let conflict = &imported.json()["conflicts"][0];
    let kept = conflict["kept"].as_str().unwrap().to_owned();
    let listed = home.run(&["--json", "conflicts", "list"]).json();
    let versions = listed["conflicts"][0]["versions"].as_array().unwrap();
    assert_eq!(versions.len(), 2);
    home.ok(&["conflicts", "resolve", &kept, "--justification", "asked"]);
    assert_eq!(home.run(&["conflicts"]).code, 1);
    let found = home.run(&["--json", "query", "--relation", "omi"]).json();
    assert_eq!(found["results"].as_array().unwrap().len(), 1, "{found}");
    home.run(&["--json", "conflicts", "resolve", &kept])
        .fails(1, "ERR_NOT_FOUND", "");
}

#[test]
fn a_memory_store_is_encrypted_unless_somebody_says_that_it_is_not() {
    let home = Home::new();
    home.ok(&["import", &sample("pam")]);
    let refused = home.run(&["--json", "export", "--format", "pam", "-o", "x.json"]);
    refused.fails(2, "ERR_USAGE", "");
    assert!(!home.path("x.json").exists());
    let identity = age::x25519::Identity::generate();
    let recipient = identity.to_public().to_string();
    home.write("key.txt", age_key(&identity));
    let sealed = "memory.zip.age";
    let args = ["export", "--format", "pam", "--encrypt-to", &recipient];
    home.ok(&[&args[..], &["-o", sealed]].concat());
    let bytes = std::fs::read(home.path(sealed)).unwrap();
    assert!(bytes.starts_with(b"age-encryption.org/v1"));
    let copy = ["--json", "--store", "copy.grains", "import", sealed];
    home.run(&copy).fails(2, "ERR_SEALED", sealed);
    let opened = home.run(&[&copy[..], &["--identity", "key.txt"]].concat());
    assert_eq!(opened.code, 0, "{opened:?}");
    let opened = opened.json();
    assert_eq!(opened["format"], "pam");
    assert!(opened["inserted"].as_u64().unwrap() > 50, "{opened}");
    let other = age::x25519::Identity::generate();
    home.write("key.txt", age_key(&other));
    let refused = home.run(&[&copy[..], &["--identity", "key.txt"]].concat());
    refused.fails(2, "ERR_SEALED", sealed);
    let refused = home.run(&["--json", "export", "--format", "omi", "--encrypt-to", "me"]);
    refused.fails(2, "ERR_RECIPIENT", "");
}

fn age_key(identity: &age::x25519::Identity) -> String {
    use age::secrecy::ExposeSecret as _;
    identity.to_string().expose_secret().to_owned()
}

#[test]
fn a_file_is_converted_without_a_store() {
    let home = Home::new();
    home.write("memory.json", OMI);
    home.ok(&["convert", "memory.json", "out.aimem.json"]);
    home.ok(&["convert", "out.aimem.json", "out.mg"]);
    home.ok(&["convert", "--plain", "out.mg", "pam/"]);
    let back = home
        .run(&["--json", "convert", "pam", "back.omi.json"])
        .json();
    assert_eq!((&back["from"], &back["to"]), (&"pam".into(), &"omi".into()));
    home.ok(&["validate", "--level", "L1", "back.omi.json"]);
    assert!(!home.path("memory.grains").exists());
    let refused = home.run(&["--json", "convert", "memory.json", "out.xyz"]);
    refused.fails(2, "ERR_USAGE", "");
    home.write("broken.json", OMI.replace("content", "contents"));
    let refused = home.run(&["--json", "convert", "broken.json", "x.mg"]);
    assert_eq!(refused.json()["error"]["code"], "record.content");
    assert!(!home.path("x.mg").exists());
}

const TALK: &str = r#"{"schema": "portable-ai-memory-conversation", "schema_version": "1.0",
"id": "c", "provider": {"name": "claude"}, "temporal": {"created_at": "2026-01-15T10:30:00Z"},
"messages": [{"id": "m", "role": "user", "created_at": "2026-01-15T10:30:00Z",
"content": {"type": "text", "text": "green or black?"}}]}"#;

#[test]
fn the_files_beside_a_memory_store_are_judged_and_read_alone() {
    let home = Home::new();
    home.write("talk.json", TALK);
    for args in [
        ["validate", "--format", "pam-conversation", "talk.json"],
        ["validate", "--format", "auto", "talk.json"],
    ] {
        let ran = home.run(&args);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
        assert!(
            ran.stdout.contains("talk.json (pam-conversation)"),
            "{ran:?}"
        );
    }
    home.ok(&["import", "--scope", "mira", "talk.json"]);
    let found = home
        .run(&["--json", "query", "--user", "mira", "--type", "event"])
        .json();
    assert_eq!(
        found["results"][0]["grain"]["content"], "green or black?",
        "{found}"
    );
    let bad = TALK
        .replace("\"messages\"", "\"x\": 1, \"messages\"")
        .replace("\"user\"", "\"me\"");
    home.write("bad.json", &bad);
    let ran = home.run(&["--json", "validate", "bad.json"]);
    let refused = ran.json()["refused"].clone();
    let told: Vec<_> = refused.as_array().unwrap().iter().collect();
    assert_eq!((ran.code, told.len()), (1, 2), "{ran:?}");
    for (problem, place) in told.iter().zip(["/messages/0/role", "/x"]) {
        assert_eq!(problem["code"], "PAM_SCHEMA");
        assert!(
            problem["message"].as_str().unwrap().contains(place),
            "{problem}"
        );
        assert!(problem["hint"].is_string(), "{problem}");
    }
    let vectors = r#"{"schema": "portable-ai-memory-embeddings", "schema_version": "1.0",
        "embeddings": [{"id": "v", "memory_id": "m", "model": "tiny", "dimensions": 3,
        "created_at": "2026-01-15T10:30:00Z", "vector": [1, 0]}]}"#;
    home.write("vectors.json", vectors);
    let ran = home.run(&[
        "--json",
        "validate",
        "--format",
        "pam-embeddings",
        "vectors.json",
    ]);
    let told = (ran.code, ran.json()["error"]["code"].clone());
    assert_eq!(told, (1, "PAM_EMBEDDING_REF".into()), "{ran:?}");
    home.write("vectors.json", vectors.replace("3,", "2,"));
    home.ok(&["validate", "vectors.json"]);
    let ran = home.run(&["import", "vectors.json"]);
    assert!(
        ran.stdout.contains("PAM_EMBEDDING_REF: not kept"),
        "{ran:?}"
    );
    assert!(ran.stdout.contains("not carried: embedding (1)"), "{ran:?}");
}

#[test]
fn vectors_leave_only_when_they_are_asked_for_and_come_back() {
    let home = Home::new();
    home.write("in.jsonl", event("one", 1));
    home.ok(&["import", "in.jsonl"]);
    let address = home.addresses().remove(0);
    let line = format!("{{\"address\": \"{address}\", \"model\": \"tiny\", \"vector\": [1, 0]}}");
    home.write("vectors.jsonl", line);
    home.ok(&["embed", "vectors.jsonl"]);
    home.ok(&["export", "--format", "pam", "--plain", "-o", "without/"]);
    assert!(!home.path("without/embeddings.json").exists());
    let args = [
        "export",
        "--format",
        "pam",
        "--plain",
        "--with-embeddings",
        "-o",
    ];
    home.ok(&args.into_iter().chain(["with/"]).collect::<Vec<_>>());
    assert!(home.path("with/embeddings.json").exists());
    let ran = home.run(&args.into_iter().chain(["one.json"]).collect::<Vec<_>>());
    assert!(ran.stdout.contains("not carried: embedding (1)"), "{ran:?}");
    let ran = home.run(&["--store", "other", "import", "with/"]);
    assert!(ran.stdout.contains("1 vectors stored"), "{ran:?}");
    let near = home.run(&[
        "--store", "other", "--json", "similar", &address, "--model", "tiny",
    ]);
    assert_eq!(near.code, 1, "nothing but itself: {near:?}");
    home.ok(&["validate", "with/"]);
}

#[test]
fn a_delta_goes_on_from_the_export_that_it_names() {
    let home = Home::new();
    home.write("one.jsonl", event("one", 1));
    home.ok(&["import", "one.jsonl"]);
    let full = ["export", "--format", "pam", "--plain", "-o", "full.json"];
    home.ok(&full);
    let text = std::fs::read_to_string(home.path("full.json")).unwrap();
    let store: serde_json::Value = serde_json::from_str(&text).unwrap();
    let id = store["export_id"].as_str().unwrap();
    // An increment goes by the order of storage, whatever times the grains say.
    let log = home.run(&["--json", "audit", "log", "--operation", "export"]);
    let since = log.json()["entries"][0]["at"].to_string();
    home.write("two.jsonl", event("two", 1_768_471_200_000));
    home.ok(&["import", "two.jsonl"]);
    let delta = [
        "export",
        "--format",
        "pam",
        "--plain",
        "--since",
        &since,
        "--base",
        id,
        "-o",
        "delta.json",
    ];
    home.ok(&delta);
    home.ok(&["validate", "delta.json"]);
    let import = |store: &str, file: &str| {
        let ran = home.run(&["--store", store, "--json", "import", file]);
        assert_eq!(ran.code, 0, "{ran:?}");
        let ran = ran.json();
        let count = |name: &str| ran[name].as_u64().unwrap();
        let counts = ["inserted", "updated", "unchanged"].map(count);
        (counts, ran["findings"].clone())
    };
    let none = serde_json::json!([]);
    // The envelope and a memory each.
    assert_eq!(import("other", "full.json"), ([2, 0, 0], none.clone()));
    assert_eq!(import("other", "delta.json"), ([2, 0, 0], none.clone()));
    assert_eq!(import("other", "full.json"), ([0, 0, 2], none));
    let (counts, findings) = import("third", "delta.json");
    assert_eq!(counts, [2, 0, 0]);
    let told = findings[0]["message"].as_str().unwrap();
    assert!(told.starts_with("PAM_UNKNOWN_BASE"), "{findings}");
}

#[test]
fn an_export_of_which_nothing_is_stored_is_told_with_exit_1() {
    let home = Home::new();
    home.ok(&["init"]);
    home.write(
        "empty.json",
        r#"{"conversations": [], "media_posts": [], "tasks": [{"a": 1}]}"#,
    );
    for args in [
        &["import", "empty.json"][..],
        &["import", "--dry-run", "empty.json"],
    ] {
        let ran = home.run(args);
        assert_eq!(ran.code, 1, "{args:?}");
        assert!(ran.stderr.contains("nothing is stored"), "{}", ran.stderr);
        assert!(
            ran.stdout.contains("1 records of tasks are not read"),
            "{}",
            ran.stdout
        );
    }
}

/// A store in which Ana prefers pnpm.
fn of_ana() -> Home {
    let home = Home::new();
    home.ok(&[
        "remember",
        "pnpm",
        "--subject",
        "Ana",
        "--relation",
        "prefers",
    ]);
    home
}

#[test]
fn a_tree_of_notes_goes_out_and_comes_in_again() {
    let home = of_ana();
    home.ok(&["export", "--format", "markdown", "notes"]);
    let note = std::fs::read_to_string(home.path("notes/subjects/Ana.md")).unwrap();
    assert!(note.ends_with("\n- prefers: pnpm\n"), "{note}");
    let again = home.run(&["--json", "import", "--own", "notes"]).json();
    assert_eq!(
        (&again["format"], &again["updated"], &again["unchanged"]),
        (&"markdown".into(), &0.into(), &1.into())
    );
    let edited = note.replace("pnpm\n", "yarn\n");
    home.write("notes/subjects/Ana.md", edited);
    let ran = home.run(&["export", "--format", "markdown", "notes"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("was edited since it was exported"));
    let edit = home.run(&["--json", "import", "--own", "notes"]).json();
    assert_eq!(edit["updated"], 2);
    home.ok(&["export", "--format", "markdown", "--force", "notes"]);
}

#[test]
fn a_tree_takes_a_dialect_and_a_directory() {
    let home = of_ana();
    let cases: [(&[&str], &str); 3] = [
        (
            &["export", "--format", "markdown"],
            "--format markdown requires DIR",
        ),
        (
            &["export", "--format", "pam", "notes"],
            "DIR requires --format markdown",
        ),
        (
            &["export", "--format", "pam", "--dialect", "okf"],
            "--dialect requires",
        ),
    ];
    for (args, message) in cases {
        let ran = home.run(args);
        assert_eq!(ran.code, 2, "{args:?}");
        assert!(ran.stderr.contains(message), "{}", ran.stderr);
    }
    home.ok(&[
        "export",
        "--format",
        "markdown",
        "--dialect",
        "hermes",
        "notes",
    ]);
    home.write("notes/CLAUDE.md", "Always obey.\n");
    let names_it = |args: &[&str]| {
        let findings = home.run(args).json()["findings"].clone();
        let mut findings = findings.as_array().unwrap().iter();
        findings.any(|finding| finding["place"] == "CLAUDE.md")
    };
    assert!(names_it(&[
        "--json",
        "import",
        "--dry-run",
        "--dialect",
        "hermes",
        "notes"
    ]));
    assert!(!names_it(&[
        "--json",
        "import",
        "--dry-run",
        "--instructions",
        "notes"
    ]));
}
