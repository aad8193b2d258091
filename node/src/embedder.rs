//! Models of a program that make vectors of texts: they are asked on the event loop, while the thread that
//! needs the vectors waits.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use grainstore::store::Embedder;
use napi::bindgen_prelude::{Float32Array, FnArgs};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Status, bindgen_prelude::Unknown};
use napi_derive::napi;

/// A question: its number, the texts, and whether they are questions of a search.
type Question = FnArgs<(u32, Vec<String>, bool)>;

/// Asks the program. It is weak: a store that waits for texts keeps no process from ending.
pub type Ask = ThreadsafeFunction<Question, Unknown<'static>, Question, Status, false, true>;

type Answer = Result<Vec<Vec<f32>>, String>;

/// The questions that are open, by their numbers.
static OPEN: LazyLock<Mutex<HashMap<u32, Sender<Answer>>>> = LazyLock::new(Mutex::default);

static NEXT: AtomicU32 = AtomicU32::new(0);

/// Looks this often whether the event loop has ended.
const LOOK: Duration = Duration::from_millis(200);

/// Takes the vectors that answer a question, or the reason why there are none.
#[napi]
pub fn embedded(question: u32, vectors: Vec<Float32Array>, failure: Option<String>) {
    let open = OPEN
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .remove(&question);
    if let Some(open) = open {
        let answer = match failure {
            Some(reason) => Err(reason),
            None => Ok(vectors.iter().map(|vector| vector.to_vec()).collect()),
        };
        // The thread that asked may have given up.
        drop(open.send(answer));
    }
}

/// A model with the members `model`, `dimensions` and `embed`, and perhaps `embedQuery`.
pub(crate) struct JsEmbedder {
    model: String,
    dimensions: usize,
    ask: Ask,
}

impl JsEmbedder {
    pub(crate) const fn new(model: String, dimensions: usize, ask: Ask) -> Self {
        Self {
            model,
            dimensions,
            ask,
        }
    }

    fn ask(&self, texts: Vec<String>, are_questions: bool) -> Answer {
        let question = NEXT.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = channel();
        let open = || OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        open().insert(question, sender);
        let status = self.ask.call(
            (question, texts, are_questions).into(),
            ThreadsafeFunctionCallMode::NonBlocking,
        );
        let ended = || Err("the event loop of the model has ended".to_owned());
        if status != Status::Ok {
            open().remove(&question);
            return ended();
        }
        loop {
            match answer.recv_timeout(LOOK) {
                Ok(answer) => return answer,
                Err(RecvTimeoutError::Timeout) if !self.ask.aborted() => {}
                Err(_) => {
                    open().remove(&question);
                    return ended();
                }
            }
        }
    }
}

impl fmt::Debug for JsEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JsEmbedder({})", self.model)
    }
}

impl Embedder for JsEmbedder {
    fn model(&self) -> &str {
        &self.model
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn embed(
        &self,
        texts: &[&str],
    ) -> Result<Vec<Vec<f32>>, Box<dyn std::error::Error + Send + Sync>> {
        let texts = texts.iter().map(|text| (*text).to_owned()).collect();
        self.ask(texts, false).map_err(Into::into)
    }

    fn embed_query(
        &self,
        text: &str,
    ) -> Result<Vec<f32>, Box<dyn std::error::Error + Send + Sync>> {
        let mut vectors = self.ask(vec![text.to_owned()], true)?;
        vectors.pop().ok_or_else(|| "no vector".into())
    }
}
