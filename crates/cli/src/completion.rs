//! Completion in a shell: its script asks this program, which knows the types and looks up the
//! addresses in the store.
//!
//! The scripts are printed by `completions`.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::{Arg, Command};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::CompleteEnv;
use grainstore::store::Create;
use grainstore::{Options, Store, Type};

use crate::args::address::short;
use crate::output::{cut, printable};

/// The variable by which a script asks; its value names the shell.
pub(crate) const VARIABLE: &str = "GRAINSTORE_COMPLETE";

/// Answers a script that asks, and ends the process; returns if none does.
pub(crate) fn answer(command: impl Fn() -> Command) {
    if std::env::var_os(VARIABLE).is_none() {
        return;
    }
    CompleteEnv::with_factory(|| with_values(command()))
        .var(VARIABLE)
        .complete();
}

/// Adds the values of the store to all arguments that take them.
fn with_values(command: Command) -> Command {
    let command = command.mut_args(with_value);
    command.mut_subcommands(with_values)
}

fn with_value(arg: Arg) -> Arg {
    let names = arg.get_value_names().unwrap_or_default();
    let is = |name: &str| names.iter().any(|it| it.as_str().contains(name));
    if is("ADDRESS") {
        arg.add(ArgValueCompleter::new(addresses))
    } else if arg.get_long() == Some("type") {
        arg.add(ArgValueCompleter::new(types))
    } else {
        arg
    }
}

fn types(begun: &OsStr) -> Vec<CompletionCandidate> {
    let names = Type::STANDARD.iter().filter_map(|of| of.name());
    let begun = begun.to_string_lossy();
    let names = names.filter(|name| name.starts_with(&*begun));
    names.map(CompletionCandidate::new).collect()
}

/// Returns the addresses that begin so, each with what the grain says.
fn addresses(begun: &OsStr) -> Vec<CompletionCandidate> {
    let begun = begun.to_string_lossy();
    // A shell asks at each key, so nothing is written, and no error is shown.
    let options = Options {
        create: Create::Never,
        text: None,
        ..Options::default()
    };
    let Ok(store) = Store::open(store(), options.read_only()) else {
        return Vec::new();
    };
    let Ok(page) = store.list(None, LOOKED_AT) else {
        return Vec::new();
    };
    let begin = page.addresses.iter();
    let begin = begin.filter(|address| address.to_string().starts_with(&*begun));
    let candidates = begin.take(SHOWN).map(|address| {
        let grain = store.get(address).ok().flatten();
        let summary = grain.map(|grain| cut(&printable(&grain.summary()), SUMMARY_LEN));
        CompletionCandidate::new(short(address)).help(summary.map(Into::into))
    });
    candidates.collect()
}

/// Returns the store that the command line under completion names, as far as it is typed.
fn store() -> PathBuf {
    let words: Vec<OsString> = std::env::args_os().collect();
    let after = words.iter().skip_while(|word| *word != "--store").nth(1);
    let named = after
        .cloned()
        .or_else(|| std::env::var_os("GRAINSTORE_STORE"));
    let configured = || {
        let folder = std::env::current_dir().ok()?;
        crate::config::Config::find(&folder, crate::config::Own::of_user().as_ref())
            .ok()?
            .store()
    };
    let named = named.map(PathBuf::from).or_else(configured);
    named.unwrap_or_else(|| "./memory.grains".into())
}

/// Addresses that a completion looks at; a shell waits for it.
const LOOKED_AT: usize = 100_000;

const SHOWN: usize = 50;

const SUMMARY_LEN: usize = 50;
