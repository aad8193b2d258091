//! `user add|list|rekey`, `vault status|rotate|escrow|restore-root`, and the master key.

use std::process::{Command, Stdio};
use std::sync::Arc;

use age::secrecy::ExposeSecret as _;
use grainstore::ledger::{EntryId, FileDisk, Kind, Ledger};
use grainstore::{ContentAddress, Options, Store};
use serde_json::json;

use crate::command::{Home, Ran, binary, event};

/// A home with a master key, another one, and the key of an escrow officer.
fn home() -> (Home, String) {
    let home = Home::new();
    private(&home, "master.key", &[7; 32]);
    private(&home, "other.key", "0".repeat(64).as_bytes());
    let officer = age::x25519::Identity::generate();
    private(
        &home,
        "officer.txt",
        officer.to_string().expose_secret().as_bytes(),
    );
    (home, officer.to_public().to_string())
}

fn private(home: &Home, name: &str, bytes: &[u8]) {
    use std::os::unix::fs::PermissionsExt as _;
    home.write(name, bytes);
    let mode = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(home.path(name), mode).unwrap();
}

const KEY: [&str; 2] = ["--key-file", "master.key"];

fn with_key(home: &Home, args: &[&str]) -> Ran {
    home.run(&[args, &KEY, &["--json"]].concat())
}

fn ok(home: &Home, args: &[&str]) -> serde_json::Value {
    let ran = with_key(home, args);
    assert_eq!(ran.code, 0, "{args:?}: {ran:?}");
    ran.json()
}

#[test]
fn persons_are_added_listed_and_given_a_new_key() {
    let (home, _) = home();
    home.put(&event("plain", 1));
    let none = home.run(&["vault", "status"]);
    assert_eq!(none.code, 1, "{none:?}");
    assert!(!home.path("memory.grains/vault").exists());
    let added = ok(&home, &["user", "add", "alice", "bob"]);
    assert_eq!(added["added"][0]["user"], "alice");
    with_key(&home, &["user", "add", "alice"]).fails(2, "ERR_USER_EXISTS", "");
    let rekeyed = ok(&home, &["user", "rekey", "alice"]);
    assert_eq!(rekeyed["rekeyed"][0]["key"], 2);
    with_key(&home, &["user", "rekey", "carol"]).fails(1, "ERR_USER_UNKNOWN", "");
    let users = ok(&home, &["user", "list"]);
    assert_eq!(users["users"][0]["uid"], added["added"][0]["uid"]);
    assert_eq!(users["users"].as_array().unwrap().len(), 2);
    let text = home.ok(&["user", "list", "--key-file", "master.key"]);
    assert!(
        text.starts_with("alice  ") && text.contains("key 2\nbob"),
        "{text}"
    );
    let status = ok(&home, &["vault", "status"]);
    assert_eq!(
        (&status["persons"], &status["checked"]),
        (&json!(2), &json!(2))
    );
    assert_eq!(status["epoch"], 2);
}

#[test]
fn adding_a_person_seals_what_is_stored_of_them() {
    let (home, _) = home();
    home.put(&event("plain", 1));
    home.put(r#"{"type":"event","content":"of alice","user_id":"alice"}"#);
    let added = ok(&home, &["user", "add", "alice"]);
    assert_eq!(added["sealed"]["alice"], 1);
    assert_eq!(with_key(&home, &["user", "seal", "alice"]).code, 1);
    let found = |args: &[&str]| with_key(&home, &[&["search", "alice"], args].concat()).code;
    assert_eq!(found(&[]), 1, "locked");
    for question in ["search", "recall"] {
        let locked = home.run(&[question, "alice"]);
        assert!(locked.stderr.contains("1 person is locked"), "{locked:?}");
    }
    assert_eq!(found(&["--unlock", "alice"]), 0);
    ok(&home, &["vault", "blind-index", "none"]);
    let status = ok(&home, &["vault", "status"]);
    assert_eq!(status["blind_fields"], "none");
}

#[test]
fn a_held_grain_outlives_its_person_under_a_hold_key() {
    let (home, _) = home();
    home.ok(&["init"]);
    ok(&home, &["user", "add", "alice"]);
    let asked = ["--reason", "request 17", "--authority", "counsel"];
    let as_alice = ["--unlock", "alice"];
    home.write(
        "alice.jsonl",
        br#"{"type":"event","content":"evidence","user_id":"alice"}"#,
    );
    let put = with_key(&home, &[&["put", "alice.jsonl"][..], &as_alice].concat());
    assert_eq!(put.code, 0, "{put:?}");
    let held = ok(&home, &[&["list"][..], &as_alice].concat());
    let held = held["addresses"][0].as_str().unwrap().to_owned();
    ok(
        &home,
        &[&["hold", "place", &held][..], &asked, &as_alice].concat(),
    );
    let erase = [&["user", "erase", "alice", "--yes"][..], &asked].concat();
    with_key(&home, &erase).fails(3, "ERR_INVALIDATION_DENIED", "");
    let erased = ok(&home, &[&erase[..], &["--reseal-held"]].concat());
    assert_eq!(erased["held"], json!([held]));
    let users = ok(&home, &["user", "list"]);
    let name = users["users"][0]["user"].as_str().unwrap().to_owned();
    assert!(name.starts_with("hold:"), "{users}");
    let as_held = ["--unlock", &name];
    ok(&home, &[&["get", &held][..], &as_held].concat());
    ok(
        &home,
        &[&["hold", "lift", &held][..], &asked, &as_held].concat(),
    );
    ok(
        &home,
        &[&["delete", &held, "--yes"][..], &asked, &as_held].concat(),
    );
    let users = ok(&home, &["user", "list"]);
    assert!(users["users"][0]["rekey_until"].is_number(), "{users}");
    ok(&home, &["user", "rekey", "--due"]);
    assert_eq!(with_key(&home, &["user", "list"]).code, 0);
    assert_eq!(ok(&home, &["vault", "status"])["persons"], 0);
}

#[test]
fn the_key_comes_from_a_file_the_environment_a_descriptor_or_a_passphrase() {
    let (home, _) = home();
    home.put(&event("plain", 1));
    home.run(&["user", "add", "alice", "--json"])
        .fails(2, "ERR_KEY", "");
    let wrong = ["user", "list", "--json", "--key-file", "other.key"];
    ok(&home, &["user", "add", "alice"]);
    home.run(&wrong).fails(2, "ERR_MASTER_KEY", "");
    home.run(&["user", "list", "--json", "--key-file", "none.key"])
        .fails(2, "ERR_KEY", "");

    let sh = |line: &str| {
        let mut command = Command::new("sh");
        let path = home.path("");
        let line = line.replace("grainstore", binary());
        let run = command
            .args(["-c", &line])
            .current_dir(path)
            .stdin(Stdio::null());
        let output = run.output().unwrap();
        assert!(output.status.success(), "{line}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    for line in [
        "GRAINSTORE_KEY_FILE=master.key grainstore user list",
        "cat master.key | grainstore user list --key-file /dev/fd/0",
        "grainstore user list --key-file /dev/fd/3 3< master.key",
    ] {
        assert!(sh(line).starts_with("alice  "), "{line}");
    }
    sh("echo 'correct horse' | grainstore --store by-phrase init");
    let phrase = "echo 'correct horse' | grainstore --store by-phrase --key-passphrase-fd 0";
    sh(&format!("{phrase} user add bea"));
    assert!(sh(&format!("{phrase} user list")).starts_with("bea  "));

    home.ok(&["user", "list", "--key-file", "master.key"]);
    std::fs::write(home.path("open.key"), [7; 32]).unwrap();
    let ran = home.run(&["user", "list", "--json", "--key-file", "open.key"]);
    ran.fails(2, "ERR_KEY", "open.key");
}

#[test]
fn a_lost_root_comes_back_from_an_escrow_copy_which_the_status_and_the_ledger_tell() {
    let (home, officer) = home();
    home.put(&event("plain", 1));
    ok(&home, &["user", "add", "alice"]);
    let escrow = |name: &str| {
        let args = [
            "vault", "escrow", "--to", &officer, "--ttl", "30d", "-o", name,
        ];
        with_key(&home, &args)
    };
    let old = escrow("old.age").json();
    ok(&home, &["vault", "rotate"]);
    let copy = escrow("root.age").json();
    assert_eq!(escrow("root.age").code, 2, "no file is replaced");
    let status = ok(&home, &["vault", "status"]);
    let copies = status["escrows"].as_array().unwrap();
    assert_eq!(copies.len(), 2, "a copy that was not made is not told");
    assert_eq!(
        (&copies[0]["id"], &copies[0]["opens"]),
        (&old["id"], &json!(false))
    );
    assert_eq!(
        (&copies[1]["id"], &copies[1]["opens"]),
        (&copy["id"], &json!(true))
    );
    assert_eq!(copies[1]["recipient"], officer);
    let bytes = std::fs::read(home.path("root.age")).unwrap();
    assert!(bytes.starts_with(b"age-encryption.org/v1"));

    std::fs::remove_file(home.path("memory.grains/vault/root")).unwrap();
    let lost = with_key(&home, &["user", "list"]);
    lost.fails(2, "ERR_ROOT_MISSING", "");
    let told = with_key(&home, &["vault", "status"]);
    assert_eq!(told.code, 2);
    assert!(
        told.stdout.contains(copy["id"].as_str().unwrap()),
        "which copy to ask for"
    );
    let restore = |name: &str, more: &[&str]| {
        with_key(&home, &[&["vault", "restore-root", name], more].concat())
    };
    let officer = ["--identity", "officer.txt"];
    restore("root.age", &[]).fails(2, "ERR_SEALED", "");
    restore("old.age", &officer).fails(2, "ERR_ROOT_MISSING", "");
    restore("master.key", &officer).fails(2, "ERR_CORRUPT", "");
    let other = [
        "vault",
        "restore-root",
        "root.age",
        "--json",
        "--key-file",
        "other.key",
    ];
    home.run(&[&other[..], &officer].concat())
        .fails(2, "ERR_MASTER_KEY", "");
    assert!(!home.path("memory.grains/vault/root").exists());
    assert_eq!(restore("root.age", &officer).code, 0);
    assert_eq!(ok(&home, &["user", "list"])["users"][0]["user"], "alice");
}

#[test]
fn what_is_kept_elsewhere_brings_the_living_back_from_a_lost_disk() {
    let (home, officer) = home();
    home.ok(&["init"]);
    ok(&home, &["user", "add", "alice", "bob"]);
    for user in ["alice", "bob"] {
        let line = format!(r#"{{"type":"event","content":"tea","user_id":"{user}"}}"#);
        let put = [&["put", "-", "--unlock", user][..], &KEY].concat();
        assert_eq!(home.run_with(&put, line).code, 0);
    }
    std::fs::create_dir(home.path("elsewhere")).unwrap();
    let blocks: Vec<&str> = SECURITY.split("```console\n").skip(1).collect();
    let [copies, back, erasure] = blocks[..] else {
        panic!("{} blocks", blocks.len());
    };
    let run = |block: &str| {
        let (block, _) = block.split_once("```").unwrap();
        for line in block.lines().filter_map(|line| line.strip_prefix("$ ")) {
            let line = line.replace("grainstore ", &format!("{} ", binary()));
            let line = line.replace("age1…", &officer);
            let mut command = Command::new("sh");
            let command = command.args(["-c", &line]).current_dir(home.path(""));
            let output = command.output().unwrap();
            assert!(output.status.success(), "{line}: {output:?}");
        }
    };
    let found = |user: &str| with_key(&home, &["search", "tea", "--unlock", user]).code;
    let lose = || std::fs::remove_dir_all(home.path("memory.grains")).unwrap();

    run(copies);
    lose();
    run(back);
    assert_eq!((found("alice"), found("bob")), (0, 0));
    // What is left of an erased person at a keeper is the root and the keys of before.
    let of_before = std::fs::read(home.path("elsewhere/root.age")).unwrap();
    run(erasure);
    assert_eq!(found("alice"), 0);
    with_key(&home, &["search", "tea", "--unlock", "bob"]).fails(1, "ERR_USER_UNKNOWN", "");
    lose();
    home.write("elsewhere/root.age", of_before);
    let restored = ["restore", "elsewhere/backup", "memory.grains"];
    assert_eq!(home.run(&restored).code, 0);
    std::fs::create_dir_all(home.path("memory.grains/vault")).unwrap();
    let keys = home.path("elsewhere/vault.redb");
    std::fs::copy(keys, home.path("memory.grains/vault/vault.redb")).unwrap();
    let restore = |name: &str| {
        let args = ["vault", "restore-root", name, "--identity", "officer.txt"];
        with_key(&home, &args)
    };
    restore("elsewhere/root.age").fails(2, "ERR_ROOT_MISSING", "");
    assert_eq!(restore("elsewhere/root-2.age").code, 0);
    assert_eq!(found("alice"), 0);
    with_key(&home, &["search", "tea", "--unlock", "bob"]).fails(1, "ERR_USER_UNKNOWN", "");
}

/// The page that says what is kept elsewhere, and how it comes back.
const SECURITY: &str = include_str!("../../../../../docs/security.md");

#[test]
fn an_escrow_copy_needs_a_recipient_and_an_end_and_is_told_by_receipts() {
    let (home, officer) = home();
    home.put("{\"type\":\"event\",\"user_id\":\"zoe\",\"content\":\"c\",\"created_at\":1}\n");
    ok(&home, &["user", "add", "alice"]);
    let escrow = |to: &str, ttl: &str| {
        with_key(
            &home,
            &[
                "vault", "escrow", "--to", to, "--ttl", ttl, "-o", "root.age",
            ],
        )
    };
    for ttl in ["30", "0d", "-1d", "99999999999999999d"] {
        assert_eq!(escrow(&officer, ttl).code, 2, "{ttl}");
    }
    escrow("nobody", "30d").fails(2, "ERR_RECIPIENT", "");
    assert!(
        !home.path("root.age").exists(),
        "nothing is left of a copy that failed"
    );
    let copy = escrow(&officer, "12h").json();

    home.ok(&["did", "new", "operator.pem"]);
    let why = ["--reason", "request 17", "--authority", "the DPO", "--yes"];
    let erase = [
        "user",
        "erase",
        "zoe",
        "--key",
        "operator.pem",
        "--receipt",
        "zoe.json",
    ];
    // Whether zoe is sealed is known with the master key alone.
    home.ok(&[&erase[..], &why, &KEY].concat());
    let receipt = home.ok(&["--json", "user", "verify", "zoe.json"]);
    let receipt: serde_json::Value = serde_json::from_str(&receipt).unwrap();
    assert_eq!(
        receipt["escrows"],
        json!([{ "name": copy["id"], "until": copy["until"] }])
    );
}

#[test]
fn the_master_key_is_replaced_and_the_command_can_be_repeated() {
    let (home, _) = home();
    home.put(&event("plain", 1));
    ok(&home, &["user", "add", "alice"]);
    let rotate = ["vault", "rotate", "--master-key", "other.key"];
    assert_eq!(
        ok(&home, &rotate),
        json!({ "epoch": 2, "master_key_replaced": true })
    );
    assert_eq!(ok(&home, &rotate)["epoch"], 2, "repeated with the old key");
    with_key(&home, &["user", "list"]).fails(2, "ERR_MASTER_KEY", "");
    home.ok(&["user", "list", "--key-file", "other.key"]);
}

#[test]
fn backup_and_restore_say_where_the_keys_are() {
    let (home, _) = home();
    home.put(&event("plain", 1));
    ok(&home, &["user", "add", "alice"]);
    let backup = home.run(&["backup", "copy"]);
    assert!(
        backup.stderr.contains("no keys of sealed persons"),
        "{backup:?}"
    );
    assert!(!home.path("copy/vault").exists());
    let restored = home.run(&["restore", "copy", "new"]);
    assert_eq!(restored.code, 0);
    assert!(
        restored.stderr.contains("move the folder vault/"),
        "{restored:?}"
    );
    let list = ["user", "list", "--store", "new", "--json"];
    with_key(&home, &list[..4]).fails(2, "ERR_ROOT_MISSING", "");
    std::fs::rename(home.path("memory.grains/vault"), home.path("new/vault")).unwrap();
    assert_eq!(with_key(&home, &list[..4]).code, 0);
}

#[test]
fn a_sealed_person_is_unlocked_for_a_command() {
    let (home, _) = home();
    home.ok(&["init", "--preset", "hipaa"]);
    home.ok(&[&["user", "add", "ada"][..], &KEY].concat());
    let line = r#"{"type":"event","content":"takes aspirin","user_id":"ada","created_at":1,
        "author_did":"did:web:desk.example","processing_basis":"contract","structural_tags":["phi:mrn"]}"#;
    let line = line.replace('\n', "");
    let refused = home.run_with(&["put", "-", "--json"], &line);
    assert_eq!(refused.json_lines()[0]["error"]["code"], "ERR_LOCKED");
    let with_key = |args: &[&str]| {
        let unlocked = [args, &KEY[..], &["--unlock", "ada"]].concat();
        unlocked
            .iter()
            .map(|arg| (*arg).to_owned())
            .collect::<Vec<_>>()
    };
    let put = with_key(&["put", "-"]);
    let put: Vec<&str> = put.iter().map(String::as_str).collect();
    let stored = home.run_with(&put, &line);
    assert_eq!(stored.code, 0, "{stored:?}");
    let address = stored.stdout.trim().to_owned();
    assert_eq!(home.run(&["get", &address]).code, 1, "locked");
    let get = with_key(&["get", &address]);
    let get: Vec<&str> = get.iter().map(String::as_str).collect();
    assert!(home.ok(&get).contains("takes aspirin"));
    // OMS 20.2: by the hash of its ciphertext too.
    let ciphertext = ciphertext(&home);
    assert_eq!(home.run(&["get", &ciphertext]).code, 1, "locked");
    let get = with_key(&["get", &ciphertext, "--json"]);
    let get: Vec<&str> = get.iter().map(String::as_str).collect();
    assert_eq!(home.run(&get).json()["address"], json!(address));
    let search = with_key(&["search", "aspirin"]);
    let search: Vec<&str> = search.iter().map(String::as_str).collect();
    assert!(home.ok(&search).contains("takes aspirin"));
    home.ok(&["check", "--deep"]);
}

/// Returns the address of the first sealed grain by its ciphertext.
fn ciphertext(home: &Home) -> String {
    let folder = home.path("memory.grains");
    let store = Store::open(&folder, Options::default().read_only()).unwrap();
    let id = store.maintenance().unwrap().stats().unwrap().store_id;
    drop(store);
    let disk = Arc::new(FileDisk::new(&folder));
    let (ledger, _) = Ledger::open_to_read(disk, id, |_| Vec::new()).unwrap();
    let mut entries = (0..ledger.len()).map(|at| ledger.read(EntryId::new(at)).unwrap());
    let first = entries.find(|entry| entry.header.kind == Kind::SealedGrain);
    ContentAddress::of(&first.unwrap().body).to_string()
}
