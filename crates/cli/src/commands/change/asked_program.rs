//! A program that is started with lines on stdin and answers with lines on stdout, once.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Starts a program, writes lines to it, and returns what it answers. It has ended when this returns.
///
/// # Errors
/// The reason: it does not start, does not end in time or with success, or answers too much or no text.
pub(super) fn ask(
    command: &str,
    wait: Duration,
    lines: &str,
) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    let began = Instant::now();
    let mut words = command.split_whitespace();
    let name = words.next().ok_or("no program is named")?;
    let child = Command::new(name)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{name} does not start: {error}"))?;
    let mut child = Ended(child);
    let (Some(mut stdin), Some(stdout)) = (child.0.stdin.take(), child.0.stdout.take()) else {
        return Err("the program has no pipes".into());
    };
    // Threads write and read, so that neither side waits for the other, nor longer than it may.
    let lines = lines.to_owned();
    // A program that has enough need not read the rest.
    thread::spawn(move || drop(stdin.write_all(lines.as_bytes())));
    let (read, answer) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let outcome = stdout.take(ANSWER_LEN_MAX + 1).read_to_end(&mut bytes);
        drop(read.send(outcome.map(|_| bytes)));
    });
    let late = || format!("no answer within {} s", wait.as_secs());
    let bytes = match answer.recv_timeout(wait) {
        Ok(bytes) => bytes?,
        Err(RecvTimeoutError::Timeout) => return Err(late().into()),
        Err(RecvTimeoutError::Disconnected) => return Err("the answer cannot be read".into()),
    };
    if bytes.len() as u64 > ANSWER_LEN_MAX {
        return Err("an answer of more than 16 MiB".into());
    }
    loop {
        match child.0.try_wait()? {
            Some(status) if status.success() => break,
            Some(status) => return Err(format!("the program ended with {status}").into()),
            None if began.elapsed() >= wait => return Err(late().into()),
            None => thread::sleep(PAUSE),
        }
    }
    String::from_utf8(bytes).map_err(|_| "the answer is not UTF-8".into())
}

/// A program that is ended with its handle.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // Of one that has ended there is nothing to end.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// The longest answer, in bytes.
const ANSWER_LEN_MAX: u64 = 16 << 20;

/// Between two looks whether a program that has answered has ended.
const PAUSE: Duration = Duration::from_millis(5);
