//! Load on `grainstore serve` over loopback: 64 connections of mixed requests, a kill in their
//! middle, readers that do not read, and idle connections.
//!
//! The tests send a bounded number of requests and measure nothing; `just load SECONDS RATE` sends for a
//! time and prints rates and percentiles: at a rate that the server can follow, then as fast as the
//! connections can.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::command::Home;
use crate::faces::serve::{Served, answer};

const CONNECTIONS: usize = 64;

/// Requests of each connection where no time is given.
const REQUESTS: usize = 12;

/// The words that grains and questions are made of.
const WORDS: [&str; 16] = [
    "umbrella", "kitchen", "porto", "bicycle", "peanut", "library", "monday", "violin", "harbour",
    "blanket", "compass", "garden", "lantern", "saddle", "thunder", "walnut",
];

/// How long the clients send.
#[derive(Clone, Copy)]
enum Until {
    Requests(usize),
    Time(Duration),
    /// For a time, each connection a request every so often.
    Paced(Duration, Duration),
}

/// One connection, and what it has seen.
struct Connection<'a> {
    token: &'a str,
    stream: TcpStream,
    /// When the next request is due: one that waits for an earlier one counts its wait.
    due: Option<Instant>,
    acknowledged: Vec<String>,
    reads: Vec<Duration>,
    writes: Vec<Duration>,
}

pub(crate) fn seconds() -> Option<Duration> {
    let seconds = option_env!("GRAINSTORE_SECONDS")?.parse().unwrap();
    Some(Duration::from_secs(seconds))
}

/// How many requests a second all connections together send, where they are paced.
fn rate() -> u32 {
    option_env!("GRAINSTORE_RATE").map_or(1_000, |rate| rate.parse().unwrap())
}

fn until() -> Until {
    seconds().map_or(Until::Requests(REQUESTS), Until::Time)
}

impl<'a> Connection<'a> {
    fn new(served: &'a Served) -> Self {
        Self::with(served, &served.token)
    }

    fn with(served: &Served, token: &'a str) -> Self {
        let stream = TcpStream::connect(&served.at).unwrap();
        stream.set_nodelay(true).unwrap();
        Self {
            token,
            stream,
            due: None,
            acknowledged: Vec::new(),
            reads: Vec::new(),
            writes: Vec::new(),
        }
    }

    fn send(&mut self, method: &str, path: &str, body: &str) -> bool {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\n\
             content-length: {}\r\n\r\n{body}",
            self.token,
            body.len()
        );
        self.stream.write_all(request.as_bytes()).is_ok()
    }

    /// Sends a request and returns its answer; `None` once the server is gone. Any other answer than
    /// 200 is a failure.
    fn ask(&mut self, method: &str, path: &str, body: &str) -> Option<Value> {
        if !self.send(method, path, body) {
            return None;
        }
        let (status, text) = answer(&mut self.stream)?;
        assert_eq!(status, 200, "{path}: {text}");
        Some(serde_json::from_str(&text).unwrap())
    }

    fn put(&mut self, client: usize, n: usize) -> Option<()> {
        let began = self.begin();
        let body = json!({
            "type": "event", "session_id": format!("s{client}"),
            "content": format!("{} and {} of {client} at {n}", word(n), word(n / 7 + client)),
        });
        let told = self.ask("POST", "/v1/grains", &body.to_string())?;
        self.acknowledged
            .push(told["address"].as_str().unwrap().to_owned());
        self.writes.push(began.elapsed());
        Some(())
    }

    fn read(&mut self, client: usize, n: usize) -> Option<()> {
        let began = self.begin();
        match (n % 3, self.acknowledged.last().cloned()) {
            (0, Some(address)) => {
                self.ask("GET", &format!("/v1/grains/{address}"), "")?;
            }
            (1, _) => {
                let body = json!({ "question": word(n + client), "limit": 10 });
                self.ask("POST", "/v1/search", &body.to_string())?;
            }
            _ => {
                let filter = json!({ "session": format!("s{client}") });
                let body = json!({ "filter": filter, "limit": 10 });
                self.ask("POST", "/v1/query", &body.to_string())?;
            }
        }
        self.reads.push(began.elapsed());
        Some(())
    }

    /// Asks what needs no grain: the cost of HTTP, of the token and of JSON alone.
    fn bare(&mut self) -> Option<()> {
        let began = self.begin();
        self.ask("GET", "/v1/token", "")?;
        self.reads.push(began.elapsed());
        Some(())
    }

    fn begin(&mut self) -> Instant {
        self.due.take().unwrap_or_else(Instant::now)
    }

    fn recall(&mut self, client: usize, n: usize) -> Option<()> {
        let began = self.begin();
        let body =
            json!({ "question": format!("where is the {}?", word(n + client)), "budget": 500 });
        self.ask("POST", "/v1/recall", &body.to_string())?;
        self.reads.push(began.elapsed());
        Some(())
    }
}

fn word(n: usize) -> &'static str {
    WORDS[n % WORDS.len()]
}

/// Runs a step on every connection, over and over, until the end or until the server is gone.
fn run(
    served: &Served,
    until: Until,
    step: impl Fn(&mut Connection<'_>, usize, usize) -> Option<()> + Sync,
) -> Vec<(Vec<String>, Vec<Duration>, Vec<Duration>)> {
    let began = Instant::now();
    let is_over = |n: usize| match until {
        Until::Requests(count) => n >= count,
        Until::Time(time) | Until::Paced(time, _) => began.elapsed() >= time,
    };
    thread::scope(|scope| {
        let clients = (0..CONNECTIONS).map(|client| {
            let (step, is_over) = (&step, &is_over);
            scope.spawn(move || {
                let mut connection = Connection::new(served);
                let mut n = 0;
                while !is_over(n) {
                    if let Until::Paced(_, every) = until {
                        // The connections take turns.
                        let first = every * u32::try_from(client).unwrap() / 64;
                        let due = began + first + every * u32::try_from(n).unwrap();
                        thread::sleep(due.saturating_duration_since(Instant::now()));
                        connection.due = Some(due);
                    }
                    if step(&mut connection, client, n).is_none() {
                        break;
                    }
                    n += 1;
                }
                (connection.acknowledged, connection.reads, connection.writes)
            })
        });
        let clients: Vec<_> = clients.collect();
        clients.into_iter().map(|it| it.join().unwrap()).collect()
    })
}

/// One write to three reads.
fn mixed(connection: &mut Connection<'_>, client: usize, n: usize) -> Option<()> {
    match n % 4 {
        0 => connection.put(client, n),
        _ => connection.read(client, n),
    }
}

pub(crate) fn report(name: &str, took: Duration, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |part: usize| times[(times.len() * part / 100).min(times.len() - 1)];
    let rate = times.len() as f64 / took.as_secs_f64();
    println!(
        "{name}: {} in {took:.1?}, {rate:.0}/s, p50 {:.1?}, p99 {:.1?}, most {:.1?}",
        times.len(),
        at(50),
        at(99),
        at(100)
    );
}

/// Returns which of the addresses a server has not.
fn lost(served: &Served, addresses: &BTreeSet<String>) -> Vec<String> {
    let mut connection = Connection::new(served);
    let all: Vec<_> = addresses.iter().collect();
    let mut lost = Vec::new();
    for some in all.chunks(500) {
        let body = json!({ "addresses": some }).to_string();
        let told = connection.ask("POST", "/v1/grains/get", &body).unwrap();
        let found = told["grains"].as_array().unwrap().iter();
        let missing = found.zip(some).filter(|(grain, _)| grain.is_null());
        lost.extend(missing.map(|(_, address)| (*address).clone()));
    }
    lost
}

#[test]
fn many_connections_read_and_write_without_an_error_beside_readers_that_do_not_read() {
    let home = Home::new();
    let served = Served::with(&home, "read,write", &["--quiet"]);
    // Requests under way are bounded for each token: these have one of their own.
    let other = home.ok(&[
        "token",
        "add",
        "--as",
        "did:web:slow.example",
        "--allow",
        "read,write",
    ]);
    // Answers that are larger than what the sockets hold, and that are never taken.
    let slow: Vec<_> = (0..16)
        .map(|client| {
            let mut connection = Connection::with(&served, other.trim_end());
            connection.put(1_000 + client, 0).unwrap();
            for _ in 0..20 {
                connection.send("POST", "/v1/query", r#"{"limit":1000}"#);
            }
            connection
        })
        .collect();
    if let Some(time) = seconds() {
        let every = Duration::from_secs(64) / rate();
        let name = format!("mixed at {}/s", rate());
        run_mixed(&served, &name, Until::Paced(time, every));
    }
    run_mixed(&served, "mixed as fast as they can", until());
    drop(slow);
    if seconds().is_some() {
        type Step = fn(&mut Connection<'_>, usize, usize) -> Option<()>;
        let steps: [(&str, Step); 3] = [
            ("answers without the store", |connection, _, _| {
                connection.bare()
            }),
            ("reads", |connection, client, n| connection.read(client, n)),
            ("recalls", |connection, client, n| {
                connection.recall(client, n)
            }),
        ];
        for (name, step) in steps {
            let began = Instant::now();
            let told = run(&served, until(), step);
            let times = told.into_iter().flat_map(|it| it.1).collect();
            report(name, began.elapsed(), times);
        }
    }
}

/// Sends reads and writes, reports them, and looks whether all that was acknowledged is there.
fn run_mixed(served: &Served, name: &str, until: Until) {
    let began = Instant::now();
    let told = run(served, until, mixed);
    let took = began.elapsed();
    let acknowledged: BTreeSet<_> = told.iter().flat_map(|it| it.0.iter().cloned()).collect();
    assert!(lost(served, &acknowledged).is_empty());
    if seconds().is_some() {
        let reads: Vec<_> = told.iter().flat_map(|it| it.1.clone()).collect();
        let writes: Vec<_> = told.iter().flat_map(|it| it.2.clone()).collect();
        report(&format!("{name}, reads"), took, reads);
        report(&format!("{name}, writes"), took, writes);
    }
}

#[test]
fn a_kill_under_load_loses_no_acknowledged_write() {
    let home = Home::new();
    let served = Served::with(&home, "read,write", &["--quiet"]);
    let count = AtomicUsize::new(0);
    let is_first = AtomicBool::new(true);
    let (enough, killed) = mpsc::channel();
    let told = thread::scope(|scope| {
        let server = &served;
        scope.spawn(move || {
            // As many as were asked for, or the clients have ended.
            let _ = killed.recv();
            server.signal("KILL");
        });
        let step = |connection: &mut Connection<'_>, client, n| {
            connection.put(client, n)?;
            let count = count.fetch_add(1, Ordering::Relaxed);
            if count >= CONNECTIONS * 4 && is_first.swap(false, Ordering::Relaxed) {
                enough.send(()).unwrap();
            }
            Some(())
        };
        run(&served, Until::Requests(usize::MAX), step)
    });
    let acknowledged: BTreeSet<_> = told.into_iter().flat_map(|it| it.0).collect();
    assert!(acknowledged.len() >= CONNECTIONS * 4);
    drop(served);
    let served = Served::with(&home, "read,write", &["--quiet"]);
    assert_eq!(lost(&served, &acknowledged), [""; 0]);
    println!(
        "{} writes were acknowledged before the kill",
        acknowledged.len()
    );
}

/// `just load` allows the processes as many files.
#[test]
#[cfg(target_os = "linux")]
fn idle_connections_cost_little_and_hold_no_other_up() {
    let connections = if seconds().is_some() { 10_000 } else { 300 };
    let home = Home::new();
    let served = Served::with(&home, "read,write", &["--quiet"]);
    let resident = || {
        let status = fs::read_to_string(format!("/proc/{}/status", served.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:"));
        let number = line.unwrap().split_whitespace().nth(1).unwrap();
        number.parse::<u64>().unwrap()
    };
    let mut busy = Connection::new(&served);
    busy.put(0, 0).unwrap();
    let before = resident();
    let mut idle = Vec::new();
    for n in 0..connections {
        // A connection that asks nothing for ten seconds is closed, however long connecting takes.
        if n % 100 == 0 {
            busy.read(0, n).unwrap();
        }
        idle.push(TcpStream::connect(&served.at).unwrap());
    }
    // The server takes connections in their order: the last is answered after all were taken.
    let mut last = Connection::new(&served);
    last.put(1, 1).unwrap();
    let with = resident();
    busy.read(0, 0).unwrap();
    let more = with.saturating_sub(before);
    println!("{connections} idle connections: {with} KiB resident, {more} KiB more than before");
    assert!(more < 200 << 10, "{more} KiB for {connections} connections");
    drop(idle);
}

/// A client that takes an answer byte by byte gets all of it.
#[test]
fn an_answer_is_whole_for_a_reader_that_takes_its_time() {
    let home = Home::new();
    let served = Served::with(&home, "read,write", &["--quiet"]);
    let mut connection = Connection::new(&served);
    for n in 0..20 {
        connection.put(0, n).unwrap();
    }
    connection.send("POST", "/v1/query", r#"{"limit":1000}"#);
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        connection.stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap().to_lowercase();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.unwrap().parse().unwrap()];
    for byte in &mut body {
        connection
            .stream
            .read_exact(std::slice::from_mut(byte))
            .unwrap();
    }
    let told: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(told["total"], 20);
}
