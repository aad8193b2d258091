use clap::{Args, Subcommand, ValueEnum};
use grainstore::crypto::{Algorithm, Did, OsRandom, SigningKey};
use serde_json::json;

use crate::args::{read_key, write_key};
use crate::error::{Exit, Problem};
use crate::hex;
use crate::session::Session;

/// Make keys, and show who they are
#[derive(Debug, Args)]
pub(crate) struct DidTool {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    New(New),
    Show(Show),
}

/// Draw a new key, write it to a file that only you can read, and print its DID
///
/// The file is PKCS#8 in PEM. Whoever has it signs as you: there is no second copy.
#[derive(Debug, Args)]
struct New {
    /// The file to make; it must not be there yet
    file: String,
    /// The kind of key
    #[arg(long, value_enum, default_value_t = Kind::Ed25519)]
    kind: Kind,
}

/// Print the DID of a key file, or check one that you were given
#[derive(Debug, Args)]
struct Show {
    /// A DID, or the file of a key
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
        let did = match self.verb {
            Verb::New(New { file, kind }) => {
                let algorithm = match kind {
                    Kind::Ed25519 => Algorithm::Ed25519,
                    Kind::P256 => Algorithm::P256,
                };
                let key = SigningKey::generate(algorithm, &OsRandom);
                let key = key.map_err(|error| Problem::of(&error))?;
                write_key(&file, &key)?;
                key.did()
            }
            Verb::Show(Show { did_or_file }) => {
                if did_or_file.starts_with("did:") {
                    let did = did_or_file.parse();
                    did.map_err(|error| Problem::of(&error).at(did_or_file))?
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
