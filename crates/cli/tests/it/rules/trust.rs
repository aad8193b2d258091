//! `trust`, `agent`, `checkpoint`, and signed grains in a store.

use serde_json::{Value, json};

use crate::command::Home;

/// Makes a key and returns its DID.
fn new_key(home: &Home, file: &str) -> String {
    home.ok(&["did", "new", file]).trim().into()
}

fn grain(author: &str, object: &str) -> String {
    json!({
        "type": "belief", "subject": "user", "relation": "prefers", "object": object,
        "confidence": 0.9, "author_did": author, "namespace": "work", "created_at": 1,
    })
    .to_string()
}

/// Signs a grain and returns the line that `grain sign` writes.
fn signed(home: &Home, key: &str, grain: &str) -> String {
    let ran = home.run_with(&["grain", "sign", "--key", key], grain);
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.stdout
}

#[test]
fn what_goes_in_signed_comes_out_signed_with_whom_to_believe() {
    let home = Home::new();
    let did = new_key(&home, "key");
    let line = signed(&home, "key", &grain(&did, "tea"));
    let envelope: Value = serde_json::from_str(&line).unwrap();
    let address = envelope["address"].as_str().unwrap();
    assert_eq!(home.run_with(&["put", "-"], &line).stdout.trim(), address);
    let found = || home.run(&["--json", "get", address]).json()["signature"].clone();
    let unknown = json!({"signer": did, "trust": "untrusted", "doubt": "unknown_signer"});
    assert_eq!(found(), unknown);
    assert!(home.run(&["get", address]).stderr.contains("untrusted"));
    home.ok(&[
        "trust",
        "add",
        &did,
        "--namespace",
        "work",
        "--type",
        "belief",
        "--reason",
        "ours",
    ]);
    let verified = json!({"signer": did, "trust": "verified"});
    assert_eq!(found(), verified);
    let asked = home.run(&["--json", "query", "--subject", "user"]).json();
    assert_eq!(asked["results"][0]["signature"], verified);
    let verified_only = ["query", "--trust", "verified"];
    assert_eq!(home.run(&verified_only).code, 0);
    assert_eq!(home.run(&["search", "tea", "--trust", "verified"]).code, 0);
    let history = home.run(&["--json", "history", address]).json();
    assert_eq!(history["versions"][0]["signature"], verified);
    let listed = home.run(&["--json", "trust", "list"]).json();
    assert_eq!(listed["trusted"][0]["types"], json!(["belief"]));
    assert_eq!(
        home.ok(&["trust", "list"]).trim(),
        format!("{did} in work with belief")
    );

    // Bytes: only with the signature around them.
    let refused = home.run(&["get", address, "--blob"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (2, ""));
    assert!(refused.stderr.contains("--delivery"), "{refused:?}");
    let delivered = home.command().args(["get", address, "--delivery"]).output();
    let delivered = delivered.unwrap().stdout;
    let digits: String = delivered.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(digits, envelope["envelope"].as_str().unwrap());
    let exported = home.ok(&["export", "--format", "jsonl", "-o", "-"]);
    assert_eq!(exported, line);

    assert_eq!(
        home.run(&["trust", "remove", &did, "--reason", "lost"])
            .code,
        0
    );
    assert_eq!(
        home.run(&["trust", "remove", &did, "--reason", "lost"])
            .code,
        1
    );
    assert_eq!(found(), unknown);
    assert_eq!(home.run(&verified_only).code, 1);
    assert_eq!(home.run(&["check", "--deep"]).code, 0);
}

#[test]
fn what_may_not_be_written_is_denied_with_what_to_do() {
    let home = Home::new();
    let (ada, bob) = (new_key(&home, "ada"), new_key(&home, "bob"));
    home.ok(&["init"]);
    let open = home.run(&["--json", "trust", "add", &ada, "--only", "--reason", "x"]);
    assert_eq!(
        (open.code, &open.json()["error"]["code"]),
        (2, &json!("ERR_USAGE"))
    );
    home.ok(&[
        "trust",
        "add",
        &ada,
        "--namespace",
        "work",
        "--only",
        "--reason",
        "x",
    ]);
    for line in [
        grain(&bob, "tea"),
        signed(&home, "bob", &grain(&bob, "tea")),
    ] {
        let ran = home.run_with(&["--json", "put", "-"], &line);
        ran.fails(3, "ERR_UNTRUSTED", "line 1");
        assert!(ran.stdout.contains("only trusted signers"), "{ran:?}");
    }
    let forged = signed(&home, "bob", &grain(&ada, "tea"));
    home.run_with(&["--json", "put", "-"], &forged)
        .fails(3, "ERR_UNTRUSTED", "line 1");
    let line = signed(&home, "ada", &grain(&ada, "tea"));
    assert_eq!(home.run_with(&["put", "-"], &line).code, 0);
    home.run(&["--json", "trust", "add", "did:plc:x", "--reason", "x"])
        .fails(2, "ERR_DID", "did:plc:x");
}

#[test]
fn a_signature_that_is_not_kept_is_an_error_until_its_signer_is_trusted() {
    let home = Home::new();
    let (ada, _) = (new_key(&home, "ada"), new_key(&home, "bob"));
    let nobodys = r#"{"type":"event","content":"tea","namespace":"work","created_at":1}"#;
    let [by_bob, by_ada] = ["bob", "ada"].map(|key| signed(&home, key, nobodys));
    let put = |line: &str| home.run_with(&["--json", "put", "-"], line);
    assert_eq!(put(&by_bob).code, 0);
    put(&by_ada).fails(3, "ERR_UNTRUSTED", "line 1");
    home.ok(&["trust", "add", &ada, "--reason", "the operator"]);
    assert_eq!(put(&by_ada).code, 0);
    let envelope: Value = serde_json::from_str(&by_ada).unwrap();
    let address = envelope["address"].as_str().unwrap();
    let shown = home.run(&["--json", "get", address]).json();
    assert_eq!(shown["signature"]["signer"], ada);
    put(&by_bob).fails(3, "ERR_UNTRUSTED", "line 1");
    assert_eq!(home.run(&["check", "--deep"]).code, 0);
}

fn denied(ran: &crate::command::Ran) {
    assert_eq!(ran.code, 3, "{ran:?}");
    assert_eq!(ran.json()["error"]["code"], "ERR_INVALIDATION_DENIED");
}

#[test]
fn those_who_agreed_are_collected_when_a_grain_is_replaced() {
    let home = Home::new();
    let (ada, bob) = (new_key(&home, "ada"), new_key(&home, "bob"));
    home.ok(&["init"]);
    let store_id = home.run(&["--json", "stats"]).json()["store_id"].clone();
    let store_id = store_id.as_str().unwrap();
    let rent = |object: &str, more: Value| {
        let mut grain = json!({
            "type": "belief", "subject": "rent", "relation": "is", "object": object,
            "confidence": 1.0, "created_at": 1,
        });
        let members = grain.as_object_mut().unwrap();
        members.extend(more.as_object().unwrap().clone());
        grain.to_string()
    };
    let policy = json!({"invalidation_policy":
        {"mode": "quorum", "threshold": 2, "authorized": [ada, bob]}});
    let old = home.run_with(&["put", "-"], rent("900", policy)).stdout;
    let old = old.trim();
    let new = rent("950", json!({"derived_from": [old]}));
    home.write("new.json", new.as_str());
    for (key, file) in [("ada", "ada.auth"), ("bob", "bob.auth")] {
        let args = [
            "grain",
            "cosign",
            "--old",
            old,
            "--store-id",
            store_id,
            "--key",
            key,
        ];
        home.write(file, &home.run_with(&args, &new).stdout);
    }
    let one = ["--json", "supersede", old, "new.json", "--auth", "ada.auth"];
    denied(&home.run(&one));
    // The same signer twice is one voice.
    let twice = [&one[..], &["--auth", "ada.auth"]].concat();
    denied(&home.run(&twice));
    home.write("none.auth", "{}\n");
    let none = [
        "--json",
        "supersede",
        old,
        "new.json",
        "--auth",
        "none.auth",
    ];
    home.run(&none).fails(2, "ERR_CORRUPT", "none.auth");
    let both = [&one[..], &["--auth", "bob.auth"]].concat();
    let done = home.run(&both);
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(done.json()["supersedes"], old);
}

#[test]
fn a_value_that_is_revealed_later_is_held_against_its_hash() {
    let home = Home::new();
    let view = home.run_with(
        &["grain", "disclose", "--elide", "subject,object"],
        grain("did:web:example.com", "tea"),
    );
    home.write("view.json", &view.stdout);
    let check = |line: &str| home.run_with(&["grain", "verify-disclosure", "view.json"], line);
    let ran = check(r#"{"object": "tea", "subject": "user"}"#);
    assert_eq!(
        (ran.code, ran.json()),
        (0, json!({"object": true, "subject": true}))
    );
    let ran = check("{\"object\": \"coffee\"}\n{\"object\": \"tea\"}");
    assert_eq!(ran.code, 1);
    assert_eq!(
        ran.json_lines(),
        [json!({"object": false}), json!({"object": true})]
    );
    let ran = check(r#"{"relation": "prefers"}"#);
    assert_eq!(
        (ran.code, ran.json()["error"]["code"].clone()),
        (1, json!("ERR_SCHEMA"))
    );
    home.write("plain.json", grain("did:web:example.com", "tea"));
    home.run(&["--json", "grain", "verify-disclosure", "plain.json"])
        .fails(2, "ERR_SCHEMA", "plain.json");
}

#[test]
fn an_agent_is_provisioned_once_and_its_card_says_by_whom() {
    let home = Home::new();
    let operator = new_key(&home, "operator");
    let agent = "did:web:acme.example:agents:7";
    home.ok(&["init"]);
    assert_eq!(home.run(&["agent", "card", agent]).code, 1);
    let provision = |owner: &str| {
        let args = ["--json", "agent", "provision", agent, "--owner", owner];
        let more = [
            "--type",
            "org",
            "--jurisdiction",
            "US-DE",
            "--key",
            "operator",
        ];
        home.run(&[&args[..], &more].concat())
    };
    let address = provision("Acme Labs LLC").json()["address"].clone();
    let again = provision("Mallory");
    assert_eq!(again.code, 3, "{again:?}");
    let capability = json!({
        "type": "belief", "subject": agent, "relation": "mg:has_capability",
        "object": {"name": "Summarizer"}, "confidence": 1.0, "created_at": 1,
        "namespace": "agent:identity", "author_did": operator,
    });
    home.put(&capability.to_string());
    let card = home.run(&["--json", "agent", "card", agent]).json();
    assert_eq!(card["owner"]["address"], address);
    assert_eq!(card["owner"]["grain"]["owner"]["did"], operator);
    assert_eq!(card["owner"]["signature"]["trust"], "untrusted");
    assert_eq!(
        card["capabilities"][0]["grain"]["object"]["name"],
        "Summarizer"
    );
    home.ok(&["trust", "add", &operator, "--reason", "it is us"]);
    let shown = home.ok(&["agent", "card", agent]);
    assert_eq!(
        shown,
        format!("owner  Acme Labs LLC (verified, {operator})\ncan    Summarizer (unsigned)\n")
    );
    home.run(&[
        "--json",
        "agent",
        "provision",
        "agent 7",
        "--owner",
        "x",
        "--type",
        "org",
        "--key",
        "operator",
    ])
    .fails(2, "ERR_DID", "agent 7");
}

#[test]
fn a_checkpoint_that_was_kept_shows_whether_the_store_is_still_the_one() {
    let home = Home::new();
    let operator = new_key(&home, "operator");
    home.put(&grain(&operator, "tea"));
    let created = home.ok(&["checkpoint", "create", "--key", "operator"]);
    home.write("monday.json", &created);
    assert_eq!(home.ok(&["checkpoint", "list"]), created);
    let checked = home.run(&["checkpoint", "verify", "monday.json"]);
    assert_eq!(checked.code, 0, "{checked:?}");
    assert_eq!(checked.json()["signer"], operator);
    assert_eq!(checked.json()["entries"], 1);
    std::fs::remove_dir_all(home.path("memory.grains")).unwrap();
    home.put(&grain(&operator, "tea"));
    let checked = home.run(&["checkpoint", "verify", "monday.json"]);
    assert_eq!(
        (checked.code, checked.json()["is_of_this_ledger"].clone()),
        (4, json!(false))
    );
    home.write("none", "tea");
    home.run(&["--json", "checkpoint", "verify", "none"])
        .fails(2, "ERR_CORRUPT", "none");
}

#[test]
fn a_locked_grain_is_amended_with_the_option_alone() {
    let home = Home::new();
    let owner = new_key(&home, "key");
    let ownership = |name: &str| {
        json!({
            "type": "belief", "subject": "did:web:example.com:agents:7",
            "relation": "mg:owned_by", "object": name, "confidence": 1.0, "created_at": 1,
            "author_did": owner, "namespace": "agent:identity", "structural_tags": ["legal:ownership"],
            "owner": {"type": "org", "name": name},
            "invalidation_policy": {"mode": "locked", "scope": "lineage", "authorized": [owner]},
        })
    };
    home.write(
        "old",
        signed(&home, "key", &ownership("Acme Lab").to_string()),
    );
    let old = home.ok(&["put", "old"]).trim().to_owned();
    let mut new = ownership("Acme Labs");
    new["derived_from"] = json!([old]);
    home.write("new", signed(&home, "key", &new.to_string()));
    let denied = home.run(&["--json", "supersede", &old, "new"]);
    assert_eq!(denied.code, 3, "{denied:?}");
    let new = home.ok(&["supersede", &old, "new", "--amend-locked"]);
    let history = home.run(&["--json", "history", new.trim()]).json();
    assert_eq!(history["versions"].as_array().unwrap().len(), 2);
}

#[test]
fn a_did_web_signer_is_known_by_its_document() {
    let home = Home::new();
    let key = new_key(&home, "key");
    let did = "did:web:example.com:agents:7";
    let multibase = key.strip_prefix("did:key:").unwrap();
    let method =
        json!({"id": "#k", "type": "Multikey", "controller": did, "publicKeyMultibase": multibase});
    let document = json!({"id": did, "verificationMethod": [method], "assertionMethod": ["#k"]});
    home.write("did.json", document.to_string());
    let args = ["grain", "sign", "--key", "key", "--did", did];
    let line = home.run_with(&args, grain(did, "tea")).stdout;
    home.write("line", &line);
    let document = ["--did-document", "did.json"];
    let ways: [&[&str]; 3] = [
        &["grain", "verify", "line"],
        &["put", "line"],
        &["import", "line", "--format", "jsonl"],
    ];
    for way in ways {
        let unknown = home.run(&[&["--json"], way].concat());
        assert_ne!(unknown.code, 0, "{way:?}");
        assert!(unknown.stdout.contains("ERR_UNRESOLVED"), "{unknown:?}");
        let known = home.run(&[&document[..], way].concat());
        assert_eq!(known.code, 0, "{way:?} {known:?}");
    }
    // A key that the document keeps for another purpose signs nothing.
    let other = json!({"id": did, "verificationMethod": [method], "assertionMethod": [], "authentication": ["#k"]});
    home.write("other.json", other.to_string());
    home.run(&[
        "--json",
        "--did-document",
        "other.json",
        "grain",
        "verify",
        "line",
    ])
    .fails(2, "ERR_KEY", "other.json");
    home.run(&["--json", "--did-document", "none.json", "stats"])
        .fails(2, "ERR_IO", "none.json");
}

#[test]
fn a_task_is_handed_to_another_agent_and_back() {
    let home = Home::new();
    let (desk, expert) = ("did:web:desk.example", "did:web:expert.example");
    let asked = json!({
        "type": "event", "content": "my invoice is wrong", "session_id": "s1",
        "namespace": "acme:help", "created_at": 1,
    });
    home.put(&format!("{asked}\n"));
    let as_desk = ["--as", desk, "--in", "acme:help"];
    let as_expert = ["--as", expert, "--in", "acme:help"];
    let task = [
        "agent",
        "hand-off",
        expert,
        "settle the invoice",
        "--session",
        "s1",
    ];
    let delegation = home.ok(&[&task[..], &as_desk].concat());
    let delegation = delegation.trim();
    let nobody = home.run(&["--json", "agent", "take-over", delegation]);
    assert_eq!(nobody.json_lines()[0]["error"]["code"], "ERR_ACCESS_DENIED");
    let taken = home.ok(&[&["agent", "take-over", delegation][..], &as_expert].concat());
    assert!(taken.contains("my invoice is wrong"), "{taken}");
    let back = ["--json", "agent", "hand-back", delegation, "settled"];
    let back = home.run(&[&back[..], &as_expert].concat()).json();
    assert_eq!(back["return_to"], desk);
    let again = home.run(&[&["agent", "take-over", delegation][..], &as_expert].concat());
    // The delegation was all that it could see.
    assert_eq!(again.code, 1, "{again:?}");
}

#[test]
fn a_receipt_for_a_grain_is_verified_against_the_store() {
    let home = Home::new();
    let did = new_key(&home, "operator");
    let address = home.put(&format!("{}\n", grain(&did, "tea"))).remove(0);
    let receipt = home.ok(&["checkpoint", "receipt", &address, "--key", "operator"]);
    home.write("receipt.json", &receipt);
    let verified = home.run(&["checkpoint", "verify", "receipt.json"]);
    assert_eq!(verified.code, 0, "{verified:?}");
    assert_eq!(verified.json()["grain"], address.as_str());
    assert_eq!(verified.json()["signer"], did.as_str());
    home.ok(&[
        "delete",
        "--yes",
        &address,
        "--reason",
        "asked",
        "--authority",
        "the office",
    ]);
    let gone = home.run(&["checkpoint", "verify", "receipt.json"]);
    assert_eq!(
        (gone.code, gone.json()["is_here"].as_bool()),
        (1, Some(false))
    );
    let mut forged = receipt.into_bytes();
    let digit = forged.len() - 6;
    forged[digit] = if forged[digit] == b'0' { b'1' } else { b'0' };
    home.write("forged.json", &forged);
    assert_eq!(home.run(&["checkpoint", "verify", "forged.json"]).code, 2);
}
