//! `did`, and the subcommands of `grain` that sign, verify and disclose.

use std::process::Command;

use crate::command::{Home, event};
use serde_json::{Value, json};

const STORE: &str = "07070707070707070707070707070707";

/// Makes a key and returns its DID.
fn new_key(home: &Home, file: &str, kind: &str) -> String {
    home.ok(&["did", "new", file, "--kind", kind]).trim().into()
}

#[test]
fn a_new_key_is_a_file_that_nobody_else_can_read() {
    let home = Home::new();
    for kind in ["ed25519", "p256"] {
        let did = new_key(&home, kind, kind);
        assert!(did.starts_with("did:key:z"), "{did}");
        assert_eq!(home.ok(&["did", "show", kind]).trim(), did);
        assert_eq!(home.ok(&["did", "show", &did]).trim(), did);
        let pem = std::fs::read_to_string(home.path(kind)).unwrap();
        assert!(pem.starts_with("-----BEGIN PRIVATE KEY-----\n"));
        let again = home.run(&["--json", "did", "new", kind]);
        again.fails(2, "ERR_IO", kind);
        assert_eq!(std::fs::read_to_string(home.path(kind)).unwrap(), pem);
        let shown = home.run(&["--json", "did", "show", &did]).json();
        let digits = shown["public_key"].as_str().unwrap().len();
        assert_eq!(digits, if kind == "p256" { 66 } else { 64 });
    }
    assert_ne!(
        new_key(&home, "a", "ed25519"),
        new_key(&home, "b", "ed25519")
    );
    let web = home
        .run(&["--json", "did", "show", "did:web:example.com"])
        .json();
    assert_eq!(web["public_key"], Value::Null);
    home.run(&["--json", "did", "show", "did:plc:x"])
        .fails(2, "ERR_DID", "did:plc:x");
}

#[cfg(unix)]
#[test]
fn a_key_that_others_can_read_is_not_used() {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    let did = new_key(&home, "key", "ed25519");
    let mode = |file: &str| home.path(file).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("key"), 0o600);
    for open in [0o640, 0o604, 0o660] {
        set_permissions(home.path("key"), Permissions::from_mode(open)).unwrap();
        home.run(&["--json", "did", "show", "key"])
            .fails(2, "ERR_KEY", "key");
        home.run(&["--json", "grain", "sign", "--key", "key"])
            .fails(2, "ERR_KEY", "key");
    }
    set_permissions(home.path("key"), Permissions::from_mode(0o400)).unwrap();
    assert_eq!(home.ok(&["did", "show", "key"]).trim(), did);
    // From a descriptor, and from what openssl writes.
    let script = format!(
        "exec 7<key; echo '{}' | {} grain sign --key-fd 7",
        line(),
        binary()
    );
    let run = Command::new("sh")
        .arg("-c")
        .arg(script)
        .current_dir(home.path(""))
        .output();
    let signed: Value = serde_json::from_slice(&run.unwrap().stdout).unwrap();
    assert_eq!(verified(&home, &signed)["signer"], did);
    home.write(
        "none",
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
    );
    set_permissions(home.path("none"), Permissions::from_mode(0o600)).unwrap();
    let ran = home.run(&["--json", "did", "show", "none"]);
    ran.fails(2, "ERR_KEY", "none");
    assert!(!ran.stdout.contains("AAAA"));
}

fn binary() -> &'static str {
    crate::command::binary()
}

fn line() -> String {
    event("signed", 1).trim().to_owned()
}

fn verified(home: &Home, signed: &Value) -> Value {
    let ran = home.run_with(&["grain", "verify"], signed.to_string());
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.json()
}

#[test]
fn what_is_signed_is_verified_with_its_signer() {
    let home = Home::new();
    for kind in ["ed25519", "p256"] {
        let did = new_key(&home, kind, kind);
        let mut grain: Value = serde_json::from_str(&line()).unwrap();
        grain["author_did"] = json!(did);
        let lines = format!("{grain}\n{}\n", line());
        for encoding in ["msgpack", "cbor"] {
            let args = ["grain", "sign", "--key", kind, "--encoding", encoding];
            let ran = home.run_with(&args, &lines);
            assert_eq!(ran.code, 0, "{ran:?}");
            let signed = ran.json_lines();
            let (mine, other) = (verified(&home, &signed[0]), verified(&home, &signed[1]));
            assert_eq!(
                (&mine["signer"], &mine["is_author"]),
                (&json!(did), &json!(true))
            );
            assert_eq!(
                (&other["signer"], &other["is_author"]),
                (&json!(did), &json!(false))
            );
            assert_eq!(mine["address"], signed[0]["address"]);
            assert_eq!(mine["grain"]["content"], "signed");
            assert!(mine["iat"].is_i64());
            // Digits alone do as well.
            let digits = signed[0]["envelope"].as_str().unwrap();
            assert_eq!(home.run_with(&["grain", "verify"], digits).json(), mine);
        }
    }
    assert!(!home.path("memory.grains").exists());
}

#[test]
fn what_does_not_verify_says_why_and_the_others_go_on() {
    let home = Home::new();
    new_key(&home, "key", "ed25519");
    let web = [
        "grain",
        "sign",
        "--key",
        "key",
        "--did",
        "did:web:example.com",
    ];
    let web = home.run_with(&web, line()).json();
    let signed = home
        .run_with(&["grain", "sign", "--key", "key"], line())
        .json();
    let digits = signed["envelope"].as_str().unwrap();
    let last = digits.len() - 1;
    let flipped = if digits.ends_with('0') { "1" } else { "0" };
    let moved = json!({ "address": "00", "envelope": digits });
    let lines = [
        format!("{}{flipped}", &digits[..last]),
        web.to_string(),
        digits[2..].to_owned(),
        "+1".into(),
        "{}".into(),
        moved.to_string(),
        signed.to_string(),
    ];
    let ran = home.run_with(&["grain", "verify"], lines.join("\n"));
    assert_eq!(ran.code, 1, "{ran:?}");
    let said = ran.json_lines();
    let codes: Vec<_> = said
        .iter()
        .map(|line| line["error"]["code"].clone())
        .collect();
    let expected = [
        "ERR_SIGNATURE",
        "ERR_UNRESOLVED",
        "ERR_CORRUPT",
        "ERR_CORRUPT",
        "ERR_CORRUPT",
        "ERR_INTEGRITY",
    ];
    assert_eq!(codes[..6], expected);
    assert_eq!(said[1]["error"]["line"], 2);
    assert_eq!(said[6]["address"], signed["address"]);
    let other = ["grain", "sign", "--key", "key", "--did", "did:key:z6Mk"];
    assert_eq!(home.run_with(&other, line()).code, 2);
}

#[test]
fn a_cosigned_grain_carries_what_the_command_gave() {
    let home = Home::new();
    let old = "a".repeat(64);
    let mut grain: Value = serde_json::from_str(&line()).unwrap();
    grain["derived_from"] = json!([old]);
    let mut elements = Vec::new();
    for (file, kind) in [("one", "ed25519"), ("two", "p256")] {
        let did = new_key(&home, file, kind);
        let args = [
            "grain",
            "cosign",
            "--old",
            &old,
            "--store-id",
            STORE,
            "--key",
            file,
        ];
        let ran = home.run_with(&args, grain.to_string());
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(ran.json()["signer"], did);
        elements.push(ran.json()["supersession_auth"].clone());
        // The second signs what carries the first one's signature already.
        grain["supersession_auth"] = json!(elements);
    }
    let encoded = home.run_with(&["grain", "encode"], grain.to_string());
    assert_eq!(encoded.code, 0, "{encoded:?}");
    let read = home.run_with(&["grain", "decode"], &encoded.stdout).json();
    assert_eq!(read["grain"]["supersession_auth"], json!(elements));
    for (old, store_id) in [("xyz", STORE), (&*old, "07"), (&*old, "zz")] {
        let args = [
            "grain",
            "cosign",
            "--old",
            old,
            "--store-id",
            store_id,
            "--key",
            "one",
        ];
        assert_eq!(home.run_with(&args, grain.to_string()).code, 2);
    }
}

#[test]
fn a_view_shows_hashes_for_what_it_leaves_out() {
    let home = Home::new();
    let mut grain: Value = serde_json::from_str(&line()).unwrap();
    grain["user_id"] = json!("alice-123");
    grain["namespace"] = json!("hr");
    let elide = ["grain", "disclose", "--elide", "user_id,namespace"];
    let ran = home.run_with(&elide, grain.to_string());
    assert_eq!(ran.code, 0, "{ran:?}");
    let view = ran.json();
    let hash = "sha256:48f1cf08a5b4ebe54182773c4345c19fb3a069740daeba7c4707b0e790745280";
    assert_eq!(view["grain"]["_elided"]["user_id"], hash);
    assert_eq!(view["warnings"].as_array().unwrap().len(), 2);
    let original = home
        .run_with(&["grain", "encode"], grain.to_string())
        .json();
    let of = format!("sha256:{}", original["address"].as_str().unwrap());
    assert_eq!(view["grain"]["_disclosure_of"], of);
    let read = home
        .run_with(&["grain", "decode"], view["blob"].as_str().unwrap())
        .json();
    assert_eq!(read["address"], view["address"]);
    assert_eq!(read["header"]["namespace_hash"], "0000");
    let ran = home.run_with(
        &["grain", "disclose", "--elide", "created_at"],
        grain.to_string(),
    );
    assert_eq!(
        (ran.code, &ran.json()["error"]["code"]),
        (1, &json!("ERR_SCHEMA"))
    );
}
