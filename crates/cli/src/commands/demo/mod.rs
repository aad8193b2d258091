//! The demonstration: every promise of the store shown on sample data, with the commands that do
//! the same by hand.

mod copy;
mod crash;
mod data;
mod folder;
mod stage;
mod story;

use std::path::Path;

use clap::Args;

use self::folder::clear;
use self::stage::Stage;
use crate::error::Exit;
use crate::session::Session;

/// Show the store at work on sample data; takes seconds
///
/// Builds ./demo.grains, ./demo.mg and ./demo-copy.grains in this directory, anew every time, and
/// leaves them there to play with. Nothing that is not a store is removed.
#[derive(Debug, Args)]
pub(crate) struct Demo {}

impl Demo {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let Self {} = self;
        let (first, second) = (Path::new(STORE), Path::new(COPY));
        clear(first)?;
        clear(second)?;
        let mut stage = Stage::new(&mut session.out);
        stage.open()?;
        let store = story::import(&mut stage, first)?;
        story::search(&mut stage, &store)?;
        story::query(&mut stage, &store)?;
        story::supersede(&mut stage, &store)?;
        copy::export(&mut stage, &store, Path::new(ARCHIVE))?;
        copy::import(&mut stage, &store, Path::new(ARCHIVE), second)?;
        crash::show(&mut stage, second)?;
        let exit = copy::check(&mut stage, &store, second)?;
        stage.close()?;
        Ok(exit)
    }
}

/// Where it happens: the directory the command was called in.
const STORE: &str = "demo.grains";
const COPY: &str = "demo-copy.grains";
const ARCHIVE: &str = "demo.mg";
