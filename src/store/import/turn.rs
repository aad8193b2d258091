//! Turns of a conversation with an agent: a hook stores one as a turn, and an import of the agent's log as a
//! message. The two have other fields; the agent, the session, the time, the role and the text make them one.

use crate::codec::{ContentAddress, Value};
use crate::grain::Grain;
use crate::index::Family;
use crate::interchange::logged_turn;
use crate::store::rules::was_named;
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
    let at = Some(turn.created_at());
    let rows = view.snapshot().in_time(Family::EventTime, at, at).set()?;
    for row in rows.iter() {
        let grain = view.version_at(row)?.grain;
        if is_same(&grain, turn) && sees(&grain)? {
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
    if same_turn(&view, turn, |grain| store.sees(&snapshot, grain))?.is_some() {
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

fn is_same(a: &Grain, b: &Grain) -> bool {
    let agent = |grain: &Grain| {
        let context = grain.field("context").and_then(Value::as_map);
        context.and_then(|context| context.get("agent")).cloned()
    };
    let text = |grain: &Grain| grain.text("content").map(|text| text.trim().to_owned());
    let mut fields = ["session_id", "role"].iter();
    a.type_() == b.type_()
        && fields.all(|name| a.field(name) == b.field(name))
        && text(a) == text(b)
        && agent(a) == agent(b)
}

/// The user of what is imported for none.
const LOCAL: &str = "local";
