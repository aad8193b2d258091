//! A line to the server: one thread with one connection, which sends one statement after the other.
//!
//! The thread has its own runtime, so a caller blocks on an answer wherever it runs. A connection that
//! fails is opened anew by the next statement.

use std::future::poll_fn;
use std::io;
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tokio::runtime;
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{sleep, timeout};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{AsyncMessage, Client, Config, Row};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::fault::{Fault, fault_of};
use crate::Error;

/// A value of a statement.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Bytes(Vec<u8>),
    Int(i64),
    Text(String),
}

/// The work of a line.
enum Call {
    Ask(Asked),
    /// Nothing but an answer, after what was told before.
    Settle(mpsc::Sender<()>),
}

struct Asked {
    statement: &'static str,
    values: Vec<Value>,
    /// `None` for one whose outcome is not awaited, which opens no connection.
    reply: Option<mpsc::Sender<Result<Vec<Row>, Error>>>,
    /// How long to wait for a notification before it is sent.
    patience: Duration,
}

/// A thread with a connection.
#[derive(Debug)]
pub(super) struct Line {
    calls: Option<UnboundedSender<Call>>,
    thread: Option<JoinHandle<()>>,
}

impl Line {
    /// Starts the thread. Each connection begins with the statement `begins`, which a server may not
    /// know.
    ///
    /// # Errors
    /// [`Error::Unreachable`] if the system starts no thread.
    pub(super) fn start(
        config: Config,
        tls: MakeRustlsConnect,
        begins: Option<&'static str>,
    ) -> Result<Self, Error> {
        let (calls, received) = unbounded_channel();
        let mut runtime = runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build().map_err(Error::unreachable)?;
        let served = Served {
            config,
            tls,
            begins,
            news: Arc::default(),
            client: None,
        };
        let thread = thread::Builder::new().name("grainstore-shared".to_owned());
        let thread = thread.spawn(move || runtime.block_on(served.serve(received)));
        Ok(Self {
            calls: Some(calls),
            thread: Some(thread.map_err(Error::unreachable)?),
        })
    }

    /// Sends a statement and returns the rows of the answer.
    ///
    /// # Errors
    /// [`Error::Unreachable`], after which it may have been done; [`Error::Refused`].
    pub(super) fn ask(
        &self,
        statement: &'static str,
        values: Vec<Value>,
    ) -> Result<Vec<Row>, Error> {
        self.ask_after(Duration::ZERO, statement, values)
    }

    /// Does as [`Line::ask`], once there is a notification or `patience` is over.
    ///
    /// # Errors
    /// As [`Line::ask`].
    pub(super) fn ask_after(
        &self,
        patience: Duration,
        statement: &'static str,
        values: Vec<Value>,
    ) -> Result<Vec<Row>, Error> {
        let (reply, answer) = mpsc::channel();
        self.send(Call::Ask(Asked {
            statement,
            values,
            reply: Some(reply),
            patience,
        }));
        let ended = || Error::unreachable(io::Error::other("the thread of the connection ended"));
        answer.recv().map_err(|_| ended())?
    }

    /// Sends a statement whose outcome matters to none, if there is a connection.
    pub(super) fn tell(&self, statement: &'static str, values: Vec<Value>) {
        self.send(Call::Ask(Asked {
            statement,
            values,
            reply: None,
            patience: Duration::ZERO,
        }));
    }

    /// Waits until all that was told is done.
    pub(super) fn settle(&self) {
        let (done, is_done) = mpsc::channel();
        self.send(Call::Settle(done));
        // A thread that ended has nothing left to do.
        is_done.recv().ok();
    }

    fn send(&self, call: Call) {
        // A thread that ended answers by the channel of the reply, which it drops.
        drop(self.calls.as_ref().map(|calls| calls.send(call)));
    }
}

impl Drop for Line {
    /// Waits for what was told: a turn that a command gives back is given back when it ends.
    fn drop(&mut self) {
        self.calls = None;
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// The side of the thread.
struct Served {
    config: Config,
    tls: MakeRustlsConnect,
    begins: Option<&'static str>,
    news: Arc<Notify>,
    client: Option<Client>,
}

impl Served {
    async fn serve(mut self, mut calls: UnboundedReceiver<Call>) {
        while let Some(call) = calls.recv().await {
            let call = match call {
                Call::Ask(asked) => asked,
                Call::Settle(done) => {
                    done.send(()).ok();
                    continue;
                }
            };
            if !call.patience.is_zero() && self.client.is_some() {
                drop(timeout(call.patience, self.news.notified()).await);
            }
            match call.reply {
                Some(ref reply) => drop(reply.send(self.answer(&call).await)),
                None if self.client.is_some() => drop(self.answer(&call).await),
                None => {}
            }
        }
    }

    /// Sends a statement; again where the server says that it did nothing and may do it next time.
    async fn answer(&mut self, call: &Asked) -> Result<Vec<Row>, Error> {
        let mut pause = FIRST_PAUSE;
        let end = Instant::now() + ANSWER;
        loop {
            match self.attempt(call).await {
                Ok(rows) => return Ok(rows),
                Err(Fault::Again(_)) if Instant::now() < end => {
                    sleep(pause).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
                Err(fault) => {
                    if fault.loses_connection() {
                        self.client = None;
                    }
                    return Err(fault.into());
                }
            }
        }
    }

    async fn attempt(&mut self, call: &Asked) -> Result<Vec<Row>, Fault> {
        let client = self.connected().await?;
        let values = call.values.iter().map(Value::typed);
        let values: Vec<(&(dyn ToSql + Sync), Type)> = values.collect();
        // The types are given, so that a statement is one round trip, and no pooler has to keep it.
        let asked = client.query_typed(call.statement, &values);
        match timeout(ANSWER, asked).await {
            Ok(answer) => answer.map_err(fault_of),
            Err(_) => Err(Fault::silent()),
        }
    }

    async fn connected(&mut self) -> Result<&Client, Fault> {
        if self.client.as_ref().is_some_and(Client::is_closed) {
            self.client = None;
        }
        if self.client.is_none() {
            let connecting = self.config.connect(self.tls.clone());
            let connected = timeout(ANSWER, connecting).await;
            let (client, mut connection) =
                connected.map_err(|_| Fault::silent())?.map_err(fault_of)?;
            let news = Arc::clone(&self.news);
            drop(tokio::spawn(async move {
                while let Some(Ok(message)) = poll_fn(|cx| connection.poll_message(cx)).await {
                    if let AsyncMessage::Notification(_) = message {
                        news.notify_one();
                    }
                }
                // The next question finds it closed.
                news.notify_one();
            }));
            if let Some(statement) = self.begins
                && let Err(error) = client.batch_execute(statement).await
            {
                tracing::debug!(%error, statement, "the server does not know it");
            }
            self.client = Some(client);
        }
        self.client.as_ref().ok_or_else(Fault::silent)
    }
}

impl Value {
    fn typed(&self) -> (&(dyn ToSql + Sync), Type) {
        match self {
            Self::Bytes(bytes) => (bytes, Type::BYTEA),
            Self::Int(int) => (int, Type::INT8),
            Self::Text(text) => (text, Type::TEXT),
        }
    }
}

/// After this long a server that says nothing is unreachable.
const ANSWER: Duration = Duration::from_secs(10);
const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);
