//! The sequence that stores share: the rules on each kind of it, and the faults that the rules find.

mod planted;
mod server;
mod suite;
