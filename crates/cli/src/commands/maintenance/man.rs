//! `grainstore man`: manual pages from the definitions of the help, in the man macros of roff.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::{Arg, Args, Command};
use grainstore::ErrorCode;

use crate::error::{CliError, Exit};
use crate::session::Session;

/// Print a manual page, or write all of them to a directory
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  grainstore man search | man -l -
  grainstore man --to ~/.local/share/man/man1")]
pub(crate) struct Man {
    /// Command; without it, the page of grainstore itself
    command: Option<String>,
    /// Write the pages of all commands to this directory, which exists
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    to: Option<PathBuf>,
}

impl Man {
    pub(crate) fn run(self, session: &mut Session, mut root: Command) -> anyhow::Result<Exit> {
        root.build();
        if let Some(folder) = &self.to {
            let commands = root.get_subcommands().filter(|it| it.get_name() != "help");
            for command in std::iter::once(&root).chain(commands) {
                let name = page_name(&root, command);
                let path = folder.join(format!("{name}.1"));
                let written = std::fs::write(&path, page(&name, command));
                written.map_err(|error| CliError::of(&error).at(path.display()))?;
                session.out.line(path.display())?;
            }
            return Ok(Exit::Done);
        }
        let command = match &self.command {
            None => &root,
            Some(name) => root.find_subcommand(name).ok_or_else(|| {
                let message = format!("\"{name}\" is no command");
                CliError::new(ErrorCode::Usage, message)
            })?,
        };
        let text = page(&page_name(&root, command), command);
        session.out.styled_line(text.trim_end())?;
        Ok(Exit::Done)
    }
}

fn page_name(root: &Command, command: &Command) -> String {
    match command.get_name() {
        name if name == root.get_name() => name.to_owned(),
        name => format!("{}-{name}", root.get_name()),
    }
}

/// Returns the page of a command, with the commands below it.
fn page(name: &str, command: &Command) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let mut page = format!(
        ".TH {} 1 \"\" \"grainstore {version}\"\n",
        name.to_uppercase()
    );
    let about = command.get_about().map(ToString::to_string);
    let about = roff(&about.unwrap_or_default());
    page.push_str(&format!(".SH NAME\n{} \\- {about}\n", roff(name)));
    section(&mut page, command);
    let mut below = command
        .get_subcommands()
        .filter(|it| it.get_name() != "help")
        .peekable();
    if below.peek().is_some() {
        page.push_str(".SH COMMANDS\n");
        for sub in below {
            let about = sub.get_about().map(ToString::to_string);
            let about = about.unwrap_or_default();
            page.push_str(&format!(
                ".TP\n.B {}\n{}\n",
                roff(sub.get_name()),
                roff(&about)
            ));
        }
    }
    page.push_str(".SH EXIT STATUS\n");
    for (code, meaning) in STATUSES {
        page.push_str(&format!(".TP\n.B {code}\n{meaning}\n"));
    }
    page
}

/// Adds synopsis, description, options and examples.
fn section(page: &mut String, command: &Command) {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    page.push_str(&format!(
        ".SH SYNOPSIS\n.B {}\n",
        roff(usage).replace('\n', "\n.br\n.B ")
    ));
    if let Some(about) = command.get_long_about() {
        let about = about.to_string();
        let paragraphs = about.split("\n\n").map(roff);
        let paragraphs: Vec<_> = paragraphs.collect();
        page.push_str(&format!(
            ".SH DESCRIPTION\n{}\n",
            paragraphs.join("\n.PP\n")
        ));
    }
    page.push_str(".SH OPTIONS\n");
    // Those too that the help leaves out to fit a screen.
    for arg in command.get_arguments() {
        option(page, arg);
    }
    if let Some(examples) = command.get_after_long_help() {
        let examples = roff(&examples.to_string());
        page.push_str(&format!(".SH EXAMPLES\n.nf\n{examples}\n.fi\n"));
    }
}

fn option(page: &mut String, arg: &Arg) {
    let short = arg.get_short().map(|short| format!("-{short}"));
    let long = arg.get_long().map(|long| format!("--{long}"));
    let flags: Vec<_> = [short, long].into_iter().flatten().collect();
    let takes_value = arg.get_action().takes_values();
    let values = arg.get_value_names().unwrap_or_default().iter();
    let values: Vec<_> = values.map(ToString::to_string).collect();
    let mut head = flags.join(", ");
    if takes_value && !values.is_empty() {
        let _ = write!(
            head,
            "{}{}",
            if head.is_empty() { "" } else { " " },
            values.join(" ")
        );
    }
    let help = arg.get_long_help().or(arg.get_help());
    let help = roff(&help.map(ToString::to_string).unwrap_or_default());
    page.push_str(&format!(".TP\n.B {}\n{help}\n", roff(&head)));
}

/// Escapes a text: a hyphen that is typed, and a line that would begin with a macro.
fn roff(text: &str) -> String {
    let escaped = text.replace('\\', "\\e").replace('-', "\\-");
    let lines = escaped.lines().map(|line| {
        let is_macro = line.starts_with(['.', '\'']);
        if is_macro {
            format!("\\&{line}")
        } else {
            line.to_owned()
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

const STATUSES: [(&str, &str); 5] = [
    ("0", "Success."),
    (
        "1",
        "Nothing was found, a part was refused, or there are warnings.",
    ),
    ("2", "Wrong usage, wrong input, or a failure of the system."),
    ("3", "A policy denies the operation."),
    ("4", "Stored bytes are damaged."),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_becomes_a_macro() {
        assert_eq!(roff(".TH x\n'a\n--b \\n"), "\\&.TH x\n\\&'a\n\\-\\-b \\en");
    }
}
