//! `grainstore follow`: a directory for readers that is brought after a copy.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use grainstore_replica::{Followed, Follower};
use serde_json::json;

use super::place::{OpenArgs, Pace, failed, open, runtime};
use crate::error::{CliError, Exit};
use crate::hex;
use crate::output::Output;
use crate::session::Session;

/// Follow a copy on object storage into a directory, for readers
///
/// Any number of machines follow one copy. DIR can be read as a store while the command runs, and takes
/// no changes: `restore DIR NEW` makes a store of it. Every byte is verified, and the chain from the first
/// entry to the last. A copy that was rolled back, is forked or has lost objects is refused.
#[derive(Debug, Args)]
#[command(after_long_help = "Example:
  grainstore follow s3://bucket/memory /var/lib/memory.grains")]
pub(crate) struct Follow {
    /// Place of the copy, as `replicate` names it
    #[arg(value_name = "URL")]
    url: String,
    /// Directory to follow into: new, empty, or one that has followed this copy
    #[arg(value_name = "DIR")]
    to: PathBuf,
    /// Follow up to the present end and end
    #[arg(long)]
    once: bool,
    /// Look this often, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 500)]
    every: u64,
    #[command(flatten)]
    open: OpenArgs,
}

impl Follow {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let bucket = open(&self.url)?;
        let options = self.open.options(session)?;
        let followed = runtime()?.block_on(async {
            let opened = Follower::open(bucket, &self.to, options).await;
            let mut follower = opened.map_err(|error| failed(&error, &self.url))?;
            match self.once {
                true => {
                    let followed = follower.pass().await;
                    followed.map_err(|error| failed(&error, &self.url))
                }
                false => self.go_on(&mut follower, &mut session.out).await,
            }
        })?;
        self.tell(&followed, &mut session.out)?;
        Ok(Exit::Done)
    }

    async fn go_on(&self, follower: &mut Follower, out: &mut Output) -> Result<Followed, CliError> {
        let mut pace = Pace::of(Duration::from_millis(self.every));
        out.note(format!("note: following {}", self.url));
        loop {
            pace.begin();
            match follower.pass().await {
                Ok(followed) => {
                    if out.is_json() && followed.added > 0 {
                        let told = self.tell(&followed, out).and_then(|()| out.flush());
                        told.map_err(|error| CliError::of(&error))?;
                    }
                    pace.rest().await;
                }
                Err(error) => {
                    out.note(pace.bear(&error, &self.url)?);
                    pace.wait().await;
                }
            }
        }
    }

    fn tell(&self, followed: &Followed, out: &mut Output) -> std::io::Result<()> {
        let path = self.to.display();
        if out.is_json() {
            return out.json(&json!({
                "added": followed.added,
                "entries": followed.entries,
                "head": hex::encode(&followed.head),
                "path": path.to_string(),
            }));
        }
        let Followed { entries, added, .. } = followed;
        out.line(format!("{path}: {entries} entries, {added} of them new"))
    }
}
