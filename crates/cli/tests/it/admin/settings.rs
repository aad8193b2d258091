//! Where options come from: arguments, environment and `grainstore.toml`; colours, events on stderr,
//! and the completion of a shell.

use std::fs;

use crate::command::{Home, Ran, belief, event};

#[test]
fn an_argument_goes_before_the_environment_and_that_before_the_file() {
    let home = Home::new();
    fs::create_dir_all(home.path("deep/below")).unwrap();
    home.write(
        "grainstore.toml",
        "store = \"of-the-file\"\nwait = 7\ncolor = \"never\"\n",
    );
    let run = |arguments: &[&str], environment: Option<&str>| -> String {
        let mut command = home.command();
        command.current_dir(home.path("deep/below"));
        if let Some(store) = environment {
            command.env("GRAINSTORE_STORE", home.path(store));
        }
        let output = command.args(arguments).args(["init", "--json"]).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    home.ok(&["config", "allow", "."]);
    run(&[], None);
    // Relative to the file, and not to the working directory.
    assert!(home.path("of-the-file/MANIFEST").exists());
    run(&[], Some("of-the-environment"));
    assert!(home.path("of-the-environment/MANIFEST").exists());
    run(&["--store", "of-the-argument"], Some("of-the-environment"));
    assert!(home.path("deep/below/of-the-argument/MANIFEST").exists());
}

#[test]
fn a_wrong_file_is_named_and_help_comes_all_the_same() {
    let home = Home::new();
    for (text, named) in [
        ("color = \"red\"\n", "red"),
        ("wait = \"long\"\n", "string"),
        ("store =", "grainstore.toml"),
    ] {
        home.write("grainstore.toml", text);
        let ran = home.run(&["stats", "--json"]);
        ran.fails(2, "ERR_USAGE", "grainstore.toml");
        assert!(ran.stdout.contains(named), "{text}: {ran:?}");
        home.ok(&["help"]);
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_others_may_write_is_not_read() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    home.write("grainstore.toml", "store = \"elsewhere\"\n");
    let open = fs::Permissions::from_mode(0o666);
    fs::set_permissions(home.path("grainstore.toml"), open).unwrap();
    let ran = home.run(&["init"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains("is not read"), "{ran:?}");
    assert!(home.path("memory.grains/MANIFEST").exists());
}

#[test]
fn what_a_file_of_a_repository_opens_or_trusts_counts_when_it_is_allowed_and_as_it_was_then() {
    let home = Home::new();
    let evil = r#"{"id":"did:web:acme.example"}"#;
    home.write("evil.json", evil);
    let text = "store = \"planted\"\ndid_document = [\"evil.json\"]\nkey_file = \"k\"\nbackup = \"b\"\nwait = 7\n";
    home.write("grainstore.toml", text);
    let ran = home.run(&["init"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for named in [
        "store, key_file, did_document, backup",
        "are not in force",
        "config allow",
    ] {
        assert!(ran.stderr.contains(named), "{named}: {ran:?}");
    }
    assert!(home.path("memory.grains/MANIFEST").exists());
    assert!(!home.path("planted").exists());
    home.write("grainstore.toml", "store = \"planted\"\n");
    home.ok(&["config", "allow"]);
    let ran = home.run(&["init"]);
    assert!(!ran.stderr.contains("in force"), "{ran:?}");
    assert!(home.path("planted/MANIFEST").exists());
    // A pull brings another file.
    home.write("grainstore.toml", "store = \"planted-too\"\n");
    assert!(home.run(&["stats"]).stderr.contains("store of"));
    assert!(!home.path("planted-too").exists());
    home.ok(&["config", "allow"]);
    home.ok(&["config", "deny"]);
    assert!(home.run(&["stats"]).stderr.contains("store of"));
    // The user's own settings are in force.
    fs::create_dir_all(home.path(".config/grainstore")).unwrap();
    home.write(".config/grainstore/grainstore.toml", "store = \"own\"\n");
    home.ok(&["init"]);
    assert!(home.path(".config/grainstore/own/MANIFEST").exists());
}

#[test]
fn an_unknown_key_is_a_warning() {
    let home = Home::new();
    home.write("grainstore.toml", "stoer = \"x\"\n");
    let ran = home.run(&["init"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains("unknown key stoer"), "{ran:?}");
}

#[cfg(unix)]
#[test]
fn a_link_or_a_pipe_is_passed_over_and_the_next_file_upwards_counts() {
    let home = Home::new();
    home.write("grainstore.toml", "color = \"red\"\n");
    fs::create_dir(home.path("below")).unwrap();
    let planted = home.path("below/grainstore.toml");
    let run = || {
        let mut command = home.command();
        let output = command.current_dir(home.path("below")).arg("init").output();
        Ran::of(&output.unwrap())
    };
    std::os::unix::fs::symlink(home.path("memory.grains"), &planted).unwrap();
    let ran = run();
    assert!(ran.stderr.contains("red"), "{ran:?}");
    fs::remove_file(&planted).unwrap();
    home.write("grainstore.toml", "color = \"never\"\n");
    let made = std::process::Command::new("mkfifo").arg(&planted).status();
    assert!(made.unwrap().success());
    let ran = run();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.stderr.contains("is not read: it is a link, a pipe"),
        "{ran:?}"
    );
}

#[test]
fn colours_are_for_terminals_unless_they_are_asked_for() {
    let home = Home::new();
    home.put(&belief("ana", "likes", "tea"));
    let query = ["query", "--subject", "ana"];
    let is_coloured = |extra: &[&str]| home.ok(&[&query, extra].concat()).contains('\u{1b}');
    assert!(!is_coloured(&[]));
    assert!(is_coloured(&["--color", "always"]));
    assert!(!is_coloured(&["--color", "never"]));
    let mut command = home.command();
    command.args(query).env("GRAINSTORE_COLOR", "always");
    let output = command.output().unwrap();
    assert!(output.stdout.contains(&0x1b));
}

#[test]
fn events_go_to_stderr_and_have_no_content() {
    let home = Home::new();
    let lines: String = (0..5_000).map(|n| event("a secret", n)).collect();
    home.put(&lines);
    fs::write(home.path("memory.grains/index/CURRENT"), "gone").unwrap();
    let ran = home.run(&["stats", "-v", "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.json();
    for said in [
        "WARN",
        "INFO",
        "DEBUG",
        "entries of the ledger that the index lacks",
    ] {
        assert!(ran.stderr.contains(said), "{said}: {ran:?}");
    }
    assert!(!ran.stderr.contains("secret"), "{ran:?}");
    let quiet = home.run(&["stats"]);
    assert!(!quiet.stderr.contains("INFO"), "{quiet:?}");
    let log = |levels: &str| -> Ran {
        let mut command = home.command();
        let output = command.arg("stats").env("RUST_LOG", levels).output();
        Ran::of(&output.unwrap())
    };
    // Other crates are silent, as what they say may have content.
    assert_eq!(log("trace").code, 0);
    let wrong = log("grainstore=loud");
    assert_eq!(wrong.code, 2, "{wrong:?}");
    assert!(wrong.stderr.contains("RUST_LOG"), "{wrong:?}");
}

#[test]
fn a_shell_completes_commands_types_and_addresses() {
    let home = Home::new();
    let address = home.put(&belief("ana", "likes", "tea")).remove(0);
    let complete = |words: &[&str]| -> String {
        let mut command = home.command();
        command.env("GRAINSTORE_COMPLETE", "fish").arg("--");
        let output = command.arg("grainstore").args(words).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(complete(&["supers"]).contains("supersede"));
    let types = complete(&["query", "--type", "be"]);
    assert!(
        types.contains("belief") && !types.contains("event"),
        "{types}"
    );
    let found = complete(&["get", &address[..4]]);
    assert!(found.contains(&address[..12]), "{found}");
    assert!(found.contains("ana likes tea"), "{found}");
    let elsewhere = complete(&["--store", "nowhere", "get", &address[..4]]);
    assert!(!elsewhere.contains(&address[..12]), "{elsewhere}");
    home.write("grainstore.toml", "store = \"nowhere\"\n");
    home.ok(&["config", "allow"]);
    assert!(!complete(&["get", ""]).contains(&address[..12]));
}
