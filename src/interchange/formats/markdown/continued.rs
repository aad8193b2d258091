//! The state of a tree that was imported before, and the versions that end what is gone.

use crate::codec::{ContentAddress, Profile};
use crate::grain::{self, Draft, ForeignId, Grain, Time};
use crate::interchange::formats::tree_ids::{Earlier, digest};
use crate::interchange::{Format, Place, Record};

use super::residual::{Kept, Laid, address_of, of_ended};

/// Reads the State of a note; `None` for a grain that is none.
pub(crate) fn earlier(grain: &Grain) -> Option<Earlier> {
    let kept = Kept::of(grain)?;
    let is_over = kept.has("ended");
    let items = kept.parts().filter_map(|part| match part {
        Laid::Item(id, of) => Some((id.to_owned(), of.to_owned())),
        Laid::Gap(_) => None,
    });
    let mut note = Earlier {
        id: kept.text("id")?.to_owned(),
        path: kept.text("path")?.to_owned(),
        items: items.collect(),
        links: kept
            .links()
            .map(|(id, of)| (id.to_owned(), of.to_owned()))
            .collect(),
        gone: kept.gone().map(str::to_owned).collect(),
        is_over,
        is_claim: false,
    };
    if is_over {
        let items = std::mem::take(&mut note.items).into_iter();
        let links = std::mem::take(&mut note.links);
        note.gone.extend(items.chain(links).map(|(id, _)| id));
    }
    Some(note)
}

/// Returns the tag of the States of a tree.
pub(crate) fn tree_tag(scope: &str) -> String {
    format!("grainstore:tree:{}", digest(scope))
}

/// Makes the version of a grain that says that its item is gone: it ended at a time.
///
/// # Errors
/// Those of grains.
pub(crate) fn ended(
    grain: &Grain,
    id: ForeignId,
    now: Time,
    profile: Profile,
) -> Result<Record, grain::Error> {
    // Before every clock that reads it: an end at this millisecond is not over yet.
    let began = grain
        .field("valid_from")
        .and_then(crate::codec::Value::as_i64);
    let end = now.ms().saturating_sub(1).max(began.unwrap_or(i64::MIN));
    let draft = Draft::next_version(grain)
        .set("context", of_ended(grain, id.id()))
        .created_at(now)
        .valid_to(Time::from_ms(end));
    let (grain, warnings) = draft.finish_with_warnings(profile)?;
    Ok(Record {
        foreign_id: Some(id),
        warnings,
        ..Record::new(grain, Place::File)
    })
}

/// Returns the id of a record of a tree.
pub(super) fn foreign_id(scope: &str, id: &str) -> ForeignId {
    ForeignId::new(Format::Markdown.name(), scope, id)
}

/// Returns the address of a grain of the store that a tree was exported from, where an id is one.
pub(crate) fn address_in(id: &ForeignId) -> Option<ContentAddress> {
    let is_of_tree = id.format() == Format::Markdown.name();
    is_of_tree.then(|| address_of(id.id())).flatten()
}
