//! `grainstore agent`: the recorded owner of an agent, its card, and handoffs (OMS 12.5, 28.5, 28.7).
//!
//! Delegations and trust rules decide the permissions of an agent, not its card.

use clap::{Args, Subcommand, ValueEnum};
use grainstore::crypto::{Did, sign};
use grainstore::grain::{Owner, OwnerKind};
use grainstore::store::{AgentCard, Clock, SystemClock, Version};
use grainstore::{Draft, Grain};
use serde_json::{Value, json};

use super::handoff::{HandBack, HandOff, TakeOver};
use crate::args::KeySource;
use crate::commands::grains::state::{grain_json, signature_json};
use crate::error::{CliError, Exit};
use crate::output::printable_lines;
use crate::session::Session;

/// Record the owner of an agent, show its card, and hand tasks from agent to agent
#[derive(Debug, Args)]
pub(crate) struct AgentTool {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Provision(Provision),
    Card(Card),
    HandOff(HandOff),
    TakeOver(TakeOver),
    HandBack(HandBack),
}

/// Record the owner of an agent in a locked grain, signed by the operator
///
/// Run it once, before the agent runs, with a key that the agent does not have. Nothing that the
/// agent reads or writes can change the record afterwards. Prints the address of the grain.
#[derive(Debug, Args)]
#[command(after_long_help = r#"Example:
  grainstore agent provision did:web:acme.example:agents:7 --owner "Acme Labs LLC" \
      --type org --jurisdiction US-DE --key operator.pem"#)]
struct Provision {
    /// DID of the agent
    agent: String,
    /// Registered legal name of the owner
    #[arg(long, value_name = "NAME")]
    owner: String,
    /// Kind of owner
    #[arg(long = "type", value_enum)]
    kind: KindArg,
    /// Legal form of an organisation: llc, gmbh, pvt_ltd, …
    #[arg(long, value_name = "FORM")]
    entity_form: Option<String>,
    /// Jurisdiction of registration (ISO 3166-2)
    #[arg(long, value_name = "CODE")]
    jurisdiction: Option<String>,
    /// Registration number with its kind, such as EIN:47-1234567
    #[arg(long, value_name = "ID")]
    reg_id: Option<String>,
    /// DID of the owner (default: the DID of the operator)
    #[arg(long, value_name = "DID")]
    owner_did: Option<String>,
    #[command(flatten)]
    key: KeySource,
}

/// Show the owner and the capabilities of an agent, with the signer of each claim
///
/// Exits with 1 if the store has no claim about the agent.
#[derive(Debug, Args)]
struct Card {
    /// DID of the agent
    agent: String,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum KindArg {
    /// Natural person
    Human,
    /// Company, association or public authority
    Org,
}

impl AgentTool {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        match self.action {
            Action::Provision(action) => action.run(session),
            Action::Card(action) => action.run(session),
            Action::HandOff(action) => action.run(session),
            Action::TakeOver(action) => action.run(session),
            Action::HandBack(action) => action.run(session),
        }
    }
}

impl Provision {
    fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let agent: Did = self.agent.parse().map_err(|error| {
            let error = CliError::of(&error);
            error.at(&self.agent)
        })?;
        let key = self.key.read()?;
        let operator = key.did();
        let owner = Owner {
            kind: match self.kind {
                KindArg::Human => OwnerKind::Human,
                KindArg::Org => OwnerKind::Org,
            },
            name: self.owner,
            entity_form: self.entity_form,
            jurisdiction: self.jurisdiction,
            reg_id: self.reg_id,
            did: Some(self.owner_did.unwrap_or_else(|| operator.to_string())),
        };
        let draft = Draft::ownership(agent.as_str(), &owner, operator.as_str());
        let now = SystemClock.now();
        let grain: Grain = draft.created_at(now).finish(Default::default())?;
        let signed = sign(grain, &key, &operator, Some(now.ms().div_euclid(1000)))?;
        let address = session.open()?.put(signed)?;
        if session.out.is_json() {
            let document = json!({ "address": address.to_string(), "operator": operator.as_str() });
            session.out.json(&document)?;
        } else {
            session.out.line(address)?;
        }
        Ok(Exit::Done)
    }
}

impl Card {
    fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let card = session.open_to_read()?.agent_card(&self.agent)?;
        let is_known = card.owner.is_some() || !card.capabilities.is_empty();
        if session.out.is_json() {
            session.out.json(&card_json(&self.agent, &card)?)?;
            return Ok(Exit::done_if(is_known));
        }
        let owners = card.owner.iter().map(|it| ("owner", it));
        let others = card.other_owners.iter().map(|it| ("claim", it));
        let abilities = card.capabilities.iter().map(|it| ("can", it));
        for (word, version) in owners.chain(others).chain(abilities) {
            let line = format!("{word:6} {} ({})", name_in(version), signer_text(version));
            session.out.line(printable_lines(&line))?;
        }
        Ok(Exit::done_if(is_known))
    }
}

/// Returns the name of an owner or a capability.
fn name_in(version: &Version) -> String {
    let object = version.grain.field("object");
    let named = object.and_then(|object| object.as_map()?.get("name")?.as_text());
    let name = named.or_else(|| version.grain.text("object"));
    name.unwrap_or_default().to_owned()
}

fn signer_text(version: &Version) -> String {
    match &version.signature {
        Some(signature) => format!("{}, {}", signature.trust.name(), signature.signer),
        None => "unsigned".to_owned(),
    }
}

fn card_json(agent: &str, card: &AgentCard) -> serde_json::Result<Value> {
    let all = |versions: &[Version]| {
        versions
            .iter()
            .map(version_json)
            .collect::<Result<Vec<_>, _>>()
    };
    let owner = card.owner.as_ref().map(version_json).transpose()?;
    Ok(json!({
        "agent": agent,
        "owner": owner,
        "other_owners": all(&card.other_owners)?,
        "capabilities": all(&card.capabilities)?,
    }))
}

fn version_json(version: &Version) -> serde_json::Result<Value> {
    let mut document = grain_json(&version.grain);
    if let Some(signature) = &version.signature {
        document["signature"] = signature_json(signature);
    }
    Ok(document)
}
