//! `user report`, `user erase`, `user verify`: everything about a person, and nothing of it after.

use serde_json::json;

use crate::command::Home;

const WHY: [&str; 4] = ["--reason", "request 17", "--authority", "the DPO"];

fn of(user: &str, more: &str, at: u64) -> String {
    format!("{{\"type\":\"event\",\"user_id\":\"{user}\",{more},\"created_at\":{at}}}\n")
}

/// Returns the addresses of two grains of alice, and of one of bob that mentions her.
fn filled(home: &Home) -> Vec<String> {
    let lines = of("alice", r#""content":"the password is swordfish""#, 1)
        + &of("alice", r#""content":"likes tea""#, 2)
        + &of("bob", r#""content":"met her","entity_id":"alice""#, 3);
    home.put(&lines)
}

fn erase(home: &Home, more: &[&str]) -> crate::command::Ran {
    home.run(&[&["user", "erase", "alice"][..], &WHY, more].concat())
}

#[test]
fn a_report_lists_everything_and_how_it_was_found_and_an_export_writes_the_same_grains() {
    let home = Home::new();
    let put = filled(&home);
    let lines = home
        .run(&["user", "report", "alice", "--json"])
        .json_lines();
    assert_eq!(
        (&lines[0]["about"], &lines[0]["mentions"]),
        (&json!(2), &json!(1))
    );
    let found: Vec<_> = lines[1..]
        .iter()
        .map(|it| it["address"].as_str().unwrap())
        .collect();
    assert_eq!(found, put);
    assert_eq!(lines[1]["found_by"], json!(["user_id"]));
    assert_eq!(lines[1]["grain"]["content"], "the password is swordfish");
    assert_eq!(lines[3]["found_by"], json!(["entity_id"]));
    assert!(
        lines[3]["grain"].is_null(),
        "another user's grain is listed alone"
    );
    let text = home.ok(&["user", "report", "alice"]);
    assert!(text.contains("mentions  entity_id"), "{text}");
    assert_eq!(home.run(&["user", "report", "carol"]).code, 1);
    for format in ["jsonl", "mg", "omi", "aimem", "pam"] {
        let args = ["export", "--person", "alice", "--plain", "--format", format];
        home.ok(&[&args[..], &["-o", "out"]].concat());
        let bytes = std::fs::read(home.path("out")).unwrap();
        let has = |word: &str| {
            bytes
                .windows(word.len())
                .any(|part| part == word.as_bytes())
        };
        assert!(has("swordfish") && !has("met her"), "{format}");
        std::fs::remove_file(home.path("out")).unwrap();
    }
}

#[test]
fn an_erasure_is_previewed_confirmed_and_leaves_nothing_in_any_file() {
    let home = Home::new();
    let put = filled(&home);
    let preview = erase(&home, &["--dry-run", "--json"]).json();
    assert_eq!(preview["would_erase"], json!(put[..2]));
    assert_eq!(erase(&home, &[]).code, 2, "without --yes");
    assert_eq!(home.addresses().len(), 3);
    let ran = erase(&home, &["--yes", "--json"]);
    let done = ran.json();
    assert_eq!(done["erased"].as_array().unwrap().len(), 2);
    assert_eq!(done["mentions"], json!(put[2..]));
    assert!(ran.stderr.contains("--mentions"), "{ran:?}");
    assert_eq!(home.addresses(), put[2..]);
    for folder in ["ledger", "index", "text"] {
        for file in std::fs::read_dir(home.path("memory.grains").join(folder)).unwrap() {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            assert!(
                !bytes.windows(9).any(|part| part == b"swordfish"),
                "{folder}"
            );
        }
    }
    assert_eq!(erase(&home, &["--yes", "--mentions"]).code, 0);
    assert!(home.addresses().is_empty());
    let again = erase(&home, &["--yes", "--json"]);
    assert_eq!((again.code, &again.json()["erased"]), (1, &json!([])));
    assert!(home.ok(&["check"]).contains('0'));
}

#[test]
fn what_is_kept_refuses_the_erasure_by_name_unless_it_is_excepted() {
    let home = Home::new();
    let put = filled(&home);
    home.ok(&[&["hold", "place", &put[0]][..], &WHY].concat());
    assert_eq!(erase(&home, &["--dry-run"]).code, 3);
    let refused = erase(&home, &["--yes", "--json"]);
    refused.fails(3, "ERR_INVALIDATION_DENIED", "");
    assert!(refused.stderr.contains(&put[0]), "{refused:?}");
    assert_eq!(home.addresses().len(), 3);
    let done = erase(&home, &["--yes", "--except-kept", "--json"]);
    assert_eq!(done.code, 1, "partly refused");
    let kept = json!([{ "address": put[0], "rule": "legal_hold" }]);
    assert_eq!(done.json()["kept"], kept);
    assert_eq!(home.run(&["get", &put[1]]).code, 1);
}

#[test]
fn a_receipt_is_verified_without_the_store_and_with_it_and_no_edit_passes() {
    let home = Home::new();
    filled(&home);
    home.ok(&["did", "new", "op.pem"]);
    let receipt = ["--yes", "--key", "op.pem", "--receipt", "receipt.json"];
    // A command that was killed left an empty file.
    home.write("receipt.json", "");
    assert_eq!(erase(&home, &receipt).code, 0);
    let taken = erase(&home, &receipt);
    assert_eq!(taken.code, 2, "a receipt is never overwritten: {taken:?}");
    let text = std::fs::read_to_string(home.path("receipt.json")).unwrap();
    assert!(!text.contains("alice"), "{text}");
    let verify =
        |more: &[&str]| home.run(&[&["user", "verify", "receipt.json"][..], more].concat());
    let told = verify(&["--person", "alice", "--in-store"]).stdout;
    for said in [
        "proven: did:key:",
        "2 grains of one person are erased",
        "the person is alice",
        "this store's ledger has the erasure",
    ] {
        assert!(told.contains(said), "{told}");
    }
    let shown = verify(&["--person", "alice", "--in-store", "--json"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    let shown = shown.json();
    assert_eq!(
        (&shown["erased"], &shown["is_of_this_store"]),
        (&json!(2), &json!(true))
    );
    let of_bob = verify(&["--person", "bob"]);
    assert!(
        of_bob.stdout.contains("THE PERSON IS NOT bob"),
        "{of_bob:?}"
    );
    assert_eq!(of_bob.code, 4);
    let other = Home::new();
    other.put(&of("bob", r#""content":"other""#, 1));
    other.write("receipt.json", &text);
    assert_eq!(other.run(&["user", "verify", "receipt.json"]).code, 0);
    let elsewhere = other.run(&["user", "verify", "receipt.json", "--in-store"]);
    assert_eq!(elsewhere.code, 4, "{elsewhere:?}");
    home.write(
        "receipt.json",
        text.replace("\"erased\": 2", "\"erased\": 3"),
    );
    assert_eq!(verify(&[]).code, 2, "the readable part was edited");
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    let digits = document["receipt"].as_str().unwrap();
    let digit = if digits.as_bytes()[200] == b'0' {
        '1'
    } else {
        '0'
    };
    let edited = format!("{}{digit}{}", &digits[..200], &digits[201..]);
    home.write("receipt.json", text.replace(digits, &edited));
    assert_eq!(verify(&[]).code, 2, "the message was edited");
}

/// An export of an assistant that names an account.
fn export_of(home: &Home, account: &str) -> String {
    let name = format!("{account}.json");
    let memory = format!(
        r#"{{"schema":"portable-ai-memory","schema_version":"1.0","owner":{{"id":"{account}"}},"memories":[],"#
    );
    let talk = format!(
        r#""conversations_index":[{{"id":"talk of {account}","platform":"claude","temporal":{{"created_at":"2026-01-15T10:30:00Z"}}}}]}}"#
    );
    home.write(&name, memory + &talk);
    name
}

#[test]
fn an_import_of_another_account_says_how_the_two_become_one_and_an_alias_unites_them() {
    let home = Home::new();
    home.put(&of("mira", r#""content":"likes tea""#, 1));
    let ran = home.run(&["import", &export_of(&home, "user-7f3a")]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let advice = "`user alias mira user-7f3a` unites them";
    assert!(ran.stderr.contains(advice), "{}", ran.stderr);
    let finds = || {
        let asked = ["query", "--user", "user-7f3a", "--type", "event"];
        home.run(&asked).code
    };
    assert_eq!(finds(), 1, "nothing is found");
    let alias = [&["user", "alias", "mira", "user-7f3a"][..], &WHY].concat();
    assert_eq!(home.ok(&alias).lines().count(), 2);
    assert_eq!(home.run(&alias).code, 1, "it is known");
    assert_eq!(finds(), 0);
    // Nothing is left to say, and of the same user nothing ever was.
    let again = home.run(&["import", &export_of(&home, "user-7f3a")]);
    assert!(!again.stderr.contains("alias"), "{}", again.stderr);
    let import = [
        "--store",
        "other",
        "import",
        "--user",
        "mira",
        "user-7f3a.json",
    ];
    home.ok(&import);
    let ran = home.run(&import);
    assert!(!ran.stderr.contains("alias"), "{}", ran.stderr);
}

#[test]
fn a_person_of_whom_nothing_is_there_is_no_success_and_near_names_are_told() {
    let home = Home::new();
    filled(&home);
    let asked: [&[&str]; 7] = [
        &["user", "report", "Alice"],
        &[&["user", "erase", "Alice", "--yes"][..], &WHY].concat(),
        &[&["user", "erase", "Alice", "--dry-run"][..], &WHY].concat(),
        &["query", "--user", "Alice"],
        &["query", "--person", "Alice"],
        &["search", "tea", "--user", "Alice"],
        &["recall", "tea", "--user", "Alice"],
    ];
    for args in asked {
        let ran = home.run(args);
        assert_eq!(ran.code, 1, "{args:?}: {}", ran.stderr);
        assert!(
            ran.stderr.contains("did you mean alice?"),
            "{args:?}: {}",
            ran.stderr
        );
        assert_eq!(ran.stdout, "", "{args:?}");
    }
    let other = home.run(&["user", "report", "carol"]);
    assert!(
        other.stderr.contains("users here are alice, bob"),
        "{}",
        other.stderr
    );
    // A person who is there is not asked after, whatever else finds nothing.
    let none = home.run(&["search", "zebra", "--user", "alice"]);
    assert_eq!((none.code, &*none.stderr), (1, "nothing found\n"));
}
