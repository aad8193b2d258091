//! What is stored and asked for, one command at a time.

mod cal;
mod delete;
mod grains;
mod put;
mod questions;
mod status;
mod tail;
mod user;
