//! The extension module of the Node.js package `grainstore`: its store, grains and feeds, on the public
//! API of the library only.
//!
//! A program sees the TypeScript layer above it (`lib/`): this module takes and returns plain values.
//! Every call that reads, writes or searches is a task of libuv's pool, so that the event loop never waits.

mod ask;
mod attest;
mod audit;
mod cal;
mod changes;
mod command;
mod embedder;
mod failure;
mod files;
mod filter;
mod grain;
mod held;
mod hold;
mod http;
mod open;
mod persons;
mod read;
mod recollection;
mod signing;
mod store;
mod value;
