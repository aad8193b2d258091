//! One address as a register: a grain is absent, current, superseded or erased.

/// The state of an address. An erased one stays so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) enum State {
    #[default]
    Absent,
    Current,
    /// By the grain of this number.
    Superseded(usize),
    Erased,
}

/// The change or the question of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ask {
    Get,
    Put,
    Delete,
    /// With the grain of this number in its place.
    Supersede(usize),
}

/// The answer to a client; an operation without one may have been done or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Of a question: it is there, and superseded by this grain if by one.
    Found(Option<usize>),
    /// Of a question or a change: it is not there.
    Missing,
    /// Of a change.
    Done,
    /// Of a put: it was deleted here.
    WasErased,
    /// Of a supersession: another came first.
    Conflict,
}

/// Returns the state after an operation; `None` if the answer is not that of the state. Without an answer
/// the operation is done as far as the state allows.
pub(crate) fn step(state: State, ask: Ask, answer: Option<Answer>) -> Option<State> {
    let (right, after) = outcome(state, ask);
    (answer.is_none() || answer == Some(right)).then_some(after)
}

fn outcome(state: State, ask: Ask) -> (Answer, State) {
    match (ask, state) {
        (Ask::Get, State::Absent | State::Erased) => (Answer::Missing, state),
        (Ask::Get, State::Current) => (Answer::Found(None), state),
        (Ask::Get, State::Superseded(by)) => (Answer::Found(Some(by)), state),
        (Ask::Put, State::Absent) => (Answer::Done, State::Current),
        (Ask::Put, State::Current | State::Superseded(_)) => (Answer::Done, state),
        (Ask::Put, State::Erased) => (Answer::WasErased, state),
        (Ask::Delete, State::Current | State::Superseded(_)) => (Answer::Done, State::Erased),
        (Ask::Delete | Ask::Supersede(_), State::Absent | State::Erased) => {
            (Answer::Missing, state)
        }
        (Ask::Supersede(new), State::Current) => (Answer::Done, State::Superseded(new)),
        (Ask::Supersede(_), State::Superseded(_)) => (Answer::Conflict, state),
    }
}
