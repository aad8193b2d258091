//! `hold`, `consent`, `policy`: changes are recorded with a reason and an authority.

use std::sync::Arc;

use grainstore::store::Clock;
use grainstore::{Draft, Options, Store, Time};

use crate::command::{Home, event};

const WHY: [&str; 4] = ["--reason", "Doe v. Acme", "--authority", "counsel"];

fn with_why<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [args, &WHY].concat()
}

#[test]
fn a_hold_keeps_a_grain_until_it_is_lifted() {
    let home = Home::new();
    let address = home.put(&event("the minutes", 1)).remove(0);
    assert_eq!(home.run(&["hold", "list"]).code, 1);
    let unsaid = home.run(&["hold", "place", &address]);
    assert_eq!(unsaid.code, 2, "{unsaid:?}");
    home.ok(&with_why(&["hold", "place", &address]));
    let list = home.ok(&["hold", "list"]);
    assert!(list.contains("counsel: Doe v. Acme"), "{list}");
    let denied = home.run(&with_why(&["delete", &address, "--yes"]));
    assert_eq!(denied.code, 3, "{denied:?}");
    assert_eq!(home.run(&["contradict", &address]).code, 3);
    home.ok(&with_why(&["hold", "lift", &address[..8]]));
    assert_eq!(home.run(&with_why(&["hold", "lift", &address])).code, 1);
    home.ok(&with_why(&["delete", &address, "--yes"]));
}

#[test]
fn a_withdrawn_consent_is_carried_out() {
    let home = Home::new();
    let consent = |more: &str| {
        format!(
            r#"{{"type":"consent","subject_did":"did:web:a","grantee_did":"did:web:b","scope":["store"],"created_at":1{more}}}"#
        ) + "\n"
    };
    let grant = home
        .put(&consent(
            r#","basis":"explicit_consent","is_withdrawal":false"#,
        ))
        .remove(0);
    let data = event("alice likes tea", 1).replace(
        "\"type\"",
        &format!(r#""processing_basis":"{grant}","type""#),
    );
    let address = home.put(&data).remove(0);
    let held = [
        "--subject",
        "did:web:a",
        "--scope",
        "store",
        "--at",
        "2020-01-01",
    ];
    let list = home.ok(&[["consent", "list"].as_slice(), &held].concat());
    assert!(
        list.contains("did:web:a to did:web:b  store  in force  on explicit_consent"),
        "{list}"
    );
    assert_eq!(
        home.run(&["consent", "list", "--grantee", "did:web:c"])
            .code,
        1
    );
    assert_eq!(home.run(&["consent", "list", "--purpose", "sale"]).code, 1);
    assert_eq!(home.run(&["consent", "due"]).code, 1);
    let withdrawal = format!(r#","is_withdrawal":true,"prior_consent":"{grant}""#);
    home.put(&consent(&withdrawal));
    assert_eq!(home.run(&["search", "tea"]).code, 1);
    let list = home.run(&["consent", "list", "--json"]);
    let consents = &list.json_lines()[0]["consents"];
    assert_eq!(consents[0]["withdrawn_by"], consents[1]["address"]);
    assert_eq!(consents[1]["withdraws"], grant.as_str());
    // A withdrawal of a consent that is not here is told to wait for it.
    let unknown = format!(
        r#","is_withdrawal":true,"prior_consent":"{}""#,
        "cd".repeat(32)
    );
    let waits = home.run_with(&["put", "-", "--json"], consent(&unknown));
    let warning = waits.json_lines()[0]["warnings"][0].to_string();
    assert!(warning.contains("not here"), "{warning}");
    let now = ["consent", "list", "--at", "2100-01-01"];
    assert_eq!(home.run(&now).code, 1, "nothing is in force");
    let due = home.run(&["consent", "due", "--json"]);
    assert_eq!(due.json_lines()[0]["due"][0]["address"], address.as_str());
    let refused = home.run_with(&["put", "-", "--json"], data.replace("tea", "cake"));
    assert_eq!(refused.json_lines()[0]["error"]["code"], "ERR_CONSENT");

    let unasked = home.run(&with_why(&["consent", "run"]));
    assert_eq!(unasked.code, 2, "{unasked:?}");
    let ran = home.ok(&with_why(&["consent", "run", "--yes"]));
    assert!(ran.contains(&address), "{ran}");
    assert_eq!(home.run(&["get", &address]).code, 1);
    assert_eq!(home.run(&["get", &grant]).code, 0);
    assert_eq!(home.run(&["check", "--deep"]).code, 0);

    let demand = ["consent", "require", "clinic", "--read", "--write"];
    assert!(home.ok(&with_why(&demand)).contains("read and write"));
    assert!(home.ok(&["consent", "require"]).contains("clinic"));
    assert_eq!(home.run(&["consent", "require", "clinic"]).code, 2);
    home.ok(&with_why(&["consent", "deadline", "48"]));
    assert_eq!(home.run(&with_why(&["consent", "deadline", "721"])).code, 2);
}

#[test]
fn a_review_is_cleared_by_somebody_and_a_clock_that_goes_right_needs_nobody() {
    let home = Home::new();
    let reasoning = r#"{"type":"reasoning","conclusion":"deny the loan","created_at":1,"requires_human_review":true}"#;
    home.put(&format!("{reasoning}\n"));
    let list = home.run(&["policy", "review", "list", "--json"]);
    let review = &list.json_lines()[0]["reviews"][0];
    assert_eq!(review["operation"], "rely");
    let id = review["id"].to_string();
    home.ok(&with_why(&["policy", "review", "clear", &id]));
    assert_eq!(
        home.run(&with_why(&["policy", "review", "clear", &id]))
            .code,
        1
    );
    assert_eq!(home.run(&["policy", "review", "list"]).code, 1);
    assert!(
        home.ok(&["policy", "review", "list", "--all"])
            .contains("cleared by counsel")
    );
    home.ok(&["policy", "clock"]);
    home.ok(&with_why(&["policy", "clock", "accept"]));
}

#[test]
fn whoever_a_policy_names_agrees_to_a_contradiction() {
    let home = Home::new();
    let did = home.ok(&["did", "new", "ada.key"]);
    let did = did.trim();
    let policy =
        format!(r#""invalidation_policy":{{"mode":"delegated","authorized":["{did}"]}},"type""#);
    let address = home
        .put(&event("rent is 900", 1).replace("\"type\"", &policy))
        .remove(0);
    assert_eq!(home.run(&["contradict", &address]).code, 3);
    let stats = home.run(&["stats", "--json"]);
    let store_id = stats.json_lines()[0]["store_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let agree = |to: &str| {
        let args = [
            "grain",
            "agree",
            &address,
            "--to",
            to,
            "--store-id",
            &store_id,
        ];
        home.ok(&[&args[..], &["--key", "ada.key"]].concat())
    };
    for to in ["contradict", "retracted"] {
        std::fs::write(home.path(to), agree(to)).unwrap();
    }
    let other = home.run(&["contradict", &address, "--auth", "retracted"]);
    assert_eq!(other.code, 3, "{other:?}");
    home.ok(&["contradict", &address, "--auth", "contradict"]);
    home.ok(&[
        "status",
        &address,
        "--verification",
        "retracted",
        "--auth",
        "retracted",
    ]);
}

/// A clock in the far future.
#[derive(Debug)]
struct Future;

impl Clock for Future {
    fn now(&self) -> Time {
        Time::from_ms(6_500_000_000_000)
    }
}

#[test]
fn entries_that_a_clock_in_the_future_dated_are_told_and_later_ones_dated_right() {
    let home = Home::new();
    let options = Options {
        clock: Arc::new(Future),
        ..Options::default()
    };
    let store = Store::open(home.path("memory.grains"), options).unwrap();
    store.put(Draft::event("from the future")).unwrap();
    drop(store);
    let told = home.run(&["policy", "clock"]);
    assert_eq!(told.code, 1);
    assert!(
        told.stdout.contains("2175") && told.stdout.contains("repair"),
        "{}",
        told.stdout
    );
    assert_eq!(home.run(&["policy", "clock", "repair"]).code, 2);
    home.ok(&with_why(&["policy", "clock", "repair"]));
    assert!(home.ok(&["policy", "clock"]).contains("trusted"));
}
