//! The embedders of an open store: what waits for each (`queue.rs`), and the thread that has it embedded,
//! beside that which follows other processes (`worker.rs`).

mod queue;
mod worker;

pub(super) use queue::Embeddings;
pub(crate) use queue::{EmbedQueue, EmbedText};
pub(super) use worker::Tend;
pub(crate) use worker::{Background, EmbedWorker};
