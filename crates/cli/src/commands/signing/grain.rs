//! `grainstore grain`: its subcommands; none of them needs a store.
//!
//! Commands on grains of a store are in `commands::grains`.

use clap::{Args, Subcommand};

use super::agree::Agree;
use super::cosign::Cosign;
use super::disclose::{Disclose, VerifyDisclosure};
use super::encode::{Decode, Encode};
use super::sign::{Sign, Verify};
use crate::error::Exit;
use crate::session::Session;

/// Encode, decode, sign, verify and disclose single grains
#[derive(Debug, Args)]
pub(crate) struct GrainTool {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Encode(Encode),
    Decode(Decode),
    Sign(Sign),
    Verify(Verify),
    Cosign(Cosign),
    Agree(Agree),
    Disclose(Disclose),
    VerifyDisclosure(VerifyDisclosure),
}

impl GrainTool {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        match self.action {
            Action::Encode(action) => action.run(session),
            Action::Decode(action) => action.run(session),
            Action::Sign(action) => action.run(session),
            Action::Verify(action) => action.run(session),
            Action::Cosign(action) => action.run(session),
            Action::Agree(action) => action.run(session),
            Action::Disclose(action) => action.run(session),
            Action::VerifyDisclosure(action) => action.run(session),
        }
    }
}
