//! Output files of `export` and `convert`: what they replace, what they write to, what they leave.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::process::{Command, Stdio};

use crate::command::{Home, Ran, event};

const EXPORT: [&str; 5] = ["--json", "export", "--format", "jsonl", "-o"];

fn home() -> Home {
    let home = Home::new();
    let put = home.run_with(&["put", "-"], event("one", 1) + &event("two", 2));
    assert_eq!(put.code, 0, "{put:?}");
    home
}

fn export(path: &str) -> Vec<&str> {
    EXPORT.into_iter().chain([path]).collect()
}

#[track_caller]
fn refused(ran: &Ran, told: &str) {
    let error = &ran.json()["error"];
    assert_eq!((ran.code, &error["code"]), (2, &"ERR_IO".into()), "{ran:?}");
    assert!(error["message"].as_str().unwrap().contains(told), "{ran:?}");
}

#[test]
fn a_device_is_written_to_and_stays_a_device() {
    let home = home();
    home.ok(&export("/dev/null"));
    let kind = fs::metadata("/dev/null").unwrap().file_type();
    assert!(kind.is_char_device());
    assert!(!fs::exists("/dev/null.partial").unwrap());
    // By a link, as /dev/stdout is one.
    symlink("/dev/null", home.path("sink")).unwrap();
    home.ok(&export("sink"));
    assert!(home.path("sink").is_symlink());
    let grains = home.ok(&["export", "--format", "jsonl"]);
    home.write("grains.jsonl", &grains);
    home.ok(&["convert", "grains.jsonl", "/dev/null", "--to", "jsonl"]);
    let kind = fs::metadata("/dev/null").unwrap().file_type();
    assert!(kind.is_char_device());
}

#[test]
fn stdout_by_its_path_is_stdout() {
    let home = home();
    let expected = home.ok(&["export", "--format", "jsonl"]);
    for path in ["-", "/dev/stdout", "/dev/fd/1"] {
        // To a file that others append to: it is neither replaced nor emptied.
        home.write("log", "before\n");
        let log = fs::OpenOptions::new().append(true).open(home.path("log"));
        let status = home
            .command()
            .args(export(path))
            .stdout(log.unwrap())
            .stderr(Stdio::null())
            .status();
        assert!(status.unwrap().success(), "{path}");
        let log = fs::read_to_string(home.path("log")).unwrap();
        assert_eq!(log, format!("before\n{expected}"), "{path}");
    }
    assert!(fs::symlink_metadata("/dev/stdout").unwrap().is_symlink());
}

#[test]
fn a_pipe_is_written_to_and_stays_a_pipe() {
    let home = home();
    let expected = home.ok(&["export", "--format", "jsonl"]);
    let made = Command::new("mkfifo").arg(home.path("pipe")).status();
    assert!(made.unwrap().success());
    let mut child = home
        .command()
        .args(export("pipe"))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut read = String::new();
    let mut pipe = fs::File::open(home.path("pipe")).unwrap();
    pipe.read_to_string(&mut read).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(read, expected);
    let kind = fs::symlink_metadata(home.path("pipe")).unwrap().file_type();
    assert!(kind.is_fifo());
}

#[test]
fn a_planted_link_is_neither_followed_nor_replaced() {
    let home = home();
    home.write("diary", "mine");
    for (planted, told) in [
        ("out.jsonl.partial", "temporary name"),
        ("out.jsonl", "output"),
    ] {
        for target in ["diary", "missing"] {
            symlink(home.path(target), home.path(planted)).unwrap();
            let ran = home.run(&export("out.jsonl"));
            refused(&ran, told);
            assert_eq!(fs::read(home.path("diary")).unwrap(), b"mine");
            assert!(!home.path("missing").exists());
            assert!(home.path(planted).is_symlink());
            fs::remove_file(home.path(planted)).unwrap();
        }
    }
    // The folders of a PAM store too.
    fs::create_dir_all(home.path("pam")).unwrap();
    fs::create_dir(home.path("mine")).unwrap();
    symlink(home.path("mine"), home.path("pam/conversations")).unwrap();
    home.ok(&["import", &crate::command::sample("pam")]);
    let ran = home.run(&[
        "--json", "export", "--format", "pam", "--plain", "-o", "pam/",
    ]);
    refused(&ran, "link");
    assert_eq!(fs::read_dir(home.path("mine")).unwrap().count(), 0);
}

#[test]
fn what_a_killed_export_left_is_replaced_and_a_running_one_is_not() {
    let home = home();
    home.write("out.jsonl.partial", "the half of a grain");
    home.ok(&export("out.jsonl"));
    let expected = home.ok(&["export", "--format", "jsonl"]);
    let written = || fs::read_to_string(home.path("out.jsonl")).unwrap();
    assert_eq!(written(), expected);
    assert!(!home.path("out.jsonl.partial").exists());

    home.write("out.jsonl.partial", "a running export");
    let running = fs::File::open(home.path("out.jsonl.partial")).unwrap();
    running.lock().unwrap();
    let again = [&export("out.jsonl")[..], &["--force"]].concat();
    refused(&home.run(&again), "another export");
    assert_eq!(written(), expected);
    assert!(home.path("out.jsonl.partial").exists());
}
