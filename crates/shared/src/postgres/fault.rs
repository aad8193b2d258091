//! The meaning of a server's errors: done nothing and worth another try, unknown, or refused.

use std::io;

use tokio_postgres::error::SqlState;

use crate::Error;

/// The outcome of a statement that gave no rows.
#[derive(Debug)]
pub(super) enum Fault {
    /// The server has rolled it back, and may do it next time.
    Again(tokio_postgres::Error),
    /// The connection, or the server, ended: it may have been done.
    Unknown(Box<dyn std::error::Error + Send + Sync>),
    /// The server says no.
    Refused(tokio_postgres::Error),
}

impl Fault {
    /// Returns that of a server that does not answer.
    pub(super) fn silent() -> Self {
        let silent = io::Error::new(io::ErrorKind::TimedOut, "the server does not answer");
        Self::Unknown(silent.into())
    }

    pub(super) const fn loses_connection(&self) -> bool {
        matches!(self, Self::Unknown(_))
    }
}

/// Returns the fault that an error of the client is.
pub(super) fn fault_of(error: tokio_postgres::Error) -> Fault {
    let Some(state) = error.code() else {
        return Fault::Unknown(error.into());
    };
    let rolled_back = [
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
    ];
    if rolled_back.contains(state) {
        return Fault::Again(error);
    }
    let code = state.code();
    // The server is going, starting or full; or it does not know itself what it has done.
    let is_unknown = ["08", "53", "57P", "58", "40003", "25006"];
    match is_unknown.iter().any(|class| code.starts_with(class)) {
        true => Fault::Unknown(error.into()),
        false => Fault::Refused(error),
    }
}

/// Returns whether the server says that a table is missing.
pub(super) fn is_missing_table(fault: &Error) -> bool {
    matches!(fault, Error::Refused(reason) if reason.contains(SqlState::UNDEFINED_TABLE.code()))
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Again(error) => Self::unreachable(error),
            Fault::Unknown(error) => Self::unreachable(error),
            Fault::Refused(error) => {
                let code = error.code().map_or("", SqlState::code);
                let told = error
                    .as_db_error()
                    .map(tokio_postgres::error::DbError::message);
                Self::refused(format!("{} ({code})", told.unwrap_or("no reason")))
            }
        }
    }
}
