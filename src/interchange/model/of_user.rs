//! The records of a file under a user that the caller names, in place of the accounts, owners and
//! tenants that the file names.

use crate::codec::{Profile, Value};
use crate::grain::{self, Draft, Grain};
use crate::interchange::{Error, Record};

use super::record::{AddressMap, rewrite_links};
use super::record_set::RecordSource;

/// The records of another source, each with the user. Grains without a record keep theirs: they are not
/// this import's to change.
pub(super) struct OfUser {
    pub(super) source: Box<dyn RecordSource>,
    pub(super) user: String,
    pub(super) profile: Profile,
}

impl RecordSource for OfUser {
    fn each(&mut self, take: &mut dyn FnMut(Record) -> bool) -> Result<(), Error> {
        let mut renamed = AddressMap::default();
        let mut result = Ok(());
        let (user, profile) = (self.user.as_str(), self.profile);
        // A record may name a later one as its successor, so that all addresses are known first.
        self.source.each(&mut |record| {
            let changed = changed(&record.grain, user, &renamed, profile);
            match changed {
                Ok(Some(grain)) => renamed.insert(record.grain.address(), grain.address()),
                Ok(None) => {}
                Err(source) => {
                    result = Err(Error::Grain {
                        place: record.place,
                        source,
                    });
                }
            }
            result.is_ok()
        })?;
        result?;
        self.source.each(&mut |mut record| {
            if let Ok(Some(grain)) = changed(&record.grain, user, &renamed, profile) {
                record.grain = grain;
            }
            let successor = &mut record.status.superseded_by;
            *successor = successor.map(|by| renamed.get(&by).unwrap_or(by));
            take(record)
        })
    }
}

/// Returns whether a grain was built from a part of a file of another tool.
fn is_of_record(grain: &Grain) -> bool {
    let context = grain.field("context").and_then(Value::as_map);
    let formats = ["x-pam", "x-aimem", "x-omi", "x-markdown", "x-neighbour"];
    let is_kept = |name: &str| formats.iter().any(|format| name.starts_with(format));
    context.is_some_and(|context| context.iter().any(|(name, _)| is_kept(name)))
}

/// Returns the grain of a record with the user, and with the addresses that its file's grains have
/// with theirs; `None` if nothing changes.
fn changed(
    grain: &Grain,
    user: &str,
    renamed: &AddressMap,
    profile: Profile,
) -> Result<Option<Grain>, grain::Error> {
    if grain.is_signed() || !is_of_record(grain) {
        return rewrite_links(grain, renamed, None, profile);
    }
    let linked = rewrite_links(grain, renamed, None, profile)?;
    let fields = linked.as_ref().unwrap_or(grain);
    if fields.text("user_id") == Some(user) {
        return Ok(linked);
    }
    let draft = Draft::new(fields.type_()).encoding(fields.encoding());
    let others = fields
        .fields()
        .iter()
        .filter(|(name, _)| *name != "user_id");
    let draft = others.fold(draft, |draft, (name, value)| draft.set(name, value.clone()));
    draft.user(user).finish(profile).map(Some)
}
