//! Limits: what a grain, a file or a question may cost, whatever it says.

mod namespaces;
mod questions;
