//! The note that the store has no grain of a named person. A typing mistake is the likely reason, and
//! an empty answer would hide it.

use grainstore::{Filter, Store};

use crate::session::Session;

/// Returns a note that nothing was found of a person, with names of the store that are near or, if none
/// is, some that are there.
///
/// # Errors
/// Storage errors; `ERR_ACCESS_DENIED` for a handle that is not the owner's.
pub(crate) fn unknown(store: &Store, id: &str) -> anyhow::Result<String> {
    let seen = store.admin()?.persons_seen()?;
    let asked = id.to_lowercase();
    let is_near = |name: &&String| {
        let name = name.to_lowercase();
        name.contains(&asked) || asked.contains(&name)
    };
    let near: Vec<_> = seen.iter().filter(is_near).take(SHOWN).cloned().collect();
    Ok(match (near.as_slice(), seen.as_slice()) {
        (_, []) => format!("nothing is known of {id:?}: no grain here has a user"),
        ([], seen) => {
            let some = seen.iter().take(SHOWN).cloned().collect::<Vec<_>>();
            format!(
                "nothing is known of {id:?}; users here are {}",
                some.join(", ")
            )
        }
        (near, _) => format!(
            "nothing is known of {id:?}; did you mean {}?",
            near.join(", ")
        ),
    })
}

/// Writes notes to a question without results: persons are locked, or the store has no grain of the named
/// person.
///
/// # Errors
/// As [`unknown`].
pub(crate) fn note_nothing(
    store: &Store,
    named: Option<&str>,
    session: &Session,
) -> anyhow::Result<()> {
    if session.out.is_json() {
        return Ok(());
    }
    let persons = store.admin()?.vault().status()?.persons;
    let locked = persons.saturating_sub(session.unlocked().len() as u64);
    if locked > 0 {
        let are = if locked == 1 {
            "person is"
        } else {
            "persons are"
        };
        session.out.note(format!(
            "{locked} {are} locked, whose grains were not looked into: --key-file FILE --unlock ID opens them"
        ));
    }
    if let Some(id) = named
        && !knows(store, id)?
    {
        // The name of a locked person is not known here.
        match locked {
            0 => session.out.note(unknown(store, id)?),
            _ => session
                .out
                .note(format!("nothing that is open is of {id:?}")),
        }
    }
    Ok(())
}

/// Returns whether a grain of the store, current or not, has a user.
///
/// # Errors
/// Storage errors.
pub(crate) fn knows(store: &Store, user: &str) -> Result<bool, grainstore::Error> {
    let all = Filter::new().user(user).with_superseded().with_expired();
    Ok(store.query(&all, 1, None)?.total > 0)
}

const SHOWN: usize = 5;

#[cfg(test)]
mod tests {
    use grainstore::{Draft, Options};

    use super::*;

    #[test]
    fn a_name_in_another_case_is_named_and_others_where_none_is_near() {
        let store = Store::in_memory(Options::default()).unwrap();
        let told = |id| unknown(&store, id).unwrap();
        assert_eq!(
            told("Mira"),
            "nothing is known of \"Mira\": no grain here has a user"
        );
        for user in ["mira", "noah"] {
            store.put(Draft::event("hello").user(user)).unwrap();
        }
        assert_eq!(
            told("Mira"),
            "nothing is known of \"Mira\"; did you mean mira?"
        );
        assert_eq!(
            told("ben"),
            "nothing is known of \"ben\"; users here are mira, noah"
        );
    }
}
