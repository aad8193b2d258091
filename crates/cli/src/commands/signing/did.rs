//! `grainstore did`: makes keys, and shows the DID of a key.
//!
//! Keys are files; the command keeps no keyring.

use clap::{Args, Subcommand, ValueEnum};
use grainstore::crypto::{Algorithm, Did, OsRandom, SigningKey};
use serde_json::json;

use crate::args::{read_key, write_key};
use crate::error::{CliError, Exit};
use crate::hex;
use crate::session::Session;

/// Create keys and show their DIDs
#[derive(Debug, Args)]
pub(crate) struct DidTool {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    New(New),
    Show(Show),
}

/// Create a key, write it to a file with permissions 0600, and print its DID
///
/// The file is PKCS#8 in PEM, and not encrypted. There is no other copy: keep it safe, and back it
/// up if you need to.
#[derive(Debug, Args)]
struct New {
    /// File to create; it must not exist
    file: String,
    /// Kind of key
    #[arg(long, value_enum, default_value_t = Kind::Ed25519)]
    kind: Kind,
}

/// Print the DID of a key file, or validate a DID
#[derive(Debug, Args)]
struct Show {
    /// DID, or key file
    did_or_file: String,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Kind {
    /// EdDSA on Curve25519
    Ed25519,
    /// ECDSA on P-256
    P256,
}

impl DidTool {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let did = match self.action {
            Action::New(New { file, kind }) => {
                let algorithm = match kind {
                    Kind::Ed25519 => Algorithm::Ed25519,
                    Kind::P256 => Algorithm::P256,
                };
                let key = SigningKey::generate(algorithm, &OsRandom);
                let key = key.map_err(|error| CliError::of(&error))?;
                write_key(&file, &key)?;
                key.did()
            }
            Action::Show(Show { did_or_file }) => {
                if did_or_file.starts_with("did:") {
                    let did = did_or_file.parse();
                    did.map_err(|error| CliError::of(&error).at(did_or_file))?
                } else {
                    read_key(&did_or_file)?.did()
                }
            }
        };
        show(&did, session)
    }
}

fn show(did: &Did, session: &mut Session) -> anyhow::Result<Exit> {
    if session.out.is_json() {
        let key = did.key();
        session.out.json(&json!({
            "did": did.as_str(),
            "kind": key.map(|key| key.algorithm().to_string()),
            "public_key": key.map(|key| hex::encode(&key.to_bytes())),
        }))?;
    } else {
        session.out.line(did)?;
    }
    Ok(Exit::Done)
}
