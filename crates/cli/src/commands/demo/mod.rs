//! `grainstore demo`: the guarantees of the store shown on sample data, each step with the commands
//! that do the same by hand.

mod copy;
mod crash;
mod data;
mod folder;
mod stage;
mod steps;

use std::path::Path;

use clap::Args;

use self::folder::require_free;
use self::stage::Stage;
use crate::error::Exit;
use crate::session::Session;

/// Run a short demonstration on sample data
///
/// Creates ./demo-data, ./demo.grains, ./demo.mg and ./demo-copy.grains in the current directory and
/// leaves them there for experiments. It replaces nothing: remove the files of an earlier demo first,
/// or run it in another directory. On a terminal it waits for Enter after each step.
#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Show all steps without waiting
    #[arg(long)]
    no_pause: bool,
}

impl Demo {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let (first, second) = (Path::new(STORE), Path::new(COPY));
        for path in [Path::new(DATA), first, second, Path::new(ARCHIVE)] {
            require_free(path)?;
        }
        let mut stage = Stage::new(&mut session.out, self.no_pause);
        stage.open()?;
        let store = steps::import(&mut stage, Path::new(DATA), first)?;
        steps::search(&mut stage, &store)?;
        steps::query(&mut stage, &store)?;
        steps::supersede(&mut stage, &store)?;
        copy::export(&mut stage, &store, Path::new(ARCHIVE))?;
        copy::import(&mut stage, &store, Path::new(ARCHIVE), second)?;
        crash::show(&mut stage, second)?;
        let exit = copy::check(&mut stage, &store, second)?;
        steps::recall(&mut stage, &store)?;
        stage.close()?;
        Ok(exit)
    }
}

/// The files of the demo, in the current directory.
const DATA: &str = "demo-data";
const STORE: &str = "demo.grains";
const COPY: &str = "demo-copy.grains";
const ARCHIVE: &str = "demo.mg";
