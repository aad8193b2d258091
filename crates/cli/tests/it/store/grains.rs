//! `init`, `get`, `exists`, `list`, `supersede`, `history`, `stats`, `check`, and the help.

use grainstore::ContentAddress;

use crate::command::{Home, belief, event, sample};

const NOWHERE: &str = "0000000000000000000000000000000000000000000000000000000000000000";

#[test]
fn init_makes_a_store_once() {
    let home = Home::new();
    let made = home.run(&["--json", "init"]).json();
    assert_eq!(made["store_id"].as_str().unwrap().len(), 32);
    home.run(&["--json", "init"])
        .fails(2, "ERR_STORE_EXISTS", "memory.grains");
    let ran = home.run(&["list"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "nothing is there");
}

#[test]
fn the_store_is_named_by_argument_or_environment() {
    let home = Home::new();
    home.ok(&["--store", "here", "init"]);
    let mut command = home.command();
    let output = command
        .env("GRAINSTORE_STORE", "here")
        .arg("stats")
        .output();
    assert!(output.unwrap().status.success());
}

#[test]
fn get_shows_a_grain_its_blob_and_its_status() {
    let home = Home::new();
    let old = home.put(&belief("user", "prefers", "tea")).remove(0);
    let shown = home.ok(&["get", &old]);
    assert!(shown.contains("\"object\": \"tea\""), "{shown}");
    assert_eq!(
        home.ok(&["get", &old[..12]]),
        shown,
        "its first digits will do"
    );

    let mut command = home.command();
    let blob = command
        .args(["get", "--blob", &old])
        .output()
        .unwrap()
        .stdout;
    assert_eq!(ContentAddress::of(&blob).to_string(), old);

    home.write("new.json", belief("user", "prefers", "coffee"));
    let new = home.ok(&["supersede", &old, "new.json"]);
    let ran = home.run(&["get", &old]);
    assert!(
        ran.stderr
            .contains(&format!("is superseded by {}", new.trim())),
        "{ran:?}"
    );
    let json = home.run(&["--json", "get", &old]).json();
    assert_eq!(json["status"]["superseded_by"], new.trim());
    assert_eq!(json["status"]["current"], false);
}

#[test]
fn what_is_not_there_is_exit_1() {
    let home = Home::new();
    home.put(&event("something", 1));
    for args in [["get", NOWHERE], ["history", NOWHERE]] {
        let ran = home.run(&[&["--json"], &args[..]].concat());
        assert_eq!(ran.code, 1, "{ran:?}");
        assert_eq!(ran.json()["error"]["code"], "ERR_NOT_FOUND");
    }
    let ran = home.run(&["exists", NOWHERE]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, "no\n"));
    let ran = home.run(&["get", "000000000000"]);
    assert_eq!(ran.code, 1, "{ran:?}");
}

#[test]
fn an_address_is_whole_or_its_beginning_in_either_case() {
    let home = Home::new();
    let address = home.put(&event("something", 1)).remove(0);
    assert_eq!(home.run(&["exists", &address]).stdout, "yes\n");
    assert_eq!(home.run(&["exists", &address[..63]]).stdout, "yes\n");
    let long = home.run(&["--json", "exists", &format!("{address}0")]);
    long.fails(2, "ERR_HASH_LENGTH", &address);
    for upper in [&*address.to_uppercase(), &address[..9].to_uppercase()] {
        assert_eq!(home.run(&["exists", upper]).stdout, "yes\n");
    }
    let other = home.run(&["--json", "get", &address.replace(['a', '0'], "g")]);
    other.fails(2, "ERR_HASH_FORMAT", "address");
}

#[test]
fn a_list_goes_on_where_it_left_off() {
    let home = Home::new();
    let lines: String = (0..5).map(|number| event("listed", number)).collect();
    let all = home.put(&lines);
    let first = home.run(&["--json", "list", "--limit", "3"]).json();
    assert_eq!(first["addresses"].as_array().unwrap().len(), 3);
    let cursor = first["next_cursor"].as_str().unwrap();
    let rest = home
        .run(&["--json", "list", "--limit", "3", "--after", cursor])
        .json();
    assert_eq!(rest["addresses"], serde_json::json!(all[3..]));
    assert!(rest["next_cursor"].is_null());
    assert_eq!(home.run(&["list", "--after", "99"]).code, 1);
}

#[test]
fn a_lineage_has_a_history_and_one_current_grain() {
    let home = Home::new();
    let old = home.put(&belief("mira", "dutch_level", "A2")).remove(0);
    // On several lines: a file with one grain need not be a line.
    home.write(
        "new.json",
        belief("mira", "dutch_level", "B1").replace(',', ",\n"),
    );
    let args = [
        "--json",
        "supersede",
        &old,
        "new.json",
        "--justification",
        "exam",
    ];
    let ran = home.run(&args).json();
    assert_eq!(ran["supersedes"], old.as_str());
    let new = ran["address"].as_str().unwrap();

    let history = home.run(&["--json", "history", new]).json();
    let versions = history["versions"].as_array().unwrap();
    let addresses: Vec<_> = versions.iter().map(|one| one["address"].clone()).collect();
    assert_eq!(addresses, [old.as_str(), new]);
    assert_eq!(
        versions[1]["grain"]["derived_from"],
        serde_json::json!([old])
    );
    let shown = home.ok(&["history", &old]);
    assert!(
        shown.lines().next().unwrap().contains("superseded by"),
        "{shown}"
    );
    assert!(shown.lines().last().unwrap().contains("current"), "{shown}");

    home.write("other.json", belief("mira", "dutch_level", "C1"));
    let again = home.run(&["--json", "supersede", &old, "other.json"]);
    assert_eq!(again.code, 2);
    assert_eq!(again.json()["error"]["code"], "ERR_CONFLICT");
}

#[test]
fn a_locked_grain_is_denied_with_exit_3() {
    let home = Home::new();
    home.ok(&["import", &sample("grains.jsonl")]);
    let locked = "84ba5acb7c3273c0d9b4c3c189f3ac8916c5779d15250a1f212b0861428279c9";
    home.write("new.json", belief("wren", "mg:owned_by", "somebody else"));
    let ran = home.run(&["--json", "supersede", locked, "new.json"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert_eq!(ran.json()["error"]["code"], "ERR_INVALIDATION_DENIED");
    let status = home.run(&["--json", "get", locked]).json();
    assert_eq!(status["status"]["current"], true);
}

#[test]
fn stats_count_and_check_finds_nothing() {
    let home = Home::new();
    home.ok(&["import", &sample("grains.jsonl")]);
    let stats = home.run(&["--json", "stats"]).json();
    assert_eq!(stats["grains"], 55);
    assert_eq!(stats["by_type"]["consent"], 3);
    assert!(home.ok(&["stats"]).contains("55, 55 of them current"));
    let check = home.run(&["--json", "check", "--deep"]).json();
    assert_eq!(check["grains"], 55);
    assert_eq!(check["findings"], serde_json::json!([]));
}

#[test]
fn the_version_states_what_it_conforms_to() {
    let version = Home::new().ok(&["--version"]);
    assert!(version.contains(env!("CARGO_PKG_VERSION")), "{version}");
    assert!(version.contains("OMS 1.3 Level 3"), "{version}");
    assert!(version.contains("modules:"), "{version}");
}

#[test]
fn the_help_fits_a_screen_and_shells_complete() {
    let home = Home::new();
    let help = home.ok(&["--help"]);
    assert!(help.lines().count() <= 65, "{help}");
    assert_eq!(home.ok(&["help"]), help);
    for shell in ["bash", "zsh", "fish"] {
        let script = home.ok(&["completions", shell]);
        assert!(script.contains("GRAINSTORE_COMPLETE"), "{shell}");
    }
}
