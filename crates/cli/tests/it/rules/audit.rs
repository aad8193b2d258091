//! The audit trail by the command, and by the verifier that shares no code with it.

use std::path::Path;
use std::process::Command;

use grainstore::Time;
use grainstore::crypto::{Algorithm, Note, NoteKey, OsRandom, SigningKey};
use serde_json::{Value, json};

use crate::command::{Home, event};

const WHY: [&str; 4] = ["--reason", "request 17", "--authority", "the DPO"];

/// A store with an operator's key, a few changes, and the first note of it.
fn audited() -> (Home, String) {
    let home = Home::new();
    home.ok(&["did", "new", "key.pem"]);
    home.put(&(event("one", 1) + &event("two", 2) + &event("three", 3)));
    let args = [
        "audit",
        "head",
        "--key",
        "key.pem",
        "--append",
        "notes.jsonl",
        "--json",
    ];
    let head = home.run(&args).json();
    home.write("monday.txt", head["note"].as_str().unwrap());
    (home, head["log_key"].as_str().unwrap().to_owned())
}

#[test]
fn a_note_pins_a_store_and_its_rollback_is_found() {
    let (home, key) = audited();
    home.put(&event("four", 4));
    std::fs::create_dir(home.path("old")).unwrap();
    let verify = ["audit", "verify", "--note", "monday.txt", "--log-key", &key];
    let answer = home.run(&verify);
    assert_eq!(answer.code, 0, "{answer:?}");
    let answer = answer.json();
    assert_eq!(
        (&answer["is_of_this_ledger"], &answer["is_signed"]),
        (&json!(true), &json!(true))
    );
    let text = home.ok(&["check"]);
    assert!(text.contains("unanchored"), "{text}");
    let text = home.ok(&["check", "--deep", "--since", "notes.jsonl"]);
    assert!(
        text.contains("extends the checkpoint of 3 entries"),
        "{text}"
    );
    let checkpoint = home.ok(&["checkpoint", "create", "--key", "key.pem"]);
    home.write("cose.json", &checkpoint);
    let anchored = home
        .run(&["check", "--since", "cose.json", "--json"])
        .json();
    assert_eq!(anchored["anchor"], 6);

    let head = home.run(&["audit", "head", "--json"]).json();
    home.write("later.txt", head["note"].as_str().unwrap());
    let unsigned = home.run(&["audit", "verify", "--note", "later.txt", "--log-key", &key]);
    assert_eq!(
        (unsigned.code, &unsigned.json()["is_signed"]),
        (4, &json!(false))
    );
    // Another store in its place.
    std::fs::remove_dir_all(home.path("memory.grains")).unwrap();
    home.put(&(event("one", 1) + &event("two", 2) + &event("three", 3) + &event("four", 4)));
    let found = home.run(&["check", "--since", "monday.txt", "--json"]);
    assert_eq!(found.code, 4, "{found:?}");
    assert_eq!(found.json()["findings"][0]["id"], "checkpoint-differs");
    assert_eq!(home.run(&verify).code, 4);
}

#[test]
fn witnesses_are_counted_and_too_few_are_refused() {
    let (home, key) = audited();
    let text = std::fs::read_to_string(home.path("monday.txt")).unwrap();
    let mut note: Note = text.parse().unwrap();
    let mut args = ["audit", "verify", "--note", "monday.txt", "--log-key", &key]
        .map(str::to_owned)
        .to_vec();
    for name in ["one.example", "two.example"] {
        let witness = SigningKey::generate(Algorithm::Ed25519, &OsRandom).unwrap();
        note.cosign(name, &witness, Time::from_ms(1_700_000_000_000))
            .unwrap();
        let public = NoteKey::witness(name, witness.verifying_key()).unwrap();
        args.extend(["--witness".to_owned(), public.to_string()]);
    }
    home.write("monday.txt", note.to_string());
    for (wanted, code) in [("2", 0), ("3", 4)] {
        let args = args
            .iter()
            .map(String::as_str)
            .chain(["--witnesses", wanted]);
        assert_eq!(home.run(&args.collect::<Vec<_>>()).code, code, "{wanted}");
    }
}

#[test]
fn a_proof_is_made_under_an_older_note_too() {
    let (home, key) = audited();
    let head = ["audit", "head", "--key", "key.pem", "--json"];
    let head = home.run(&head).json();
    home.write("note.txt", head["note"].as_str().unwrap());
    home.put(&event("more", 9));
    let entries = head["entries"].to_string();
    for subject in [&["1"][..], &["--from", "2"]] {
        let prove = [&["audit", "prove"][..], subject, &["--entries", &entries]].concat();
        home.write("older.json", home.ok(&prove));
        let note = [
            "audit",
            "verify",
            "older.json",
            "--note",
            "note.txt",
            "--log-key",
            &key,
        ];
        let proof: Value = serde_json::from_str(&home.ok(&prove)).unwrap();
        assert_eq!(proof["entries"], head["entries"]);
        if subject.len() == 1 {
            assert_eq!(home.run(&note).code, 0);
        }
    }
}

#[test]
fn proofs_are_verified_without_the_store_and_a_changed_one_is_refused() {
    let (home, key) = audited();
    let head = home
        .run(&["audit", "head", "--key", "key.pem", "--json"])
        .json();
    home.write("note.txt", head["note"].as_str().unwrap());
    let address = home.addresses().remove(0);
    for entry in ["1", &address, &address[..12]] {
        home.write("proof.json", home.ok(&["audit", "prove", entry]));
        let verify = [
            "audit",
            "verify",
            "proof.json",
            "--note",
            "note.txt",
            "--log-key",
            &key,
        ];
        let elsewhere = ["--store", "nowhere"];
        let answer = home.run(&[&verify[..], &elsewhere].concat());
        assert_eq!(
            (answer.code, &answer.json()["is_proven"]),
            (0, &json!(true))
        );
        let proof = std::fs::read_to_string(home.path("proof.json")).unwrap();
        let mut changed: Value = serde_json::from_str(&proof).unwrap();
        let header = changed["header"].as_str().unwrap().replacen('0', "1", 1);
        changed["header"] = header.into();
        home.write("proof.json", changed.to_string());
        assert_eq!(home.run(&verify).code, 4);
    }
    home.put(&event("more", 9));
    home.write("later.txt", home.ok(&["audit", "head"]));
    home.write("growth.json", home.ok(&["audit", "prove", "--from", "3"]));
    let verify = [
        "audit",
        "verify",
        "growth.json",
        "--since",
        "monday.txt",
        "--note",
    ];
    assert_eq!(home.run(&[&verify[..], &["later.txt"]].concat()).code, 0);
    assert_eq!(home.run(&[&verify[..], &["note.txt"]].concat()).code, 4);
    let usage = home.run(&[
        "audit",
        "verify",
        "growth.json",
        "--note",
        "later.txt",
        "--json",
    ]);
    assert_eq!(usage.code, 2, "{usage:?}");
}

#[test]
fn the_log_the_timeline_and_the_reasons_are_shown_to_people_programs_and_spreadsheets() {
    let (home, _) = audited();
    let address = home.addresses().remove(0);
    home.ok(&[&["hold", "place", &address][..], &WHY].concat());
    let refused = home.run(&[&["delete", &address, "--yes"][..], &WHY].concat());
    assert_eq!(refused.code, 3, "{refused:?}");
    let text = home.ok(&["audit", "log"]);
    assert_eq!(text.lines().count(), 5, "{text}");
    assert!(
        text.contains("hold") && text.contains("request 17 (the DPO)"),
        "{text}"
    );
    let csv = home.ok(&["audit", "log", "--operation", "deny", "--csv"]);
    let lines: Vec<_> = csv.lines().collect();
    assert_eq!(
        lines[0],
        "entry,time,by,user,token,operation,addresses,detail"
    );
    assert!(
        lines[1].contains(&format!("\"deny\",\"{address}\",\"delete: ")),
        "{csv}"
    );
    let page = home.run(&["audit", "log", "--limit", "2", "--json"]).json();
    let next = page["next_cursor"].as_str().unwrap();
    let rest = home
        .run(&["audit", "log", "--after", next, "--json"])
        .json();
    assert_eq!(rest["entries"].as_array().unwrap().len(), 3);
    let timeline = home.run(&["audit", "timeline", &address, "--json"]).json();
    let operations: Vec<_> = timeline["entries"].as_array().unwrap().iter().collect();
    assert_eq!(operations.len(), 3);
    let why = home.run(&["audit", "why", &address, "--json"]).json();
    let rules = why["rules"].as_array().unwrap();
    let delete = rules.iter().find(|it| it["operation"] == "delete").unwrap();
    assert_eq!(
        (&delete["is_allowed"], &why["decisions"][0]["operation"]),
        (&json!(false), &json!("hold"))
    );
    let text = home.ok(&["audit", "why", &address]);
    assert!(text.contains("delete        denied: "), "{text}");
    assert_eq!(home.run(&["audit", "log", "--operation", "paint"]).code, 1);
}

#[test]
fn why_tells_the_reason_of_the_protection_and_of_the_conclusion() {
    // OMS 8.8, 23.2: for readers and auditors.
    let home = Home::new();
    let put = |json: Value| {
        let ran = home.run_with(&["put", "-"], json.to_string());
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.stdout.trim().to_owned()
    };
    let premise =
        put(json!({ "type": "event", "content": "the meter shows 7 bar", "created_at": 1 }));
    let gone = "a".repeat(64);
    let reasoning = put(json!({
        "type": "reasoning", "created_at": 2, "premises": [premise, gone],
        "inference_method": "abductive", "conclusion": "the valve leaks",
        "thinking_content": "the pump is new", "alternatives_considered":
            [{ "hypothesis": "the pump fails", "rejection_reason": "it was replaced" }],
        "invalidation_policy": { "mode": "locked", "protection_reason": "evidence of the insurer" },
    }));
    let why = home.run(&["audit", "why", &reasoning, "--json"]).json();
    let reasoned = &why["reasoned"];
    let standings = [0, 1].map(|at| reasoned["premises"][at]["standing"].clone());
    assert_eq!(
        standings,
        [json!("current"), json!("not stored")],
        "{reasoned}"
    );
    assert_eq!(reasoned["conclusion"], "the valve leaks");
    let replaced = event("the meter shows 2 bar", 3);
    let ran = home.run_with(&["supersede", &premise, "-"], replaced);
    assert_eq!(ran.code, 0, "{ran:?}");
    let text = home.ok(&["audit", "why", &reasoning]);
    for line in [
        "; its reason: evidence of the insurer",
        "(superseded)  the meter shows 7 bar",
        "(not stored)",
        "alternative   the pump fails (rejected: it was replaced)",
        "method        abductive",
        "thinking      the pump is new",
        "conclusion    the valve leaks",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let ran = home.run(&["policy", "explain", &reasoning, "contradict"]);
    assert!(
        ran.stdout.contains("its reason    evidence of the insurer"),
        "{ran:?}"
    );
}

#[test]
fn why_tells_whether_a_consensus_was_reached() {
    // OMS 8.9.
    let home = Home::new();
    for (agree, said) in [
        (2, "not reached: 2 agree of the 3 needed, 1 dissent"),
        (3, "reached: 3"),
    ] {
        let consensus = json!({
            "type": "consensus", "created_at": 1, "participating_observers": ["did:web:a"],
            "threshold": 3, "agreement_count": agree, "dissent_count": 1,
        });
        let ran = home.run_with(&["put", "-"], consensus.to_string());
        let address = ran.stdout.trim();
        let text = home.ok(&["audit", "why", address]);
        assert!(text.contains(&format!("consensus     {said}")), "{text}");
        let why = home.run(&["audit", "why", address, "--json"]).json();
        assert_eq!(why["reasoned"]["is_reached"], agree >= 3);
    }
}

fn tool() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join("../../tools").to_str().unwrap().to_owned()
}

/// Runs Python with the verifier as a module, and returns what it printed.
fn python(home: &Home, script: &str) -> String {
    let script = format!("import sys; sys.path.insert(0, {:?})\n{script}", tool());
    let mut command = Command::new("python3");
    let command = command
        .args(["-B", "-c", &script])
        .current_dir(home.path(""));
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout).unwrap()
}

fn verifier(home: &Home, args: &[&str]) -> (i32, String) {
    let mut command = Command::new("python3");
    let script = format!("{}/verify_audit.py", tool());
    let command = command
        .args(["-B", &script])
        .args(args)
        .current_dir(home.path(""));
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code().unwrap(), said + &errors)
}

/// Places holds, of which one stands, and withdraws a consent that a grain rests on. Returns the
/// addresses of before.
fn hold_and_withdraw(home: &Home) -> Vec<String> {
    let held = |args: &[&str]| home.ok(&[args, &WHY].concat());
    let addresses = home.addresses();
    held(&["hold", "place", &addresses[0]]);
    for operation in ["place", "lift"] {
        held(&["hold", operation, &addresses[1]]);
    }
    held(&["delete", &addresses[1], "--yes"]);
    let consent = |more: &str| {
        format!(
            "{{\"type\":\"consent\",\"subject_did\":\"did:web:a\",\"grantee_did\":\"did:web:b\",\
         \"scope\":[\"store\"],\"created_at\":7{more}}}"
        )
    };
    let grant = &home.put(&consent(",\"is_withdrawal\":false"))[0];
    home.put(&format!(
        "{{\"type\":\"event\",\"content\":\"y\",\"created_at\":8,\"processing_basis\":\"{grant}\"}}"
    ));
    home.put(&consent(&format!(
        ",\"is_withdrawal\":true,\"prior_consent\":\"{grant}\""
    )));
    addresses
}

fn tells_what_is_held_and_withdrawn(said: &Value) {
    let placed = &said["holds"][0];
    assert_eq!(
        (&placed["of"], &placed["placed"][0]["by"]),
        (&json!(0), &json!(WHY[3]))
    );
    assert_eq!(said["holds"].as_array().unwrap().len(), 1);
    let effect = &said["effects"][0];
    assert_eq!(effect["counts"], true);
    assert_eq!(effect["resting"].as_array().unwrap().len(), 1, "{effect}");
    assert!(effect["consent"].as_u64() < effect["withdrawal"].as_u64());
}

#[test]
#[ignore = "needs python3 with cryptography"]
fn an_independent_verifier_accepts_the_trail_its_proofs_and_receipts() {
    let (home, key) = audited();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    home.write("master.key", "0".repeat(64));
    std::fs::set_permissions(home.path("master.key"), mode).unwrap();
    let master = ["--key-file", "master.key"];
    home.ok(&[&["user", "add", "alice"][..], &master].concat());
    let user = "{\"type\":\"event\",\"content\":\"x\",\"user_id\":\"alice\",\"created_at\":5}\n";
    let as_alice = [&["put", "-", "--unlock", "alice"][..], &master].concat();
    assert_eq!(home.run_with(&as_alice, user).code, 0);
    let addresses = hold_and_withdraw(&home);
    home.ok(&["checkpoint", "create", "--key", "key.pem"]);
    let erase = [
        "user",
        "erase",
        "alice",
        "--yes",
        "--receipt",
        "receipt.json",
        "--key",
        "key.pem",
    ];
    home.ok(&[&erase[..], &WHY, &master].concat());
    home.ok(&["check"]);
    home.ok(&["audit", "export", "-o", "trail.jsonl", "--key", "key.pem"]);
    home.write("entry.json", home.ok(&["audit", "prove", "2"]));
    home.write("growth.json", home.ok(&["audit", "prove", "--from", "3"]));
    let all = [
        "trail.jsonl",
        "--log-key",
        &key,
        "--note",
        "monday.txt",
        "--note",
        "notes.jsonl",
        "--proof",
        "entry.json",
        "--proof",
        "growth.json",
        "--receipt",
        "receipt.json",
    ];
    let (code, said) = verifier(&home, &all);
    assert_eq!(code, 0, "{said}");
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(
        (&said["is_signed"], &said["anchored"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(said["checkpoints"].as_array().unwrap().len(), 1);
    let counts = &said["counts"];
    assert!(counts["erasures"].as_u64() > Some(0), "{counts}");
    assert_eq!(counts["erasures"], counts["completed"]);
    assert_eq!(counts["unread"], 0);
    tells_what_is_held_and_withdrawn(&said);
    let trail = std::fs::read_to_string(home.path("trail.jsonl")).unwrap();
    assert!(
        addresses
            .iter()
            .all(|address| !trail.contains(address.as_str()))
    );
    let (_, said) = verifier(&home, &["trail.jsonl"]);
    assert!(
        said.contains("\"anchored\": false") && said.contains("\"is_signed\": null"),
        "{said}"
    );
    let receipt = home.run(&["--json", "user", "verify", "receipt.json", "--in-store"]);
    assert_eq!(
        (receipt.code, &receipt.json()["is_proven"]),
        (0, &json!(true))
    );
}

#[test]
#[ignore = "needs python3 with cryptography"]
fn with_one_bit_flipped_the_independent_verifier_accepts_nothing() {
    let (home, key) = audited();
    home.put("{\"type\":\"event\",\"content\":\"x\",\"user_id\":\"alice\",\"created_at\":5}\n");
    let erase = [
        "user",
        "erase",
        "alice",
        "--yes",
        "--receipt",
        "receipt.json",
        "--key",
        "key.pem",
    ];
    home.ok(&[&erase[..], &WHY].concat());
    home.ok(&["checkpoint", "create", "--key", "key.pem"]);
    home.ok(&["audit", "export", "-o", "trail.jsonl", "--key", "key.pem"]);
    home.write("entry.json", home.ok(&["audit", "prove", "2"]));
    let script = FLIPS.replace("KEY", &format!("{key:?}"));
    let said = python(&home, &script);
    assert!(said.starts_with("flipped "), "{said}");
    println!("{said}");
}

#[test]
#[ignore = "needs python3 with cryptography"]
fn the_independent_verifier_finds_what_a_trail_tells_falsely() {
    let home = Home::new();
    let said = python(&home, FALSEHOODS);
    assert_eq!(said, "found 32\n");
}

/// Trails as an operator would write them who has the key: true ones, and ones with a falsehood each.
const FALSEHOODS: &str = r#"
import base64, hashlib, json, struct
import verify_audit as v
STORE, SALT = bytes(range(16)), bytes(range(16, 32))
def pack(value):
    if isinstance(value, dict):
        found = [pack(key) + pack(value[key]) for key in sorted(value)]
        return bytes([0x80 | len(found)]) + b"".join(found)
    if isinstance(value, int):
        return bytes([value])
    if isinstance(value, str):
        return bytes([0xA0 | len(value)]) + value.encode()
    return b"\xc4" + bytes([len(value)]) + value
def trail(*entries):
    lines = [{"format": v.FORMAT, "version": 2, "store": STORE.hex(), "entries": len(entries)}]
    leaf, tree = v.sha256(STORE), v.Tree()
    for sequence, (kind, operation, body, more) in enumerate(entries):
        header = struct.pack(">QQQI", sequence, 0, 2**64 - 1, len(body)) + bytes([kind, 0, 0, 0])
        header += v.sha256(b"\x02", SALT, v.sha256(body))
        line = {"entry": sequence, "header": header.hex(), "operation": operation}
        lines.append({**line, **more})
        leaf = v.sha256(b"\x00", leaf, header)
        tree.push(leaf)
    root = base64.b64encode(tree.root()).decode()
    lines.append({"note": f"grainstore/{STORE.hex()}\n{len(entries)}\n{root}\n"})
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    end = {"sha256": hashlib.sha256(data).hexdigest(), "signature": None}
    return v.Export(data + json.dumps(end).encode() + b"\n")
def opened(kind, operation, body):
    body = pack(body)
    return kind, operation, body, {"opened": (SALT + body).hex()}
def erase(*rows, **more):
    rows = b"".join(struct.pack(">Q", row) for row in rows)
    return opened(17, "erase", {"r": rows, "t": bytes(32), **more})
def erased(begun):
    return opened(18, "erased", {"e": begun})
def destroyed(epoch, check):
    return opened(16, "key", {"op": "erase", "u": SALT, "e": epoch, "kcv": check})
def hold(of, by="legal"):
    return 8, "hold", b"", {"facts": {"by": by, "of": of}}
def release(of, own=False):
    return 8, "release", b"", {"facts": {"by": "legal", "of": of, "own": own}}
def effect(consent, withdrawal, resting=(), counts=True):
    facts = {"consent": consent, "counts": counts, "resting": list(resting)}
    return 7, "withdraw", b"", {"facts": {**facts, "withdrawal": withdrawal}}
grain, untold = (1, "store", b"", {}), (8, "hold", b"", {})
sealed, restored = (2, "hold", b"", {}), (19, "restore", b"", {})
other = (*opened(18, "erased", {"e": 1})[:2], pack({"e": 2}), erased(1)[3])

export = trail(grain, hold(0), grain, hold(2), release(0), grain, effect(0, 2, [5]))
assert export.holds == [{"of": 2, "placed": [{"by": "legal", "entry": 3}]}]
assert export.effects[0]["resting"] == [5] and export.effects[0]["entry"] == 6
assert trail(grain, release(0, own=True)).holds == []
assert trail(grain, sealed).counts()["unread"] == 1
assert trail(grain, restored, release(0), hold(None)).holds == []
assert trail(grain, effect(None, 0)).counts()["withdrawals"] == 1
export = trail(grain, untold, erase(0, 1), erased(2), grain, effect(None, None))
assert export.counts()["blanked"] == 2 and export.counts()["completed"] == 1

count = 0
def refused(said, make):
    global count
    try:
        make()
    except v.Refused as error:
        assert said in str(error), f"{said}: {error}"
        count += 1
        return
    raise AssertionError(said)
for said, entries in (
    ("lifted where none stands", [grain, release(0)]),
    ("lifted where none stands", [grain, hold(0), release(0), release(0)]),
    ("is no grain", [grain, hold(0), hold(1)]),
    ("came later", [hold(1), grain]),
    ("a hold of no grain", [grain, hold(None)]),
    ("a hold by none", [grain, hold(0, by="")]),
    ("without what it is about", [grain, untold]),
    ("that was erased", [grain, hold(0), erase(0), erased(2)]),
    ("that was blanked", [grain, hold(0), erase(0, 1), erased(2)]),
    ("without a withdrawal", [grain, effect(0, None)]),
    ("came later", [grain, effect(0, 2), grain]),
    ("withdraws itself", [grain, effect(0, 0)]),
    ("that was erased", [grain, grain, grain, effect(0, 1, [2]), erase(2), erased(4)]),
    ("consent that stands", [grain, grain, grain, effect(0, 1, [2], counts=False)]),
    ("is not opened", [grain, (17, "erase", pack({"r": b"", "t": b""}), {})]),
    ("is another one", [grain, erase(0), other]),
    ("that never began", [grain, erase(0), erased(0)]),
    ("not there", [grain, erase(1)]),
    ("blanked what stays", [grain, erase(0), erased(1), erase(1)]),
    ("may blank", [grain, (8, "hold", b"", {"opened": SALT.hex()})]),
    ("rests on itself", [grain, grain, effect(0, 1, [0])]),
    ("not a list", [grain, grain, grain, grain, effect(0, 1, [3, 2])]),
    ("about keys", [opened(16, "key", {"op": "add", "u": SALT})]),
):
    refused(said, lambda: trail(*entries))
export = trail(grain, untold, erase(0, 1, u=SALT), destroyed(3, b"key"), erased(2))
head, root = export.at(5)
receipt = {
    "store": STORE, "entries": 5, "head": head, "tree": root, "begun": [2], "erased": 1,
    "blanked": 2, "epochs": [2, 3], "kcv": b"key",
}
v.compare_receipt(receipt, export)
for said, changes in (
    ("number of blanked", {"blanked": 3}),
    ("number of grains", {"erased": 2}),
    ("never began", {"begun": [3]}),
    ("was not destroyed", {"kcv": b"another"}),
    ("another store", {"store": SALT}),
    ("another ledger", {"head": SALT}),
    ("twice", {"begun": [2, 2]}),
):
    refused(said, lambda: v.compare_receipt({**receipt, **changes}, export))
kept = {name: value for name, value in receipt.items() if name != "kcv"}
refused("a destroyed key", lambda: v.compare_receipt(kept, export))
head, root = export.at(4)
early = {**receipt, "entries": 4, "head": head, "tree": root}
refused("not complete", lambda: v.compare_receipt(early, export))
print("found", count)
"#;

/// Every bit of an export, a note, a proof and a receipt.
const FLIPS: &str = r#"
import verify_audit as v
key = v.NoteKey(KEY)
trail = open("trail.jsonl", "rb").read()
export = v.Export(trail, key)
proof = open("entry.json", "rb").read()
note = open("monday.txt", "rb").read()
receipt = bytes.fromhex(v.parse(open("receipt.json", "rb").read())["receipt"])
def check_note(data):
    found = v.Note(data.decode())
    found.check(key)
    export.agrees(found)
def check_proof(data):
    v.check_proof(v.parse(data.strip()), lambda size: (export.store, export.at(size)[1]))
def refused(check, data):
    try:
        check(data)
    except (v.Refused, KeyError, TypeError, ValueError, IndexError):
        return True
    return False
count = 0
for name, check, data in (
    ("trail", lambda data: v.Export(data, key), trail),
    ("note", check_note, note),
    ("proof", check_proof, proof.strip()),
    ("receipt", lambda data: v.check_receipt(data, export), receipt),
):
    check(data)
    for bit in range(len(data) * 8):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        assert refused(check, bytes(changed)), f"{name}, bit {bit}"
        count += 1
print("flipped", count)
"#;
