//! The command, run as its users run it.
