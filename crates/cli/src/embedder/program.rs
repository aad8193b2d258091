//! A program of the user's as a model: one JSON object a line in, one a line out (docs/search.md).
//!
//! It begins with its name and the length of its vectors, and answers each line of texts with a line
//! of vectors. It is started anew after it ended or did not answer in time.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use grainstore::ErrorCode;
use grainstore::store::Embedder;
use serde_json::{Value, json};

use crate::commands::questions::vector;
use crate::error::CliError;

/// Why the program has no answer.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A model that is a program.
#[derive(Debug)]
pub(crate) struct ProgramEmbedder {
    /// The program and its arguments, as they were named.
    command: String,
    wait: Duration,
    model: String,
    dimensions: usize,
    /// `None` after it failed.
    running: Mutex<Option<Program>>,
}

impl ProgramEmbedder {
    /// Starts the program, and waits until it says which model it is.
    ///
    /// # Errors
    /// `ERR_EMBEDDER` if it does not start or does not say so in time.
    pub(crate) fn start(command: &str, wait: Duration) -> Result<Self, CliError> {
        let started = Program::start(command, wait);
        let (program, model, dimensions) = started.map_err(|error| {
            let error = CliError::new(ErrorCode::Embedder, error).at("--embed-cmd");
            error.advising("docs/search.md has the protocol; --embed-wait SECONDS waits longer")
        })?;
        Ok(Self {
            command: command.to_owned(),
            wait,
            model,
            dimensions,
            running: Mutex::new(Some(program)),
        })
    }

    fn ask(&self, request: &Value) -> Result<Vec<Vec<f32>>, Failure> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let mut program = match running.take() {
            Some(program) => program,
            None => {
                let (program, model, dimensions) = Program::start(&self.command, self.wait)?;
                if (&model, dimensions) != (&self.model, self.dimensions) {
                    return Err(format!("{} is {model} now", self.command).into());
                }
                program
            }
        };
        // A program whose answer did not come is not asked again: it might come instead of the next.
        let answer = program.ask(request, self.wait)?;
        *running = Some(program);
        drop(running);
        if let Some(reason) = answer.get("error").and_then(Value::as_str) {
            return Err(reason.to_owned().into());
        }
        let vectors = answer.get("vectors").and_then(Value::as_array);
        let vectors = vectors.map(|vectors| vectors.iter().map(|it| vector(Some(it))).collect());
        let vectors = vectors.flatten();
        vectors.ok_or_else(|| "the answer has no \"vectors\", an array of arrays of numbers".into())
    }
}

impl Embedder for ProgramEmbedder {
    fn model(&self) -> &str {
        &self.model
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Failure> {
        self.ask(&json!({ "texts": texts, "query": false }))
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>, Failure> {
        let vectors = self.ask(&json!({ "texts": [text], "query": true }))?;
        match <[_; 1]>::try_from(vectors) {
            Ok([vector]) => Ok(vector),
            Err(vectors) => Err(format!("{} vectors for 1 text", vectors.len()).into()),
        }
    }
}

/// The program while it runs. Threads write and read, so that no wait is longer than it may be.
#[derive(Debug)]
struct Program {
    child: Child,
    /// Closed to end the program; `None` then.
    requests: Option<Sender<String>>,
    answers: Receiver<std::io::Result<Vec<u8>>>,
}

impl Program {
    /// Starts a program; returns it with the name of its model and the length of the vectors.
    fn start(command: &str, wait: Duration) -> Result<(Self, String, usize), Failure> {
        let mut words = command.split_whitespace();
        let name = words.next().ok_or("no program is named")?;
        let mut child = Command::new(name)
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{name} does not start: {error}"))?;
        let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the program has no pipes".into());
        };
        let (requests, to_write) = channel::<String>();
        thread::spawn(move || {
            // The program sees the end of its input when this ends.
            for request in to_write {
                if stdin.write_all(request.as_bytes()).is_err() || stdin.flush().is_err() {
                    return;
                }
            }
        });
        let (read, answers) = channel();
        thread::spawn(move || {
            let mut lines = BufReader::new(stdout);
            loop {
                let mut line = Vec::new();
                let outcome = lines.by_ref().take(LINE_MAX).read_until(b'\n', &mut line);
                let is_end = matches!(outcome, Ok(0) | Err(_));
                if is_end || read.send(outcome.map(|_| line)).is_err() {
                    return;
                }
            }
        });
        let mut program = Self {
            child,
            requests: Some(requests),
            answers,
        };
        let hello = program.answer(wait)?;
        let model = hello.get("model").and_then(Value::as_str);
        let dimensions = hello.get("dimensions").and_then(Value::as_u64);
        let dimensions = dimensions.and_then(|it| usize::try_from(it).ok());
        match (model, dimensions) {
            (Some(model), Some(dimensions)) if !model.is_empty() && dimensions > 0 => {
                let model = model.to_owned();
                Ok((program, model, dimensions))
            }
            _ => Err("its first line has no \"model\" and \"dimensions\"".into()),
        }
    }

    fn ask(&mut self, request: &Value, wait: Duration) -> Result<Value, Failure> {
        let requests = self.requests.as_ref();
        // If it has ended, the answer says so.
        drop(requests.map(|it| it.send(format!("{request}\n"))));
        self.answer(wait)
    }

    fn answer(&mut self, wait: Duration) -> Result<Value, Failure> {
        let line = match self.answers.recv_timeout(wait) {
            Ok(line) => line?,
            Err(RecvTimeoutError::Timeout) => {
                return Err(format!("no answer within {} s", wait.as_secs()).into());
            }
            Err(RecvTimeoutError::Disconnected) => {
                let ended = self.child.wait()?;
                return Err(format!("the program ended: {ended}").into());
            }
        };
        if line.last() != Some(&b'\n') && line.len() as u64 == LINE_MAX {
            return Err("a line of more than 64 MiB".into());
        }
        serde_json::from_slice(&line).map_err(|error| format!("not JSON: {error}").into())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It ends with its input, or is ended.
        drop(self.requests.take());
        for _ in 0..LAST_LINES_MAX {
            if self.answers.recv_timeout(LAST_WAIT).is_err() {
                break;
            }
        }
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The longest line that is read, in bytes.
const LINE_MAX: u64 = 64 << 20;

/// The lines that a program may still write, and how long it may take to end.
const LAST_LINES_MAX: usize = 16;
const LAST_WAIT: Duration = Duration::from_millis(500);
