//! Trees of Markdown made to fill the memory, and large ones: an import and a step take less than 128 MiB.

use std::fs::{self, File};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use crate::command::Home;

const PEAK_MAX_KIB: u64 = 128 << 10;

/// Runs a command on the tree; returns the most memory that it had, in KiB, and its exit code.
fn peak(home: &Home, arguments: &[&str]) -> (u64, i32) {
    let mut command = home.command();
    command.args(arguments).env("RAYON_NUM_THREADS", "2");
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    loop {
        // The system keeps the peak; it is gone with the process.
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let now = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
        peak = peak.max(now.unwrap_or(0));
        if let Some(ended) = child.try_wait().unwrap() {
            return (peak, ended.code().unwrap_or(-1));
        }
        thread::sleep(Duration::from_millis(2));
    }
}

fn holds(home: &Home, what: &str) {
    for command in ["import", "sync"] {
        let (peak, code) = peak(home, &[command, "tree", "--dialect", "obsidian"]);
        println!("{command} of {what}: {} MiB", peak >> 10);
        assert!(peak < PEAK_MAX_KIB, "{command} of {what}: {peak} KiB");
        assert!((0..=2).contains(&code), "{command} of {what}: {code}");
    }
}

#[test]
fn no_tree_of_an_attacker_takes_more_than_128_mib() {
    type Bomb = (&'static str, fn(usize) -> String);
    let bombs: [Bomb; 9] = [
        ("items", |len| "- a\n".repeat(len / 4)),
        ("one line", |len| "x".repeat(len)),
        ("blank lines", |len| "\n".repeat(len)),
        ("links", |len| "[[a]]".repeat(len / 5)),
        ("headings", |len| "# a\n".repeat(len / 4)),
        ("deep lists", |len| {
            let lines = (0..len / 200).map(|n| format!("{}- a\n", " ".repeat(n % 400)));
            lines.collect()
        }),
        ("wide frontmatter", |len| {
            format!("---\na: [{}]\n---\n- x\n", "1,".repeat(len / 2 - 20))
        }),
        ("anchors", |len| {
            format!(
                "---\na: &a [{}]\nb: [*a, *a]\n---\n- x\n",
                "1,".repeat(len / 2 - 40)
            )
        }),
        ("deep frontmatter", |len| {
            format!("---\na: {}\n---\n- x\n", "[".repeat(len - 20))
        }),
    ];
    for (what, bomb) in bombs {
        let home = Home::new();
        fs::create_dir(home.path("tree")).unwrap();
        // As long as a note may be.
        let text = bomb((4 << 20) - 64);
        for name in ["a", "b", "c"] {
            home.write(&format!("tree/{name}.md"), &text);
        }
        holds(&home, what);
    }
}

#[test]
fn a_line_of_a_gigabyte_is_left_where_it_is() {
    let home = Home::new();
    fs::create_dir(home.path("tree")).unwrap();
    home.write("tree/fine.md", "- fine\n");
    File::create(home.path("tree/long.md"))
        .unwrap()
        .set_len(1 << 30)
        .unwrap();
    holds(&home, "a line of a gigabyte");
    assert!(home.ok(&["list", "--long"]).contains("fine"));
    assert_eq!(
        fs::metadata(home.path("tree/long.md")).unwrap().len(),
        1 << 30
    );
}

/// The files of a large tree; `just trees` sets another number.
const FILES: usize = match option_env!("GRAINSTORE_FILES") {
    Some(_) => 10_000,
    None => 1_000,
};

#[test]
fn thousands_of_files_are_kept_in_step() {
    let home = Home::new();
    let path = |number: usize| home.path(&format!("tree/{}/n{number}.md", number % 100));
    for number in 0..FILES {
        fs::create_dir_all(path(number).parent().unwrap()).unwrap();
        fs::write(
            path(number),
            format!("---\ntags: [x]\n---\n- fact {number}\n"),
        )
        .unwrap();
    }
    let began = std::time::Instant::now();
    let (first, code) = peak(&home, &["sync", "tree", "--dialect", "obsidian"]);
    println!(
        "{FILES} files: {} MiB in {:?}",
        first >> 10,
        began.elapsed()
    );
    assert!(first < PEAK_MAX_KIB && code == 0, "{first} KiB, {code}");
    fs::write(path(333), "---\ntags: [x]\n---\n- fact x\n").unwrap();
    fs::remove_file(path(444)).unwrap();
    let began = std::time::Instant::now();
    let stepped = home.run(&["--json", "sync", "tree"]).json();
    println!("an edit of one: {:?}", began.elapsed());
    assert_eq!(stepped["conflicts"], serde_json::json!([]), "{stepped}");
    assert!(home.ok(&["search", "\"fact x\""]).contains("fact x"));
    for gone in ["333", "444"] {
        assert_eq!(home.run(&["search", gone]).code, 1, "{gone} is not current");
    }
    assert_eq!(home.run(&["--json", "sync", "tree"]).json()["updated"], 0);
}
