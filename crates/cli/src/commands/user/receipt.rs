//! `grainstore user verify`: the check of a receipt for an erasure, with or without the store.

use clap::Args;
use grainstore::ErrorCode;
use grainstore::crypto::{ErasureReceipt, Offline};
use grainstore::store::{InclusionProof, Person};
use grainstore_server::receipt_json;
use serde_json::{Value, json};

use crate::args::address::short;
use crate::args::read_document;
use crate::error::{CliError, Exit};
use crate::hex;
use crate::session::Session;

/// Verify the receipt of an erasure, without a store
///
/// Checks the signature, that the readable part of the file says the same, and that the entries of the
/// erasure are proven under the root of the ledger that was signed. The signer is shown;
/// whether to trust it is up to the reader. Exits with 4 if --person is not the person of the
/// receipt, or if --in-store finds that it is not of the store. With --json the whole receipt is shown.
#[derive(Debug, Args)]
pub(super) struct Verify {
    /// Output of `user erase --receipt`, or - for stdin
    file: String,
    /// Check that the receipt is about this person, by one of the identifiers
    #[arg(long, value_name = "ID")]
    person: Option<String>,
    /// Check that the store's ledger has the erasure at the stated place
    #[arg(long)]
    in_store: bool,
}

impl Verify {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let text = read_document(&self.file)?;
        let refused = |message: &str| CliError::new(ErrorCode::Corrupt, message).at(&self.file);
        let document: Value = serde_json::from_str(&text)
            .map_err(|_| refused("not the output of `user erase --receipt`"))?;
        let message = document["receipt"].as_str().and_then(hex::decode);
        let message = message.ok_or_else(|| refused("it has no receipt"))?;
        if receipt_json(&message)? != document {
            return Err(refused("the readable part is not what was signed").into());
        }
        let (receipt, _) = ErasureReceipt::open(&message, &Offline)?;
        let mut shown = document;
        if let Some(members) = shown.as_object_mut() {
            members.remove("receipt");
        }
        let mut is_sound = InclusionProof::prove_erasure(&receipt);
        shown["is_proven"] = json!(is_sound);
        if let Some(id) = &self.person {
            let names = Person::new(id).ids().iter().any(|id| receipt.names(id));
            shown["is_of_this_person"] = json!(names);
            is_sound &= names;
        }
        if self.in_store {
            let agrees = session.open()?.admin()?.agrees_with(&receipt)?;
            shown["is_of_this_store"] = json!(agrees);
            is_sound &= agrees;
        }
        match session.out.is_json() {
            true => session.out.json(&shown)?,
            false => self.tell(&shown, &receipt, session)?,
        }
        Ok(Exit::unless_damaged(!is_sound))
    }

    /// Says in sentences of what the receipt is a proof.
    fn tell(
        &self,
        shown: &Value,
        receipt: &ErasureReceipt,
        session: &mut Session,
    ) -> anyhow::Result<()> {
        let is_proven = shown["is_proven"] == json!(true);
        let verdict = match is_proven {
            true => "proven",
            false => "NOT PROVEN: the entries are not under the root that was signed",
        };
        let signer = shown["signer"].as_str().unwrap_or_default();
        let are = match receipt.erased {
            1 => "grain of one person is",
            _ => "grains of one person are",
        };
        session.out.line(format!(
            "{verdict}: {signer} signed on {} that {} {are} erased, in ledger {}",
            receipt.time,
            receipt.erased,
            hex::encode(&receipt.store),
        ))?;
        let mut say = |is: Option<bool>, yes: String, no: String| match is {
            Some(true) => session.out.line(yes),
            Some(false) => session.out.line(no),
            None => Ok(()),
        };
        let id = self.person.as_deref().unwrap_or_default();
        say(
            shown["is_of_this_person"].as_bool(),
            format!("the person is {id}"),
            format!("THE PERSON IS NOT {id}"),
        )?;
        say(
            shown["is_of_this_store"].as_bool(),
            "this store's ledger has the erasure at the stated place".to_owned(),
            "THIS STORE'S LEDGER DOES NOT HAVE IT".to_owned(),
        )?;
        for (address, rule) in &receipt.kept {
            let address = short(address);
            session
                .out
                .line(format!("kept: {address}, by the rule {rule}"))?;
        }
        for (name, until) in &receipt.escrows {
            let line = format!("a copy of the keys, {name}, opens what was erased until {until}");
            session.out.line(line)?;
        }
        if receipt.locked_persons > 0 {
            let locked = receipt.locked_persons;
            session
                .out
                .line(format!("not looked into: {locked} locked persons"))?;
        }
        if self.person.is_none() {
            session
                .out
                .note("--person ID checks of whom, --in-store that the store has it");
        }
        Ok(())
    }
}
