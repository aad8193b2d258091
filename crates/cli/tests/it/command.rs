//! Runs the command in a temporary directory, and captures its output and exit code.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;

use serde_json::Value;
use tempfile::TempDir;

/// A temporary directory; its store is `memory.grains`.
pub(crate) struct Home(TempDir);

/// The output and the exit code of one run.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(binary());
        command.current_dir(self.0.path());
        for name in [
            "GRAINSTORE_STORE",
            "GRAINSTORE_EMBED",
            "GRAINSTORE_EMBED_CMD",
            "GRAINSTORE_WAIT",
            "GRAINSTORE_COLOR",
            "RUST_LOG",
        ] {
            command.env_remove(name);
        }
        command.env("XDG_CONFIG_HOME", self.0.path().join(".config"));
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.run_with(args, "")
    }

    /// Runs the command with this input on stdin.
    pub(crate) fn run_with(&self, args: &[&str], stdin: impl AsRef<[u8]>) -> Ran {
        let mut child = self
            .command()
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut pipe = child.stdin.take().unwrap();
        let input = stdin.as_ref().to_vec();
        // A command may fail before it has read all of it.
        let feeder = thread::spawn(move || drop(pipe.write_all(&input)));
        let output = child.wait_with_output().unwrap();
        feeder.join().unwrap();
        Ran::of(&output)
    }

    /// Runs a command that must succeed, and returns what it printed.
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let ran = self.run(args);
        assert_eq!(ran.code, 0, "{args:?}: {ran:?}");
        ran.stdout
    }

    /// Stores JSON grains and returns their addresses.
    pub(crate) fn put(&self, lines: &str) -> Vec<String> {
        let ran = self.run_with(&["put", "-"], lines);
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.stdout.lines().map(str::to_owned).collect()
    }

    /// Returns every address of the store.
    pub(crate) fn addresses(&self) -> Vec<String> {
        let ran = self.run(&["list"]);
        assert!(ran.code < 2, "{ran:?}");
        ran.stdout.lines().map(str::to_owned).collect()
    }
}

impl Ran {
    pub(crate) fn of(output: &Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Returns the one JSON document on stdout.
    pub(crate) fn json(&self) -> Value {
        let document = serde_json::from_str(&self.stdout);
        assert!(document.is_ok(), "{self:?}");
        document.unwrap()
    }

    /// Returns the JSON documents on stdout, one a line.
    pub(crate) fn json_lines(&self) -> Vec<Value> {
        let lines = self.stdout.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// Asserts a failure with this exit code, and an error with this code, a place and a hint.
    #[track_caller]
    pub(crate) fn fails(&self, exit: i32, code: &str, place: &str) {
        assert_eq!(self.code, exit, "{self:?}");
        let error = &self.json()["error"];
        assert_eq!(error["code"], code, "{self:?}");
        let text = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
        assert!(text("place").contains(place), "{self:?}");
        assert!(text("message").contains(place), "{self:?}");
        assert!(!text("hint").is_empty(), "{self:?}");
    }
}

pub(crate) fn binary() -> &'static str {
    env!("CARGO_BIN_EXE_grainstore")
}

/// Returns a file of the sample data.
pub(crate) fn sample(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("../../examples/data").join(name);
    path.to_str().unwrap().to_owned()
}

/// Returns the JSON line of an Event.
pub(crate) fn event(content: &str, created_at: u64) -> String {
    format!("{{\"type\":\"event\",\"content\":\"{content}\",\"created_at\":{created_at}}}\n")
}

/// Returns the JSON line of a Belief.
pub(crate) fn belief(subject: &str, relation: &str, object: &str) -> String {
    format!(
        "{{\"type\":\"belief\",\"subject\":\"{subject}\",\"relation\":\"{relation}\",\
         \"object\":\"{object}\",\"confidence\":0.9,\"created_at\":1768471200000}}\n"
    )
}
