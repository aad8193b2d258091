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
        ("stoer = \"x\"\n", "stoer"),
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
    assert!(!complete(&["get", ""]).contains(&address[..12]));
}
