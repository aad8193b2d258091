use clap::{Args, Subcommand};

use super::agree::Agree;
use super::cosign::Cosign;
use super::disclose::{Disclose, VerifyDisclosure};
use super::encode::{Decode, Encode};
use super::sign::{Sign, Verify};
use crate::error::Exit;
use crate::session::Session;

/// Encode, decode, sign and disclose single grains
#[derive(Debug, Args)]
pub(crate) struct GrainTool {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
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
        match self.verb {
            Verb::Encode(verb) => verb.run(session),
            Verb::Decode(verb) => verb.run(session),
            Verb::Sign(verb) => verb.run(session),
            Verb::Verify(verb) => verb.run(session),
            Verb::Cosign(verb) => verb.run(session),
            Verb::Agree(verb) => verb.run(session),
            Verb::Disclose(verb) => verb.run(session),
            Verb::VerifyDisclosure(verb) => verb.run(session),
        }
    }
}
