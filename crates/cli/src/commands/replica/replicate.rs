//! `grainstore replicate`: ships the ledger to object storage, once or from now on.
//!
//! It runs beside the processes that write, and takes no lock that they take.

use std::time::Duration;

use clap::Args;
use grainstore_replica::{ManifestKey, Recipients, ShipOptions, Shipped, Shipper};
use serde_json::json;

use super::place::{failed, open, runtime};
use super::shipping::{Told, go_on};
use crate::args::read_key;
use crate::error::{CliError, Exit};
use crate::output::Output;
use crate::session::Session;

/// Ship the store to object storage, and go on with what is stored
///
/// The copy is never more than a second old, and no writer waits for it. Credentials and endpoint are
/// those of the usual variables, such as AWS_ACCESS_KEY_ID and AWS_ENDPOINT. An erasure in the store
/// removes the bytes from the copy too; the keys of sealed persons (`vault/`) and tokens are never shipped. A copy
/// that was rolled back, is forked or has lost objects is refused. `restore` and `follow` read it.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  grainstore replicate s3://bucket/memory
  grainstore replicate file:///mnt/copy --once")]
pub(crate) struct Replicate {
    /// Place of the copy: file:///DIR, s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, az://CONTAINER/PREFIX
    #[arg(value_name = "URL")]
    url: String,
    /// Ship what there is and end; exits with 1 while erased bytes wait to be removed
    #[arg(long)]
    once: bool,
    /// Ship this often, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 500)]
    every: u64,
    /// Encrypt objects to this public key (age1…); may be repeated
    #[arg(long, value_name = "RECIPIENT")]
    encrypt_to: Vec<String>,
    /// Sign each manifest with this key (PKCS#8 in PEM, of its owner alone), for --signer of `follow`
    #[arg(long, value_name = "FILE")]
    key: Option<String>,
    /// Ship all of the ledger again, to a copy that was rolled back or has lost objects
    #[arg(long)]
    anew: bool,
}

impl Replicate {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let bucket = open(&self.url)?;
        let recipients = match self.encrypt_to.is_empty() {
            true => None,
            false => {
                let parsed = Recipients::parse(&self.encrypt_to);
                Some(parsed.map_err(|error| CliError::new(error.code(), error))?)
            }
        };
        let key = self.key.as_deref().map(read_key).transpose()?;
        let options = ShipOptions {
            recipients,
            key: key.map(ManifestKey::from),
            anew: self.anew,
        };
        let path = session.store_path().to_owned();
        let shipped = runtime()?.block_on(async {
            let opened = Shipper::open(&path, bucket, options).await;
            let mut shipper = opened.map_err(|error| failed(&error, &self.url))?;
            match self.once {
                true => {
                    let shipped = shipper.pass().await;
                    shipped.map_err(|error| failed(&error, &self.url))
                }
                false => self.go_on(&mut shipper, &mut session.out).await,
            }
        })?;
        self.tell(&shipped, &mut session.out)?;
        Ok(Exit::done_if(shipped.waits == 0))
    }

    /// Ships until an error that does not pass.
    async fn go_on(&self, shipper: &mut Shipper, out: &mut Output) -> Result<Shipped, CliError> {
        out.note(format!("note: shipping to {}", self.url));
        let every = Duration::from_millis(self.every);
        let ended = go_on(shipper, &self.url, every, |told| match told {
            Told::Passed(shipped) => self.tell_news(shipped, out),
            Told::Waits(text) => {
                out.note(text);
                Ok(())
            }
        });
        match ended.await? {}
    }

    /// Prints each pass as JSON; as text only one that erased something, or after which erasures wait.
    fn tell_news(&self, shipped: &Shipped, out: &mut Output) -> std::io::Result<()> {
        if out.is_json() || shipped.erased > 0 || shipped.waits > 0 {
            self.tell(shipped, out)?;
            return out.flush();
        }
        Ok(())
    }

    fn tell(&self, shipped: &Shipped, out: &mut Output) -> std::io::Result<()> {
        if out.is_json() {
            return out.json(&json!({
                "added": shipped.added,
                "entries": shipped.entries,
                "erased": shipped.erased,
                "ledger_bytes": shipped.ledger_bytes,
                "url": self.url,
                "waits": shipped.waits,
                "written_bytes": shipped.written_bytes,
            }));
        }
        let Shipped {
            entries,
            added,
            erased,
            waits,
            ..
        } = shipped;
        out.line(format!(
            "{}: {entries} entries, {added} of them new",
            self.url
        ))?;
        if *erased > 0 {
            out.line(format!("{erased} erased entries are gone from the copy"))?;
        }
        if *waits > 0 {
            out.line(format!(
                "{waits} erased entries wait to be removed from the copy"
            ))?;
        }
        Ok(())
    }
}
