//! The sequence that stores share: the rules on each kind of it, the faults of a server, and stores on
//! several nodes.

mod faults;
mod faulty;
mod nodes;
mod planted;
mod server;
mod suite;
