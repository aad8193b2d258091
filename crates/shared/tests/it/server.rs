//! A PostgreSQL server of a test: in a temporary directory, on a free port of the loopback address, as
//! a user of its own, and stopped by its process id.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use std::{fs, thread};

use tempfile::TempDir;

/// A server that runs until it is dropped.
pub(crate) struct Server {
    folder: TempDir,
    bin: PathBuf,
    pub(crate) port: u16,
}

impl Server {
    /// Starts one; says so and returns `None` where PostgreSQL is not installed.
    pub(crate) fn start() -> Option<Self> {
        let Some(bin) = installed() else {
            println!("SKIPPED: PostgreSQL is not installed, so nothing was tested here");
            return None;
        };
        let server = Self::prepared(bin);
        server.run(
            "initdb",
            &["-U", "gs", "--auth=trust", "--locale=C", "-E", "UTF8", "-N"],
        );
        server.up();
        Some(server)
    }

    fn prepared(bin: PathBuf) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let server = Self { folder, bin, port };
        let data = server.data();
        fs::create_dir(&data).unwrap();
        fs::set_permissions(&data, fs::Permissions::from_mode(0o700)).unwrap();
        for path in [server.folder.path(), &data].iter().filter(|_| is_root()) {
            let owned = Command::new("chown").arg("postgres").arg(path).status();
            assert!(owned.unwrap().success(), "chown {}", path.display());
        }
        server
    }

    /// Starts a standby of this server, which follows it through a port. If it is synchronous, nothing is
    /// acknowledged from then on that it has not.
    pub(crate) fn standby(&self, port: u16, is_synchronous: bool) -> Self {
        let standby = Self::prepared(self.bin.clone());
        let port = port.to_string();
        let from = ["-h", "127.0.0.1", "-p", &port, "-U", "gs"];
        let how = ["-R", "-X", "stream", "-c", "fast"];
        standby.run("pg_basebackup", &[&from[..], &how[..]].concat());
        standby.up();
        let names = "ALTER SYSTEM SET synchronous_standby_names = '*'";
        self.sql("postgres", names);
        if !is_synchronous {
            let waits = "ALTER SYSTEM SET synchronous_commit = 'local'";
            self.sql("postgres", waits);
        }
        self.sql("postgres", "SELECT pg_reload_conf()");
        standby
    }

    /// Makes a standby the primary.
    pub(crate) fn promote(&self) {
        self.run("pg_ctl", &["-w", "promote"]);
    }

    /// Kills it as a machine dies: the first process at once, the others when they see that.
    pub(crate) fn kill(&self) {
        let pid = self.pid().unwrap();
        let killed = Command::new("kill").args(["-KILL", &pid]).status();
        assert!(killed.unwrap().success());
        // So that no later end is sent to another process of the number.
        fs::remove_file(self.data().join("postmaster.pid")).unwrap();
    }

    fn pid(&self) -> Option<String> {
        let text = fs::read_to_string(self.data().join("postmaster.pid")).ok()?;
        Some(text.lines().next()?.to_owned())
    }

    /// Starts it on its directory, and waits until it answers.
    pub(crate) fn up(&self) {
        let settings = format!(
            "-p {} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=on \
             -c max_connections=200",
            self.port
        );
        let log = self.folder.path().join("data/log.txt");
        let log = log.to_str().unwrap().to_owned();
        self.run(
            "pg_ctl",
            &["-w", "-t", "60", "-l", &log, "-o", &settings, "start"],
        );
    }

    /// Kills it, all processes at once, as a crash does.
    pub(crate) fn crash(&self) {
        self.run("pg_ctl", &["-m", "immediate", "-w", "stop"]);
    }

    /// Ends every connection to a database.
    pub(crate) fn end_connections(&self, database: &str) {
        let ends = format!(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
             WHERE datname = '{database}' AND pid <> pg_backend_pid()"
        );
        self.sql(database, &ends);
    }

    /// Creates a database and returns its address.
    pub(crate) fn create(&self, database: &str) -> String {
        self.sql("postgres", &format!("CREATE DATABASE {database}"));
        self.url(database)
    }

    pub(crate) fn url(&self, database: &str) -> String {
        format!("postgres://gs@127.0.0.1:{}/{database}", self.port)
    }

    /// Runs statements, and returns what they print.
    pub(crate) fn sql(&self, database: &str, sql: &str) -> String {
        let port = self.port.to_string();
        let output = Command::new(self.bin.join("psql"))
            .args(["-h", "127.0.0.1", "-p", &port, "-U", "gs", "-d", database])
            .args(["-v", "ON_ERROR_STOP=1", "-qAt", "-c", sql])
            .output()
            .unwrap();
        succeeded("psql", &output);
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn run(&self, program: &str, args: &[&str]) {
        let output = self.command(program, args).output().unwrap();
        succeeded(program, &output);
    }

    /// The programs of a server refuse to run as root.
    fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(if is_root() { "setpriv" } else { "env" });
        if is_root() {
            command.args([
                "--reuid=postgres",
                "--regid=postgres",
                "--clear-groups",
                "--",
            ]);
        }
        command
            .arg(self.bin.join(program))
            .arg("-D")
            .arg(self.data());
        command.args(args).current_dir("/");
        command.stdin(std::process::Stdio::null());
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let Some(pid) = self.pid() else {
            return;
        };
        drop(Command::new("kill").args(["-QUIT", &pid]).status());
        let end = Instant::now() + Duration::from_secs(20);
        while self.data().join("postmaster.pid").exists() && Instant::now() < end {
            thread::sleep(Duration::from_millis(20));
        }
    }
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output().unwrap();
    output.stdout == b"0\n"
}

/// Returns the folder of the programs of a server.
fn installed() -> Option<PathBuf> {
    let versions = Path::new("/usr/lib/postgresql").read_dir().ok()?;
    let mut found: Vec<PathBuf> = versions
        .filter_map(|version| Some(version.ok()?.path().join("bin")))
        .filter(|bin| bin.join("initdb").exists())
        .collect();
    found.sort();
    found.pop()
}

fn succeeded(program: &str, output: &Output) {
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {told}");
}

/// A line to a server that a test cuts.
pub(crate) struct Proxy {
    port: u16,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    /// The port of the server.
    server: AtomicU16,
    is_cut: AtomicBool,
    /// The text of a statement whose answer is lost, once.
    loses: Mutex<Option<&'static str>>,
}

impl Proxy {
    pub(crate) fn start(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State::default());
        state.server.store(server, Ordering::SeqCst);
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if shared.is_cut.load(Ordering::SeqCst) {
                    continue;
                }
                let server = shared.server.load(Ordering::SeqCst);
                let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else {
                    continue;
                };
                relay(&client, &server, &shared);
            }
        });
        Self { port, state }
    }

    /// Returns an address of the server by this line.
    pub(crate) fn through(&self, url: &str) -> String {
        let (before, after) = url.rsplit_once(':').unwrap();
        let (_, database) = after.split_once('/').unwrap();
        format!("{before}:{}/{database}", self.port)
    }

    /// Leads new connections to another server.
    pub(crate) fn lead_to(&self, server: u16) {
        self.state.server.store(server, Ordering::SeqCst);
    }

    /// Passes the next statement with this text on, and cuts its line before the answer comes.
    pub(crate) fn lose_answers_of(&self, text: &'static str) {
        *self.state.loses.lock().unwrap() = Some(text);
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn waits_for_loss(&self) -> bool {
        self.state.loses.lock().unwrap().is_some()
    }

    /// Cuts every line and lets none begin, until it is mended.
    pub(crate) fn cut(&self, is_cut: bool) {
        self.state.is_cut.store(is_cut, Ordering::SeqCst);
    }
}

fn relay(client: &TcpStream, server: &TcpStream, state: &Arc<State>) {
    let is_lost = Arc::new(AtomicBool::new(false));
    for is_request in [true, false] {
        let (client, server) = (client.try_clone().unwrap(), server.try_clone().unwrap());
        let (from, to) = if is_request {
            (client, server)
        } else {
            (server, client)
        };
        let (state, is_lost) = (Arc::clone(state), Arc::clone(&is_lost));
        thread::spawn(move || {
            pass(&from, &to, is_request, &state, &is_lost);
            drop(from.shutdown(Shutdown::Both));
            drop(to.shutdown(Shutdown::Both));
        });
    }
}

fn pass(
    mut from: &TcpStream,
    mut to: &TcpStream,
    is_request: bool,
    state: &State,
    is_lost: &AtomicBool,
) {
    from.set_read_timeout(Some(Duration::from_millis(20)))
        .unwrap();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = from.read(&mut buffer);
        if state.is_cut.load(Ordering::SeqCst) {
            return;
        }
        let read = match read {
            Ok(0) => return,
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => continue,
            Err(_) => return,
        };
        let bytes = &buffer[..read];
        if is_request {
            let mut loses = state.loses.lock().unwrap();
            let is_it = |text: &str| bytes.windows(text.len()).any(|at| at == text.as_bytes());
            if loses.is_some_and(is_it) {
                *loses = None;
                is_lost.store(true, Ordering::SeqCst);
            }
        } else if is_lost.load(Ordering::SeqCst) {
            // The server has answered, so it has done it.
            return;
        }
        if to.write_all(bytes).is_err() {
            return;
        }
    }
}
