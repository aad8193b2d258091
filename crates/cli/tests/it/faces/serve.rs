//! `grainstore serve` as a process: connections that are slow, an end in the middle of requests, and
//! a kill.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread;

use serde_json::Value;

use crate::command::Home;

/// A server on a free port of this machine, ended with the test.
pub(crate) struct Served {
    child: Child,
    pub(crate) at: String,
    pub(crate) token: String,
}

impl Served {
    fn new(home: &Home) -> Self {
        Self::with(home, "read,write,admin", &[])
    }

    /// Starts a server with more options, and makes a token of some operations.
    pub(crate) fn with(home: &Home, allow: &str, options: &[&str]) -> Self {
        Self::by(home, home.command(), allow, options)
    }

    /// Starts a server that may have so many descriptors.
    pub(crate) fn within(home: &Home, descriptors: usize) -> Self {
        let run = home.command();
        let mut shell = Command::new("sh");
        let line = format!("ulimit -n {descriptors} && exec \"$0\" \"$@\"");
        shell.arg("-c").arg(line).arg(run.get_program());
        shell.current_dir(run.get_current_dir().unwrap());
        for (name, value) in run.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        Self::by(home, shell, "read", &[])
    }

    /// Starts a server of the store that these options name.
    pub(crate) fn of_store(home: &Home, store: &[&str]) -> Self {
        Self::of(home, home.command(), "read,write", store, &[])
    }

    fn by(home: &Home, command: Command, allow: &str, options: &[&str]) -> Self {
        Self::of(home, command, allow, &[], options)
    }

    fn of(
        home: &Home,
        mut command: Command,
        allow: &str,
        store: &[&str],
        options: &[&str],
    ) -> Self {
        let actor = ["--as", "did:web:bot.acme.example", "--allow", allow];
        let token = home.ok(&[store, &["token", "add"], &actor].concat());
        let mut child = command
            .args(store)
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(options)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        Self {
            child,
            at: line.trim_end().strip_prefix("http://").unwrap().to_owned(),
            token: token.trim_end().to_owned(),
        }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        TcpStream::connect(&self.at).unwrap()
    }

    /// Sends one request on a connection of its own; `None` where no whole answer comes.
    pub(crate) fn ask(&self, method: &str, path: &str, body: &Value) -> Option<(u16, String)> {
        let body = match body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.token,
            body.len()
        );
        let mut stream = TcpStream::connect(&self.at).ok()?;
        stream.write_all(request.as_bytes()).ok()?;
        answer(&mut stream)
    }

    pub(crate) fn put(&self, stream: &mut TcpStream, content: &str) -> Option<String> {
        let body = format!("{{\"type\":\"event\",\"content\":\"{content}\"}}");
        let request = format!(
            "POST /v1/grains HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\n\
             content-length: {}\r\n\r\n{body}",
            self.token,
            body.len()
        );
        stream.write_all(request.as_bytes()).ok()?;
        let (status, body) = answer(stream)?;
        assert_eq!(status, 200, "{body}");
        let body: Value = serde_json::from_str(&body).unwrap();
        Some(body["address"].as_str().unwrap().to_owned())
    }

    /// Returns the id of the process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill")
            .args([&format!("-{name}"), &id])
            .status();
        assert!(sent.unwrap().success());
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Reads one answer; `None` where the connection ends before it is whole.
pub(crate) fn answer(stream: &mut TcpStream) -> Option<(u16, String)> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap().to_lowercase();
    let mut lines = head.lines();
    let status = lines.next()?.split(' ').nth(1)?.parse().unwrap();
    let length = lines.find_map(|line| line.strip_prefix("content-length: "))?;
    let mut body = vec![0; length.parse().unwrap()];
    stream.read_exact(&mut body).ok()?;
    Some((status, String::from_utf8(body).unwrap()))
}

#[test]
fn what_was_acknowledged_over_http_survives_a_kill() {
    let home = Home::new();
    let mut acknowledged = BTreeSet::new();
    for run in 0..3 {
        let served = Served::new(&home);
        let told: Vec<String> = thread::scope(|scope| {
            let writers = (0..3).map(|writer| {
                let served = &served;
                scope.spawn(move || {
                    let mut stream = served.connect();
                    let puts = (0..)
                        .map_while(|n| served.put(&mut stream, &format!("{run} {writer} {n}")));
                    puts.collect::<Vec<_>>()
                })
            });
            let writers: Vec<_> = writers.collect();
            // As many as one connection gets in meanwhile.
            let mut stream = served.connect();
            for n in 0..20 {
                served
                    .put(&mut stream, &format!("{run} first {n}"))
                    .unwrap();
            }
            served.signal("KILL");
            let each = writers.into_iter().map(|writer| writer.join().unwrap());
            each.flatten().collect()
        });
        assert!(!told.is_empty(), "no writer was answered before the kill");
        acknowledged.extend(told);
    }
    let here: BTreeSet<_> = home.addresses().into_iter().collect();
    assert_eq!(acknowledged.difference(&here).next(), None, "none is lost");
    home.ok(&["check", "--deep"]);
}

#[test]
fn asked_to_end_it_answers_what_is_under_way_and_loses_nothing() {
    let home = Home::new();
    let mut served = Served::new(&home);
    // Half of a request: the server waits for the rest of the body.
    let body = r#"{"type":"event","content":"under way"}"#;
    let mut open = served.connect();
    let head = format!(
        "POST /v1/grains HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\n\
         expect: 100-continue\r\ncontent-length: {}\r\n\r\n",
        served.token,
        body.len()
    );
    open.write_all(head.as_bytes()).unwrap();
    // The server asks for the body once it reads the request, which is under way then.
    let mut go_on = [0; 25];
    open.read_exact(&mut go_on).unwrap();
    assert!(go_on.starts_with(b"HTTP/1.1 100"), "{go_on:?}");
    let mut idle = served.connect();
    served.put(&mut idle, "before").unwrap();
    served.signal("TERM");
    // An idle connection is closed at once.
    assert_eq!(idle.read(&mut [0]).unwrap(), 0);
    open.write_all(body.as_bytes()).unwrap();
    let (status, _) = answer(&mut open).unwrap();
    assert_eq!(status, 200);
    assert!(served.child.wait().unwrap().success());
    assert_eq!(home.addresses().len(), 2);
}

#[test]
fn clients_that_say_nothing_hold_no_other_up() {
    let home = Home::new();
    let served = Served::new(&home);
    let idle: Vec<_> = (0..200).map(|_| served.connect()).collect();
    let mut halves: Vec<_> = (0..100).map(|_| served.connect()).collect();
    for half in &mut halves {
        half.write_all(b"POST /v1/grains HTTP/1.1\r\nhost: x\r\nauth")
            .unwrap();
    }
    let mut stream = served.connect();
    for n in 0..10 {
        assert!(served.put(&mut stream, &n.to_string()).is_some());
    }
    drop((idle, halves));
}

#[test]
fn a_token_is_shown_once_listed_without_its_secret_and_refused_when_it_is_revoked() {
    let home = Home::new();
    let served = Served::new(&home);
    let listed = home.ok(&["--json", "token", "list"]);
    let secret = served.token.splitn(3, '_').nth(2).unwrap();
    assert!(!listed.contains(secret), "{listed}");
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(
        listed["operations"],
        serde_json::json!(["read", "write", "admin"])
    );
    let status = || {
        let mut stream = served.connect();
        let head = format!(
            "GET /metrics HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\n\r\n",
            served.token
        );
        stream.write_all(head.as_bytes()).unwrap();
        answer(&mut stream).unwrap().0
    };
    assert_eq!(status(), 200);
    home.ok(&["token", "revoke", listed["id"].as_str().unwrap()]);
    assert_eq!(status(), 401);
    let refused = |args: &[&str], code: &str| {
        let ran = home.run(args);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.stderr.contains(code), "{ran:?}");
    };
    refused(
        &["token", "revoke", "000000000000"],
        "no token has the name",
    );
    refused(&["serve", "--listen", "0.0.0.0:0"], "--behind-proxy");
    refused(
        &["token", "add", "--as", "mira", "--allow", "read"],
        "ERR_USAGE",
    );
}

/// The words of a line for a shell, without their quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            (None, ' ') => words.push(String::new()),
            (_, c) => words.last_mut().unwrap().push(c),
        }
    }
    words
}

#[test]
fn the_requests_that_the_documents_show_are_answered() {
    let home = Home::new();
    let server = Served::new(&home);
    let pages = [
        include_str!("../../../../../README.md"),
        include_str!("../../../../../docs/http.md"),
    ];
    let lines = pages.iter().flat_map(|page| page.lines());
    let requests: Vec<_> = lines.filter(|line| line.starts_with("curl ")).collect();
    assert_eq!(requests.len(), 2);
    for line in requests {
        let words = words(line);
        let [_, header, bearer, flag, body, url] = &words[..] else {
            panic!("{line}");
        };
        assert_eq!((&**header, &**flag), ("-H", "--json"), "{line}");
        assert_eq!(bearer, "Authorization: Bearer gst_…");
        let path = url.strip_prefix("http://127.0.0.1:7471").unwrap();
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            server.token,
            body.len()
        );
        let mut stream = server.connect();
        stream.write_all(request.as_bytes()).unwrap();
        let (status, body) = answer(&mut stream).unwrap();
        assert_eq!(status, 200, "{line}: {body}");
    }
}

#[test]
fn a_unit_of_systemd_serves_with_the_options_given_and_is_not_replaced_by_another() {
    let home = Home::new();
    let install = |options: &[&str]| home.run(&[&["serve", "--install"][..], options].concat());
    let ran = install(&["--listen", "127.0.0.1:7000", "--ui"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let path = home.path(".config/systemd/user/grainstore.service");
    let unit = std::fs::read_to_string(&path).unwrap();
    let store = home.path("memory.grains");
    for line in [
        format!("ReadWritePaths=\"{}\"", store.display()),
        "NoNewPrivileges=yes".to_owned(),
        "ProtectSystem=strict".to_owned(),
    ] {
        assert!(unit.lines().any(|it| it == line), "{line}: {unit}");
    }
    let start = unit
        .lines()
        .find(|line| line.starts_with("ExecStart="))
        .unwrap();
    for word in ["\"serve\"", "\"--listen=127.0.0.1:7000\"", "\"--ui\""] {
        assert!(start.contains(word), "{start}");
    }
    // The same again changes nothing, other options are refused.
    assert_eq!(install(&["--listen", "127.0.0.1:7000", "--ui"]).code, 0);
    assert_eq!(install(&["--listen", "127.0.0.1:7001"]).code, 2);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), unit);
}
