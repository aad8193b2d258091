//! Turns of a conversation with an agent that the store has, or had, in one form or the other.

use crate::codec::ContentAddress;
use crate::grain::Grain;
use crate::index::Family;
use crate::interchange::logged_turn;
use crate::store::rules::{Turn, was_named, was_said};
use crate::store::view::View;
use crate::store::{Error, Owner};

/// Returns the Event that says what a turn says, if there is one that `sees` lets through.
///
/// # Errors
/// Storage errors; those of `sees`.
pub(crate) fn same_turn(
    view: &View<'_>,
    turn: &Grain,
    sees: impl Fn(&Grain) -> Result<bool, Error>,
) -> Result<Option<ContentAddress>, Error> {
    let Some(said) = Turn::of(turn) else {
        return Ok(None);
    };
    let at = Some(turn.created_at());
    let rows = view.snapshot().in_time(Family::EventTime, at, at).set()?;
    for row in rows.iter() {
        let grain = view.version_at(row)?.grain;
        if Turn::of(&grain).as_ref() == Some(&said) && sees(&grain)? {
            return Ok(Some(grain.address()));
        }
    }
    Ok(None)
}

/// See [`Admin::has_turn`](crate::Admin::has_turn).
pub(crate) fn has_turn(owner: Owner<'_>, turn: &Grain, id: Option<&str>) -> Result<bool, Error> {
    let store = owner.store();
    let snapshot = store.snapshot();
    let view = store.engine.as_of(&snapshot);
    if same_turn(&view, turn, |grain| store.sees(&snapshot, grain))?.is_some()
        || was_said(&view, turn)?
    {
        return Ok(true);
    }
    // An import without a user names its own.
    let users = [turn.text("user_id"), Some(LOCAL)];
    for user in users.into_iter().flatten() {
        if let Some(id) = logged_turn(turn, user, id)
            && was_named(&view, &id)?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The user of what is imported for none.
const LOCAL: &str = "local";
