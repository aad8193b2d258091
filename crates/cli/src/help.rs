//! The help of `grainstore` itself: commands in groups, on one screen, and the long version.
//!
//! The help of a single command is the doc comment of its arguments.

use std::ffi::OsString;

use clap::builder::StyledStr;
use clap::{Arg, Command};

/// The output of `--version`: the version, the declared level of OMS, and the modules.
pub(crate) const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\nconformance: OMS 1.3 Level 3",
    "\nmodules:     cbor, mg, jsonl, pam, aimem, omi, provider exports (import), age, text search,",
    "\n             invalidation policy, deletion, backup, did and COSE signatures, trust,",
    "\n             handles and delegation, compliance presets, sealed persons,",
    "\n             audit trail with proofs, MCP server, HTTP server"
);

/// Returns the command line with a help that lists the commands in groups, on one screen.
pub(crate) fn with_groups(command: Command) -> Command {
    let groups = groups(&command);
    command.help_template(format!(
        "{{about}}\n{{usage-heading}} {{usage}}\n\n{groups}Options:\n{{options}}\n{TAIL}\n"
    ))
}

/// Returns the whole help of the command that the arguments name, an option a line; `None` for the
/// help of `grainstore` itself.
pub(crate) fn whole(mut root: Command, args: &[OsString]) -> Option<StyledStr> {
    root.build();
    let mut found = &root;
    for word in args.iter().skip(1).filter_map(|word| word.to_str()) {
        let named = found.find_subcommand(word);
        found = named.filter(|it| it.get_name() != "help").unwrap_or(found);
    }
    if found.get_name() == root.get_name() {
        return None;
    }
    let mut command = found.clone().mut_args(with_values);
    if let Some(about) = found.get_long_about() {
        command = command.about(about.clone());
    }
    if let Some(examples) = found.get_after_long_help() {
        command = command.after_help(examples.clone());
    }
    Some(command.render_help())
}

/// Adds the meanings of the values of an option to its help.
fn with_values(arg: Arg) -> Arg {
    let help = arg.get_long_help().or(arg.get_help());
    let Some(help) = help.map(ToString::to_string) else {
        return arg;
    };
    let values = arg.get_possible_values().into_iter();
    let described = values.filter(|value| !value.is_hide_set());
    let described = described.filter_map(|value| {
        let meaning = value.get_help()?.to_string();
        Some(format!("{} ({meaning})", value.get_name()))
    });
    let described: Vec<_> = described.collect();
    match described.is_empty() {
        true => arg.help(help),
        false => arg
            .help(format!("{help}: {}", described.join("; ")))
            .hide_possible_values(true),
    }
}

fn groups(command: &Command) -> String {
    let mut text = String::new();
    for (heading, names) in GROUPS {
        text.push_str(&format!("{heading}:\n"));
        for name in *names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            text.push_str(&format!("  {name:12} {about}\n"));
        }
        text.push('\n');
    }
    text.push_str(&format!("Also: {}\n\n", ALSO.join(", ")));
    text
}

const GROUPS: &[(&str, &[&str])] = &[
    ("Getting started", &["demo", "init", "mcp", "serve"]),
    (
        "Grains",
        &[
            "ls",
            "show",
            "sessions",
            "remember",
            "correct",
            "put",
            "get",
            "list",
            "supersede",
            "delete",
            "history",
        ],
    ),
    (
        "Search and interchange",
        &["query", "search", "recall", "import", "export", "validate"],
    ),
    (
        "Policy and trust",
        &[
            "user", "hold", "consent", "policy", "trust", "agent", "grain",
        ],
    ),
    (
        "Maintenance",
        &[
            "stats",
            "check",
            "doctor",
            "backup",
            "restore",
            "recover",
            #[cfg(feature = "replica")]
            "replicate",
            "audit",
        ],
    ),
];

/// Commands that are named without a line of their own.
const ALSO: &[&str] = &[
    "cal",
    "checkpoint",
    "completions",
    "compact",
    "config",
    "conflicts",
    "consolidate",
    "contradict",
    "convert",
    "did",
    "embed",
    "exists",
    #[cfg(feature = "replica")]
    "follow",
    "hook",
    "man",
    "merge",
    "model",
    #[cfg(feature = "postgres")]
    "pull",
    "scan",
    "schema",
    #[cfg(feature = "postgres")]
    "ship",
    "similar",
    "status",
    "sync",
    "tail",
    "token",
    "undo",
    "upgrade",
    "vault",
];

const TAIL: &str = "Exit codes: 0 success, 1 nothing or partly, 2 error, 3 denied, 4 damage. `grainstore COMMAND --help` says more";

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn the_help_names_every_command_once() {
        let command = Cli::command();
        command.clone().debug_assert();
        let mut grouped: Vec<_> = GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .chain(ALSO)
            .collect();
        grouped.sort();
        let mut all: Vec<_> = command.get_subcommands().map(Command::get_name).collect();
        all.sort_unstable();
        assert_eq!(grouped.into_iter().copied().collect::<Vec<_>>(), all);
    }
}
