//! The rules that hold after a disturbed command, and after the same command once more.
//!
//! Stores are opened in this process. Another thread that starts a command at that moment would
//! inherit the lock for a while, so starting and opening exclude each other.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Output, Stdio};
use std::sync::RwLock;
use std::thread;

use grainstore::store::Create;
use grainstore::{ContentAddress, Maintenance, Options, Store};

use super::cases::{Case, Effect, Template, copy};
use super::points::{Point, traced};
use crate::command::{Home, binary};

static STARTING: RwLock<()> = RwLock::new(());

/// Runs a command under `strace`.
pub(super) fn run(home: &Home, case: &Case, point: Option<&Point>, log: &str) -> Output {
    let mut command = traced(binary(), point, log);
    command.current_dir(home.path("."));
    command.env_remove("GRAINSTORE_STORE").args(&case.args);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let started = STARTING.write().unwrap();
    let mut child = command.spawn().unwrap();
    drop(started);
    let mut pipe = child.stdin.take().unwrap();
    let input = case.stdin.clone();
    // A command may end before it has read all of it.
    let feeder = thread::spawn(move || drop(pipe.write_all(input.as_bytes())));
    let output = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    output
}

/// Disturbs a command at a point. Half of the points look at what it left, the others run it again
/// first. Returns its exit code; none if it was killed.
pub(super) fn examine(
    template: &Template,
    case: &Case,
    point: &Point,
    looks_first: bool,
) -> Result<Option<i32>, String> {
    let home = template.copy();
    let disturbed = run(&home, case, Some(point), "/dev/null");
    sound(&disturbed, Some(point))?;
    if looks_first {
        holds(template, case, &home, &disturbed).map_err(|what| told(&what, &disturbed))?;
    }
    let was_done = is_done(case, &home);
    let again = run(&home, case, None, "/dev/null");
    sound(&again, None)?;
    if !again.status.success() && !was_done {
        return Err(told(&format!("it does not heal: {again:?}"), &disturbed));
    }
    let after = if again.status.success() {
        &again
    } else {
        &disturbed
    };
    holds(template, case, &home, after)
        .map_err(|what| told(&format!("after another run: {what}"), &disturbed))?;
    if !is_done(case, &home) {
        return Err("another run did not do it".to_owned());
    }
    Ok(disturbed.status.code())
}

fn told(what: &str, output: &Output) -> String {
    format!("{what} (it was {output:?})")
}

/// No panic, no signal but the one that was sent, an error that says something unless no word can be
/// written.
fn sound(output: &Output, point: Option<&Point>) -> Result<(), String> {
    let stderr = String::from_utf8_lossy(&output.stderr);
    let is_silent = output.stderr.is_empty() && output.stdout.is_empty();
    let is_clear = match (output.status.code(), output.status.signal()) {
        (Some(TIMED_OUT), _) => false,
        (Some(0 | KILLED), _) => true,
        (Some(_), _) => !is_silent || point.is_some_and(Point::silences),
        (None, signal) => signal == Some(9),
    };
    if is_clear && !stderr.contains("panicked") {
        Ok(())
    } else {
        Err(format!("{output:?}"))
    }
}

/// The exit codes of `timeout` after its time, and after a command that a signal ended.
const TIMED_OUT: i32 = 124;
const KILLED: i32 = 137;

/// Returns whether what the command does is there.
fn is_done(case: &Case, home: &Home) -> bool {
    let listed = |name: &str| -> Option<BTreeSet<String>> {
        let scratch = Home::new();
        let path = scratch.path("copy");
        if !home.path(name).exists() {
            return None;
        }
        copy(&home.path(name), &path);
        let store = open(&path).ok()?;
        Some(list(&store).unwrap())
    };
    match &case.effect {
        Effect::Stores(stored) => listed(case.store).is_some_and(|here| has_all(&here, stored)),
        Effect::Deletes(gone, _) => {
            listed(case.store).is_some_and(|here| gone.iter().all(|one| !here.contains(one)))
        }
        Effect::Supersedes(old) => {
            let scratch = Home::new();
            copy(&home.path(case.store), &scratch.path("copy"));
            open(&scratch.path("copy"))
                .is_ok_and(|store| !store.status(&address(old)).unwrap().is_current())
        }
        Effect::Copies(name, grains) => listed(name).is_some_and(|here| has_all(&here, grains)),
        Effect::Writes(name, count) => lines(home, name) == Some(*count),
        Effect::Nothing => true,
    }
}

/// Holds the directory to what is always true, and to what the command acknowledged.
fn holds(template: &Template, case: &Case, home: &Home, ran: &Output) -> Result<(), String> {
    let is_done = ran.status.success();
    let path = home.path(case.store);
    if path.join("MANIFEST").exists() {
        let store = open(&path)?;
        let here = list(&store)?;
        let kept = case.kept(template);
        if let Some(lost) = kept.iter().find(|one| !here.contains(*one)) {
            return Err(format!("{lost} is lost"));
        }
        for line in String::from_utf8_lossy(&ran.stdout).split_inclusive('\n') {
            let printed = line
                .strip_suffix('\n')
                .filter(|_| matches!(case.args.last(), Some(last) if last == "-"));
            if printed.is_some_and(|printed| !here.contains(printed)) {
                return Err(format!("{line} was printed and is lost"));
            }
        }
        drop(store);
        if let Effect::Deletes(gone, word) = &case.effect
            && gone.iter().all(|one| !here.contains(one))
            && let Some(file) = file_with(&path, word)
        {
            return Err(format!("{file} has the words of what was deleted"));
        }
    } else if case.store != "fresh" || is_done {
        return Err("there is no store".to_owned());
    }
    if let Effect::Copies(name, _) = &case.effect
        && home.path(name).join("MANIFEST").exists()
    {
        let scratch = Home::new();
        copy(&home.path(name), &scratch.path("copy"));
        let copied = open(&scratch.path("copy")).map_err(|what| format!("{name}: {what}"))?;
        let here = list(&copied)?;
        if !has_all(&here, &template.backed_up) {
            return Err(format!("{name} has lost what was backed up"));
        }
    }
    if let Effect::Writes(name, count) = &case.effect
        && let Some(found) = lines(home, name)
        && found != *count
    {
        return Err(format!("{name} has {found} lines of {count}"));
    }
    if is_done && !self::is_done(case, home) {
        return Err("it exited with 0 and did not do it".to_owned());
    }
    Ok(())
}

/// Opens a store and checks every byte of it.
fn open(path: &Path) -> Result<Store, String> {
    let _none_starts = STARTING.read().unwrap();
    let options = Options {
        create: Create::Never,
        ..Options::default()
    };
    let store = Store::open(path, options).map_err(|error| format!("it does not open: {error}"))?;
    let report = store.maintenance().and_then(Maintenance::check);
    let report = report.map_err(|error| format!("check: {error}"))?;
    let mut findings = report
        .findings
        .iter()
        .filter(|finding| finding.id != "torn-tail");
    match findings.next() {
        None => Ok(store),
        Some(finding) => Err(format!("check finds {}: {}", finding.id, finding.message)),
    }
}

fn list(store: &Store) -> Result<BTreeSet<String>, String> {
    let page = store
        .list(None, usize::MAX)
        .map_err(|error| error.to_string())?;
    Ok(page.addresses.iter().map(ToString::to_string).collect())
}

fn has_all(here: &BTreeSet<String>, grains: &[String]) -> bool {
    grains.iter().all(|one| here.contains(one))
}

fn address(text: &str) -> ContentAddress {
    text.parse().unwrap()
}

fn lines(home: &Home, name: &str) -> Option<usize> {
    let text = fs::read_to_string(home.path(name)).ok()?;
    Some(text.matches('\n').count())
}

/// Returns the first file of a directory that has a word.
fn file_with(path: &Path, word: &str) -> Option<String> {
    for item in fs::read_dir(path).unwrap() {
        let item = item.unwrap().path();
        let found = if item.is_dir() {
            file_with(&item, word)
        } else {
            let bytes = fs::read(&item).unwrap();
            let mut parts = bytes.windows(word.len());
            let is_there = parts.any(|part| part == word.as_bytes());
            is_there.then(|| item.display().to_string())
        };
        if found.is_some() {
            return found;
        }
    }
    None
}
