//! Names that other tools have for commands and options, and where a word that is none of ours points.

use std::ffi::OsString;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Names the command or the option that does what was asked for; what is spelt alike may be another.
pub(crate) fn suggest(error: &mut clap::Error, args: &[OsString], command: &clap::Command) {
    match error.kind() {
        ErrorKind::InvalidSubcommand => suggest_command(error, args, command),
        ErrorKind::UnknownArgument => suggest_option(error, args, command),
        ErrorKind::InvalidValue => shorten_values(error),
        _ => {}
    }
}

fn suggest_command(error: &mut clap::Error, args: &[OsString], command: &clap::Command) {
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else {
        return;
    };
    let found = OTHER_NAMES.iter().find(|(other, _)| other == name);
    let names = match found {
        Some((_, names)) => names.iter().map(|name| (*name).to_owned()).collect(),
        // The help looks for a command by its whole name alone.
        None if args.iter().any(|arg| arg == "help") => {
            let alone = [OsString::from(command.get_name()), OsString::from(name)];
            match command.clone().try_get_matches_from(alone) {
                Err(alike) => match alike.get(ContextKind::SuggestedSubcommand) {
                    Some(ContextValue::Strings(names)) => names.clone(),
                    _ => return,
                },
                Ok(_) => return,
            }
        }
        None => return,
    };
    error.insert(
        ContextKind::SuggestedSubcommand,
        ContextValue::Strings(names),
    );
}

/// Leaves a long list of values to the help, and the one that is spelt alike.
fn shorten_values(error: &mut clap::Error) {
    let Some(ContextValue::Strings(values)) = error.get(ContextKind::ValidValue) else {
        return;
    };
    if values.len() > VALUES_MAX {
        error.remove(ContextKind::ValidValue);
        let tip = StyledStr::from("--help lists the values");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    }
}

/// The most values that a message lists.
const VALUES_MAX: usize = 12;

/// A directory behind `init` is that of the store.
fn suggest_store(error: &mut clap::Error, args: &[OsString]) {
    if args.iter().any(|arg| arg == "init") {
        let tip = StyledStr::from("name the directory with --store DIR");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    }
}

fn suggest_option(error: &mut clap::Error, args: &[OsString], command: &clap::Command) {
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else {
        return;
    };
    if !given.starts_with('-') {
        return suggest_store(error, args);
    }
    let name = given.trim_start_matches('-');
    let name = name.split_once('=').map_or(name, |(name, _)| name);
    let pointer = OTHER_OPTIONS.iter().find(|(other, _)| *other == name);
    let is_text = TEXT_OF_REMEMBER.contains(&name) && args.iter().any(|arg| arg == "remember");
    let tip = match pointer {
        _ if is_text => {
            "it is the text, without an option: `remember Porto --subject ana --relation lives_in`"
                .to_owned()
        }
        Some((_, pointer)) => format!("use {pointer}"),
        None => {
            let has_it = |of: &&clap::Command| {
                let mut options = of.get_arguments();
                options.any(|option| option.get_long() == Some(name))
            };
            let having: Vec<_> = command.get_subcommands().filter(has_it).collect();
            if having.is_empty() {
                return;
            }
            let names = having.iter().take(SHOWN).map(|of| of.get_name());
            let names = names.collect::<Vec<_>>().join(", ");
            let more = if having.len() > SHOWN { ", …" } else { "" };
            format!("'--{name}' is an option of {names}{more}")
        }
    };
    error.remove(ContextKind::SuggestedArg);
    error.insert(
        ContextKind::Suggested,
        ContextValue::StyledStrs(vec![StyledStr::from(tip)]),
    );
}

/// Returns the text of an error whose reason is that of the language's own parsers, with one that says
/// what is expected.
pub(crate) fn plain(error: &clap::Error) -> Option<String> {
    let text = error.render().to_string();
    let found = REASONS.iter().find(|(reason, _)| text.contains(reason));
    let (reason, plain) = found.filter(|_| error.kind() == ErrorKind::ValueValidation)?;
    Some(text.replace(reason, plain))
}

/// The reasons of parsers of numbers and addresses, and what is expected.
const REASONS: &[(&str, &str)] = &[
    (
        "invalid digit found in string",
        "expected a whole number, such as 10",
    ),
    (
        "cannot parse integer from empty string",
        "expected a whole number, such as 10",
    ),
    (
        "number too large to fit in target type",
        "the number is too large",
    ),
    ("invalid float literal", "expected a number, such as 0.9"),
    (
        "cannot parse float from empty string",
        "expected a number, such as 0.9",
    ),
    (
        "invalid socket address syntax",
        "expected an address and a port, such as 127.0.0.1:7471",
    ),
];

/// How many commands that have an option are named.
const SHOWN: usize = 6;

const OTHER_NAMES: &[(&str, &[&str])] = &[
    ("add", &["remember", "put"]),
    ("save", &["remember", "put"]),
    ("store", &["remember", "put"]),
    ("cat", &["show", "get"]),
    ("view", &["show"]),
    ("dump", &["export"]),
    ("edit", &["correct"]),
    ("update", &["correct", "supersede"]),
    ("set", &["correct"]),
    ("revert", &["undo"]),
    ("chat", &["sessions"]),
    ("conversations", &["sessions"]),
    ("users", &["ls", "user"]),
    ("tags", &["ls"]),
    ("namespaces", &["ls"]),
    ("find", &["search", "query"]),
    ("log", &["history", "list"]),
    ("rm", &["delete"]),
    ("remove", &["delete"]),
    ("forget", &["delete", "user"]),
    ("info", &["stats"]),
    ("size", &["stats"]),
    ("vacuum", &["compact"]),
    ("gc", &["compact"]),
    ("repair", &["check", "recover"]),
    ("salvage", &["recover"]),
    ("server", &["serve"]),
    ("start", &["serve"]),
    ("watch", &["tail"]),
    ("follow", &["tail"]),
    ("select", &["query"]),
    ("grep", &["search"]),
    ("ask", &["recall", "search"]),
    ("new", &["init"]),
    ("create", &["init", "remember"]),
    ("verify", &["check", "validate"]),
    ("health", &["doctor", "check"]),
    ("migrate", &["upgrade"]),
    ("load", &["import"]),
];

/// Fields that the text of `remember` becomes.
const TEXT_OF_REMEMBER: &[&str] = &["object", "content", "text"];

/// Options of other tools, and what does the same here.
const OTHER_OPTIONS: &[(&str, &str)] = &[
    ("port", "--listen 127.0.0.1:PORT"),
    ("addr", "--listen ADDRESS:PORT"),
    ("address", "--listen ADDRESS:PORT"),
    ("bind", "--listen ADDRESS:PORT"),
    ("host", "--listen ADDRESS:PORT"),
    (
        "semantic",
        "--embed local: `grainstore model install` gives the store a model",
    ),
    ("vector", "--embed local, or `grainstore similar`"),
    ("select", "--fields a,b"),
    ("columns", "--fields a,b"),
    ("output", "-o FILE"),
    ("top", "--limit N"),
    ("top-k", "--limit N"),
    ("max", "--limit N"),
    ("db", "--store DIR"),
    ("database", "--store DIR"),
    ("path", "--store DIR"),
    ("dir", "--store DIR"),
    ("from-date", "--since TIME"),
    ("after", "--since TIME"),
    ("to-date", "--until TIME"),
    ("before", "--until TIME"),
    ("format-json", "--json"),
    ("tags", "--tag TAG, once for each"),
    ("user-id", "--user ID"),
    ("session-id", "--session ID"),
];
