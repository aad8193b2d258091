//! Storing the turns of a transcript, each once.
//!
//! A turn has the time that its transcript tells, so the same turn is the same grain, and the store
//! itself says what it has. Turns are looked at from the last to the first: the first that a hook stored
//! ends that, since a run stores all before it or nothing. One that an import of the transcript brought is
//! passed over.

use std::fs;
use std::path::Path;

use grainstore::codec::{Map, Profile, Value};
use grainstore::{Draft, ErrorCode, Grain, Store};

use super::transcript::{Turn, turns_from_the_end};

/// The fields that all turns of a transcript share.
pub(super) struct Told {
    pub(super) namespace: String,
    pub(super) user: Option<String>,
    pub(super) session: String,
    pub(super) agent: &'static str,
}

/// Stores the turns of a transcript that the store lacks.
///
/// # Errors
/// `ERR_STORAGE_IO` of a transcript that cannot be read; as [`Store::put_batch`]. A turn that was erased
/// stays erased, and is no error.
pub(super) fn keep(store: &Store, transcript: &Path, told: &Told) -> anyhow::Result<()> {
    // A transcript may end in the middle of a character while it is written.
    let bytes = fs::read(transcript)?;
    let text = String::from_utf8_lossy(&bytes);
    let mut new = Vec::new();
    for mut turn in turns_from_the_end(&text) {
        let id = turn.id.take();
        let grain = told.draft(turn).finish(Profile::Extended)?;
        if store.exists(&grain.address())? {
            break;
        }
        if !store.admin()?.has_turn(&grain, id.as_deref())? {
            new.push(grain);
        }
    }
    new.reverse();
    match store.put_batch(new.clone()) {
        Err(error) if error.code() == ErrorCode::Erased => put_each(store, new),
        stored => Ok(stored.map(drop)?),
    }
}

/// Stores the grains that were not erased before.
fn put_each(store: &Store, grains: Vec<Grain>) -> anyhow::Result<()> {
    for grain in grains {
        match store.put(grain) {
            Err(error) if error.code() == ErrorCode::Erased => {}
            stored => drop(stored?),
        }
    }
    Ok(())
}

impl Told {
    fn draft(&self, turn: Turn) -> Draft {
        let mut draft = Draft::event(turn.text)
            .set("role", turn.role)
            .session(&*self.session)
            .namespace(&*self.namespace)
            .created_at(turn.time);
        if let Some(user) = &self.user {
            draft = draft.user(&**user);
        }
        if let Some(model) = turn.model {
            draft = draft.set("model_id", model);
        }
        let mut context = Map::new();
        context.insert("agent", Value::from(self.agent));
        if let Some(branch) = turn.branch {
            context.insert("branch", Value::from(branch));
        }
        if !turn.tools.is_empty() {
            let tools = turn.tools.into_iter().map(Value::from);
            context.insert("tools", Value::Array(tools.collect()));
        }
        draft.set("context", context)
    }
}
