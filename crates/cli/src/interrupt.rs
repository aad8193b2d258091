//! Ctrl-C: what a command that was interrupted says, and that a pager or an editor keeps the key.
//!
//! Storing is as safe as against a kill: what was acknowledged is there. The process ends at once.

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

/// The reaction to the key that a command has chosen, until this is dropped.
#[derive(Debug)]
pub(crate) struct Interrupted(());

enum Reaction {
    /// The process ends without a word.
    End,
    /// Another program has the terminal, and the key is for it.
    Ignore,
    /// The process says how far it is, and ends.
    Tell(Box<dyn Fn() -> String + Send>),
}

/// Says this when the key is pressed: how much is stored, and what to do.
pub(crate) fn telling(message: impl Fn() -> String + Send + 'static) -> Interrupted {
    react(Reaction::Tell(Box::new(message)))
}

/// Leaves the key to the program that has the terminal.
pub(crate) fn ignored() -> Interrupted {
    react(Reaction::Ignore)
}

fn react(reaction: Reaction) -> Interrupted {
    *current() = reaction;
    // Only a command that has something to say, or that waits, changes what the key does: servers
    // have a way of their own.
    INSTALLED.call_once(|| drop(ctrlc::set_handler(on_key)));
    Interrupted(())
}

fn on_key() {
    let reaction = current();
    match &*reaction {
        Reaction::Ignore => return,
        Reaction::End => {}
        Reaction::Tell(message) => {
            let mut stderr = io::stderr().lock();
            // Over what is left of a progress bar.
            let over = if stderr.is_terminal() {
                "\r\u{1b}[K"
            } else {
                ""
            };
            drop(writeln!(stderr, "{over}{}", message()));
        }
    }
    std::process::exit(STATUS);
}

fn current() -> MutexGuard<'static, Reaction> {
    REACTION.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Interrupted {
    fn drop(&mut self) {
        *current() = Reaction::End;
    }
}

static REACTION: Mutex<Reaction> = Mutex::new(Reaction::End);

static INSTALLED: Once = Once::new();

/// The status by which a shell knows that the key ended a command: 128 and the number of SIGINT.
const STATUS: i32 = 130;
