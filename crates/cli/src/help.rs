use clap::Command;

/// What `--version` says: the version, the level of OMS that is declared, what is on board.
pub(crate) const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\nconformance: OMS 1.3 Level 2",
    "\nmodules:     cbor, mg, jsonl, pam, aimem, omi, provider exports (import), age, text search,",
    "\n             invalidation policy, deletion, backup, did and COSE signatures, trust,",
    "\n             handles and delegation, presets of law"
);

/// Returns the command line with its help on one screen: the commands by what they are for.
pub(crate) fn with_groups(command: Command) -> Command {
    let groups = groups(&command);
    command.help_template(format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n\n{groups}Options:\n{{options}}\n\n{TAIL}\n"
    ))
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
    text
}

const GROUPS: &[(&str, &[&str])] = &[
    ("Start", &["demo", "init", "completions"]),
    (
        "Grains",
        &[
            "put",
            "get",
            "exists",
            "list",
            "supersede",
            "contradict",
            "delete",
            "status",
            "history",
        ],
    ),
    (
        "Questions and files",
        &[
            "query",
            "search",
            "recall",
            "embed",
            "similar",
            "import",
            "export",
            "conflicts",
        ],
    ),
    (
        "Protection",
        &["hold", "consent", "policy", "trust", "agent"],
    ),
    (
        "Care",
        &[
            "stats",
            "check",
            "compact",
            "backup",
            "restore",
            "checkpoint",
        ],
    ),
    ("Without a store", &["validate", "convert", "grain", "did"]),
];

const TAIL: &str = "\
Exit codes: 0 done, 1 nothing found or refused in part, 2 failed, 3 denied by policy, 4 damage
`grainstore COMMAND --help` says more.";

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn the_help_names_every_command_once() {
        let command = Cli::command();
        command.clone().debug_assert();
        let mut grouped: Vec<_> = GROUPS.iter().flat_map(|(_, names)| *names).collect();
        grouped.sort();
        let mut all: Vec<_> = command.get_subcommands().map(Command::get_name).collect();
        all.sort_unstable();
        assert_eq!(grouped.into_iter().copied().collect::<Vec<_>>(), all);
    }
}
