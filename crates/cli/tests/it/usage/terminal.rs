//! The command on a terminal: `script` gives it one of 24 lines and 80 columns.
//!
//! Each test waits for what the screen shows, and for nothing else.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use crate::command::{Home, belief, binary, event};

const LINES: usize = 24;
const COLUMNS: usize = 80;
/// After so long without a byte a test fails: a phrase that never comes must not hold the run.
const PATIENCE: Duration = Duration::from_secs(120);
/// An editor asks for marked pastes as soon as it has each key. Before, Ctrl-D is the terminal's.
const EDITED: &str = "\u{1b}[?2004h";

/// A command that has a terminal, and what the terminal has shown so far.
struct Terminal {
    child: Child,
    keys: ChildStdin,
    shown: Receiver<Vec<u8>>,
    /// All that was waited for, and after it what came and was not.
    screen: String,
    bytes: Vec<u8>,
}

impl Terminal {
    fn run(home: &Home, arguments: &str, environment: &[(&str, &str)]) -> Self {
        let line = format!(
            "stty rows {LINES} cols {COLUMNS} -echo; exec {} {arguments}",
            binary()
        );
        let mut command = Command::new("script");
        command.args(["-qec", &line, "/dev/null"]);
        command.current_dir(home.path(".")).env("TERM", "xterm");
        for name in ["GRAINSTORE_STORE", "PAGER", "EDITOR", "VISUAL", "NO_COLOR"] {
            command.env_remove(name);
        }
        command.envs(environment.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        let mut output = child.stdout.take().unwrap();
        let (send, shown) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(len @ 1..) = output.read(&mut buffer) {
                drop(send.send(buffer[..len].to_vec()));
            }
        });
        Self {
            keys: child.stdin.take().unwrap(),
            shown,
            child,
            screen: String::new(),
            bytes: Vec::new(),
        }
    }

    /// Reads until the terminal shows this, and returns all since the last call with it. What came
    /// behind it is for the next call.
    fn until(&mut self, phrase: &str) -> String {
        loop {
            let mut places = self.bytes.windows(phrase.len());
            let at = places.position(|here| here == phrase.as_bytes());
            if let Some(at) = at {
                return self.show(at + phrase.len());
            }
            let is_open = self.receive();
            let screen = String::from_utf8_lossy(&self.bytes);
            assert!(is_open, "no {phrase:?} in {screen:?} of {}", self.screen);
        }
    }

    /// Moves so many bytes to what was waited for.
    fn show(&mut self, len: usize) -> String {
        let text: Vec<u8> = self.bytes.drain(..len).collect();
        let text = String::from_utf8_lossy(&text).into_owned();
        self.screen.push_str(&text);
        text
    }

    /// Whether the terminal shows more before it ends.
    fn receive(&mut self) -> bool {
        match self.shown.recv_timeout(PATIENCE) {
            Ok(bytes) => self.bytes.extend(bytes),
            Err(RecvTimeoutError::Disconnected) => return false,
            Err(RecvTimeoutError::Timeout) => {
                drop(self.child.kill());
                return false;
            }
        }
        true
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits for the end; returns the exit code, and all that was shown.
    fn end(mut self) -> (i32, String) {
        while self.receive() {}
        self.show(self.bytes.len());
        let status = self.child.wait().unwrap();
        (status.code().unwrap(), self.screen)
    }
}

/// Removes escape sequences and what a carriage return has overwritten.
fn plain(shown: &str) -> Vec<String> {
    let mut text = String::new();
    let mut letters = shown.chars();
    while let Some(letter) = letters.next() {
        if letter == '\u{1b}' {
            letters.find(char::is_ascii_alphabetic);
        } else {
            text.push(letter);
        }
    }
    let lines = text.split('\n');
    let lines = lines.map(|line| line.trim_end_matches('\r').rsplit('\r').next().unwrap());
    lines.map(str::to_owned).collect()
}

#[test]
#[ignore = "needs script"]
fn each_step_of_the_demo_fits_a_screen_and_waits() {
    const PAUSE: &str = "Enter goes on, Ctrl-C ends: ";
    let home = Home::new();
    let mut terminal = Terminal::run(&home, "demo", &[]);
    let mut steps = Vec::new();
    for _ in 0..8 {
        steps.push(terminal.until(PAUSE));
        terminal.press("\n");
    }
    steps.push(terminal.until("They are yours."));
    for step in &steps {
        let lines = plain(step);
        assert!(lines.len() <= LINES, "{} lines: {step}", lines.len());
        for line in lines {
            assert!(line.chars().count() <= COLUMNS, "{line}");
        }
    }
    assert!(steps[8].contains("recall"), "{}", steps[8]);
    assert!(steps[8].contains("peanut"), "{}", steps[8]);
    let (code, screen) = terminal.end();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("\u{1b}[1m"), "headings are bold");
    // Every path that the demo names is there afterwards.
    for word in screen
        .split_whitespace()
        .filter(|word| word.starts_with("demo.") || word.starts_with("demo-"))
    {
        let name = word.trim_end_matches([',', '.', ':']);
        assert!(home.path(name).exists(), "{name}");
    }
}

#[test]
#[ignore = "needs script"]
fn an_import_shows_its_progress_and_says_when_it_closes_the_text_index() {
    let home = Home::new();
    let lines: String = (0..3_000)
        .map(|number| event("a message", number))
        .collect();
    home.write("many.jsonl", lines);
    let (code, screen) = Terminal::run(&home, "import many.jsonl", &[]).end();
    assert_eq!(code, 0, "{screen}");
    for shown in [
        "reading many.jsonl",
        "1/2 storing",
        "records",
        "2/2 closing the text index",
    ] {
        assert!(screen.contains(shown), "{shown}: {screen}");
    }
    assert!(screen.contains("3000 inserted"), "{screen}");
    // Nothing of the progress stays on the screen.
    let left = plain(&screen).join("\n");
    assert!(!left.contains("closing"), "{left}");
}

#[test]
#[ignore = "needs script"]
fn an_opening_that_takes_long_says_what_it_does() {
    let home = Home::new();
    let lines: String = (0..5_000).map(|n| event("a message", n)).collect();
    home.put(&lines);
    std::fs::write(home.path("memory.grains/index/CURRENT"), "gone").unwrap();
    let (code, screen) = Terminal::run(&home, "stats", &[]).end();
    assert_eq!(code, 0, "{screen}");
    assert!(
        screen.contains("opening ./memory.grains: adding"),
        "{screen}"
    );
    assert!(screen.contains("the index lacks"), "{screen}");
    assert!(!plain(&screen).join("\n").contains("opening"), "{screen}");
}

#[test]
#[ignore = "needs script"]
fn ctrl_c_says_how_much_is_stored() {
    let home = Home::new();
    let tea = belief("ana", "likes", "tea");
    let address = Home::new().put(&tea).remove(0);
    let mut terminal = Terminal::run(&home, "put -", &[]);
    terminal.until("Ctrl-D ends");
    terminal.press(&tea);
    terminal.until(&address);
    terminal.press("\u{3}");
    let (code, screen) = terminal.end();
    assert_eq!(code, 130, "{screen}");
    assert!(screen.contains("interrupted: 1 stored"), "{screen}");
    assert!(screen.contains("Run the same command again"), "{screen}");
    assert_eq!(home.addresses(), [address]);

    let mut terminal = Terminal::run(&home, "import -", &[]);
    terminal.until("reading -");
    terminal.press("\u{3}");
    let (code, screen) = terminal.end();
    assert_eq!(code, 130, "{screen}");
    assert!(screen.contains("the store is as it was"), "{screen}");
    assert_eq!(home.addresses().len(), 1);
}

#[test]
#[ignore = "needs script"]
fn a_pager_has_the_results_and_messages_come_after_it() {
    let home = Home::new();
    home.put(&(belief("ana", "likes", "tea") + &belief("ana", "likes", "milk")));
    let pager = [("GRAINSTORE_PAGER", "sed s/^/paged:/"), ("PAGER", "false")];
    let query = "query --subject ana";
    let (code, screen) = Terminal::run(&home, query, &pager).end();
    assert_eq!(code, 0, "{screen}");
    let lines = plain(&screen);
    let of = |text: &str| lines.iter().position(|line| line.contains(text));
    assert!(lines[of("tea").unwrap()].starts_with("paged:"), "{screen}");
    assert!(of("2 of 2") > of("milk"), "{screen}");
    let without = format!("--no-pager {query}");
    let (_, screen) = Terminal::run(&home, &without, &pager).end();
    assert!(!screen.contains("paged:"), "{screen}");
    let missing = [("GRAINSTORE_PAGER", "no-such-pager")];
    let (code, screen) = Terminal::run(&home, query, &missing).end();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("no pager"), "{screen}");
    // The key that interrupts is for the pager, which goes on.
    home.write(
        "pager.sh",
        "trap : INT; echo begun; read -r line < /dev/tty; cat; echo ended",
    );
    let script = [("GRAINSTORE_PAGER", "sh pager.sh")];
    let mut terminal = Terminal::run(&home, query, &script);
    terminal.until("begun");
    terminal.press("\u{3}");
    terminal.press("\n");
    let (_, screen) = terminal.end();
    assert!(screen.contains("ended"), "{screen}");
}

#[test]
#[ignore = "needs script"]
fn an_editor_has_the_terminal() {
    let home = Home::new();
    let address = home.put(&belief("ana", "likes", "tea")).remove(0);
    home.write(
        "editor.sh",
        "trap : INT; echo begun; read -r line; sed -i s/tea/$line/ \"$1\"",
    );
    let editor = [("EDITOR", "sh editor.sh")];
    let line = format!("correct {address}");
    let mut terminal = Terminal::run(&home, &line, &editor);
    terminal.until("begun");
    terminal.press("coffee\n");
    let (code, screen) = terminal.end();
    assert_eq!(code, 0, "{screen}");
    assert!(home.ok(&["query", "--subject", "ana"]).contains("coffee"));
}

#[test]
#[ignore = "needs script"]
fn statements_are_edited_completed_and_kept_but_for_their_contents() {
    let home = Home::new();
    home.put(&belief("mira", "likes", "tea"));
    let state = home.path("state");
    let state = state.to_str().unwrap();
    let mut terminal = Terminal::run(&home, "cal --allow-changes", &[("XDG_STATE_HOME", state)]);
    terminal.until(EDITED);
    // A word that Tab completes, and a statement that goes on in the next line.
    terminal.press("RECAL\t beliefs |\r");
    terminal.press("COUNT\r");
    terminal.until("1\r\n");
    terminal.until(EDITED);
    terminal.press("RECALL fact\r");
    terminal.until("^^^^");
    terminal.until(EDITED);
    let add =
        "ADD belief SET subject = \"a\" SET relation = \"b\" SET object = \"secret\" REASON \"d\"";
    terminal.press(&format!("{add}\r"));
    terminal.until(EDITED);
    // The arrow brings back what was asked before.
    terminal.press("\u{1b}[A\r");
    terminal.until("2\r\n");
    terminal.until(EDITED);
    terminal.press("\u{4}");
    assert_eq!(terminal.end().0, 0);
    let file = home.path("state/grainstore/cal_history");
    let kept = std::fs::read_to_string(&file).unwrap();
    assert!(kept.contains("RECALL beliefs |\\nCOUNT"), "{kept}");
    assert!(!kept.contains("secret") && !kept.contains("fact"), "{kept}");
    let mode = std::os::unix::fs::PermissionsExt::mode(&file.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
}
