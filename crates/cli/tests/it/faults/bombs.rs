//! Files made to fill the memory: every format reads each within 128 MiB, or refuses it, and writes
//! any store within as much.
//!
//! The command runs under a limit of its data segment, so that one allocation too many aborts it.
//! Sizes are the smallest that show the fault; `GRAINSTORE_TIMES` multiplies them for campaigns.

use std::io::Write;
use std::process::Command;

use age::secrecy::ExposeSecret;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::command::{Home, binary};

/// A format, what stands before and after its records, one record with `%` for a text, and what
/// stands between two.
type Format = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
);

#[rustfmt::skip]
const FORMATS: [Format; 13] = [
    ("jsonl", "", "]}", r#"{"type":"event","content":"%","created_at":1}"#, "\n"),
    ("pam", r#"{"schema":"portable-ai-memory","schema_version":"1.0","owner":{"id":"o"},"memories":["#, "]}",
        r#"{"id":"%","type":"fact","content":"x"}"#, ","),
    ("pam-conversation", r#"{"schema":"portable-ai-memory-conversation","schema_version":"1.0","id":"c",
        "provider":{"name":"local"},"temporal":{"created_at":"2026-01-15T10:30:00Z"},"messages":["#, "]}",
        r#"{"id":"%","role":"user","created_at":"2026-01-15T10:30:00Z","content":{"type":"text","text":"x"}}"#, ","),
    ("pam-embeddings", r#"{"schema":"portable-ai-memory-embeddings","schema_version":"1.0","embeddings":["#,
        "]}", r#"{"id":"%","memory_id":"m"}"#, ","),
    ("aimem", r#"{"format":"aimem-bundle","version":"1","chunks":["#, "]}", r#"{"id":"%"}"#, ","),
    ("aimem-ndjson", "{\"format\":\"aimem-bundle\",\"version\":\"1\"}\n", "", r#"{"_kind":"chunk","id":"%"}"#, "\n"),
    ("omi", r#"{"format":"open-memory-interchange","version":"0.1","memories":["#, "]}",
        r#"{"id":"%","content":"x","created":"2026-01-15T10:30:00Z"}"#, ","),
    ("omi-jsonl", "{\"format\":\"open-memory-interchange\",\"version\":\"0.1\",\"serialization\":\"jsonl\"}\n", "",
        r#"{"id":"%","content":"x","created":"2026-01-15T10:30:00Z"}"#, "\n"),
    ("chatgpt", "[", "]", r#"{"id":"%","title":"t","mapping":{}}"#, ","),
    ("claude", "[", "]", r#"{"uuid":"%","chat_messages":[]}"#, ","),
    ("gemini", "[", "]", r#"{"header":"Gemini Apps","title":"%","time":"2026-01-15T10:30:00Z"}"#, ","),
    ("grok", r#"{"conversations":["#, "]}", r#"{"conversation":{"id":"%"},"responses":[]}"#, ","),
    ("copilot", "Conversation,Time,Author,Message\n", "", "a,2026-01-15T10:30:00,Human,%", "\n"),
];

/// Writes a bomb of a number of units.
type Bomb = (&'static str, fn(&Format, usize, &mut dyn Write));

/// What a file may be made of. One takes a few bytes of text.
const BOMBS: [Bomb; 5] = [
    ("deep nesting", |(_, open, ..), units, out| {
        put(out, &[open, &"[{\"a\":".repeat(units / 8)]);
    }),
    (
        "one record of one text",
        |(_, open, close, record, _), units, out| {
            let text = "x".repeat(units * 8);
            put(out, &[open, &record.replace('%', &text), close]);
        },
    ),
    (
        "one record of tiny values",
        |(_, open, close, ..), units, out| {
            let values = "[[0],\"a\"],".repeat(units);
            put(out, &[open, "{\"id\":\"1\",\"a\":[", &values, "0]}", close]);
        },
    ),
    (
        "tiny records",
        |(_, open, close, record, between), units, out| {
            put(out, &[open, "{}"]);
            (0..units / 40)
                .for_each(|n| put(out, &[between, &record.replace('%', &n.to_string())]));
            put(out, &[close]);
        },
    ),
    ("blanks", |(_, open, close, ..), units, out| {
        put(out, &[open, &" \n".repeat(units), close]);
    }),
];

const UNITS: usize = 600_000;

fn put(out: &mut dyn Write, texts: &[&str]) {
    for text in texts {
        out.write_all(text.as_bytes()).unwrap();
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "another length of a campaign is no reason to build it again"
)]
fn times() -> usize {
    let times = std::env::var("GRAINSTORE_TIMES").ok();
    times.and_then(|times| times.parse().ok()).unwrap_or(1)
}

/// Reads a file; fails if it takes more than 128 MiB of memory.
fn reads_within_bounds(format: &str, path: &str, home: &Home, what: &str) {
    reads_within_bounds_with(&[], format, path, home, what);
}

fn reads_within_bounds_with(
    more: &[&str],
    format: &str,
    path: &str,
    home: &Home,
    what: &str,
) -> String {
    let script = "ulimit -d 131072; exec \"$@\"";
    let ran = Command::new("sh")
        .args(["-c", script, "sh", binary(), "validate", "--format", format])
        .arg(path)
        .args(more)
        .current_dir(home.path("."))
        // A stack for each of many processors would be no fault of a reader.
        .env("RAYON_NUM_THREADS", "2")
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&ran.stderr);
    let code = ran.status.code();
    assert!(
        matches!(code, Some(0..=2))
            && !stderr.contains("panicked")
            && !stderr.contains("out of memory"),
        "{what} as {format}: {:?} {}",
        ran.status,
        stderr.get(..400).unwrap_or(&stderr)
    );
    [String::from_utf8_lossy(&ran.stdout), stderr].concat()
}

#[test]
fn no_file_of_any_format_takes_more_than_128_mib() {
    let home = Home::new();
    for format in &FORMATS {
        for (what, bomb) in BOMBS {
            let mut text = Vec::new();
            bomb(format, UNITS * times(), &mut text);
            home.write("bomb", &text);
            drop(text);
            reads_within_bounds(format.0, "bomb", &home, what);
        }
    }
}

#[test]
fn no_device_without_an_end_takes_more_than_128_mib() {
    let home = Home::new();
    for format in FORMATS.iter().map(|format| format.0).chain(["mg"]) {
        reads_within_bounds(format, "/dev/zero", &home, "a device");
    }
}

#[test]
fn no_zip_archive_takes_more_than_128_mib() {
    let home = Home::new();
    let exports = [
        ("copilot", "chats.csv"),
        ("chatgpt", "conversations.json"),
        ("claude", "conversations.json"),
        ("gemini", "MyActivity.json"),
        ("grok", "prod-grok-backend.json"),
        ("pam", "memory-store.json"),
    ];
    for (name, entry) in exports {
        let format = FORMATS.iter().find(|format| format.0 == name).unwrap();
        let file = std::fs::File::create(home.path("bomb.zip")).unwrap();
        let mut zip = ZipWriter::new(file);
        zip.start_file(entry, SimpleFileOptions::default()).unwrap();
        let (_, open, close, record, between) = format;
        put(&mut zip, &[open, &record.replace('%', "1")]);
        let more = [between, record.replace('%', "1").as_str()].concat();
        let block = more.repeat(1_000);
        (0..200 * times()).for_each(|_| put(&mut zip, &[&block]));
        put(&mut zip, &[close]);
        zip.finish().unwrap();
        reads_within_bounds(name, "bomb.zip", &home, "an archive");
    }
}

/// Encrypts a file for the holder of `key.txt`.
fn encrypted(home: &Home, name: &str, write: &mut dyn FnMut(&mut dyn Write)) {
    let identity = age::x25519::Identity::generate();
    home.write("key.txt", identity.to_string().expose_secret());
    let recipient = identity.to_public();
    let recipients: [&dyn age::Recipient; 1] = [&recipient];
    let encryptor = age::Encryptor::with_recipients(recipients.into_iter()).unwrap();
    let file = std::fs::File::create(home.path(name)).unwrap();
    let mut out = encryptor.wrap_output(file).unwrap();
    write(&mut out);
    out.finish().unwrap();
}

#[test]
fn no_encrypted_file_takes_more_than_128_mib() {
    const KEY: &[&str] = &["--identity", "key.txt"];
    let home = Home::new();
    // Twice as much as fits while a growing array is held twice, beside a file that is read.
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    zip.start_file("conversations.json", stored).unwrap();
    let (_, open, close, record, _) = FORMATS[8];
    put(&mut zip, &[open, &record.replace('%', "1"), close]);
    zip.start_file("photo.jpg", stored).unwrap();
    let block = "x".repeat(1 << 20);
    (0..72 * times()).for_each(|_| put(&mut zip, &[&block]));
    let zip = zip.finish().unwrap().into_inner();
    encrypted(&home, "bomb.age", &mut |out| out.write_all(&zip).unwrap());
    drop(zip);
    let said = reads_within_bounds_with(KEY, "chatgpt", "bomb.age", &home, "an archive");
    assert!(!said.contains("ERR_"), "{said}");
    // Lines of a header without an end.
    let line = format!("-> X25519 {}\n{}\n", "x".repeat(43), "y".repeat(43));
    let header = [
        "age-encryption.org/v1\n",
        &line.repeat(UNITS / 10 * times()),
    ]
    .concat();
    home.write("bomb.age", header);
    let said = reads_within_bounds_with(KEY, "jsonl", "bomb.age", &home, "a header");
    assert!(said.contains("ERR_SEALED"), "{said}");
}

#[test]
fn no_signed_bundle_takes_more_than_128_mib() {
    let home = Home::new();
    // Its canonical text has 22 bytes for five.
    let numbers = "1e20,".repeat(10_000);
    let record = format!("{{\"id\":\"%\",\"content\":\"x\",\"metadata\":{{\"a\":[{numbers}0]}}}}");
    let (_, open, close, _, between) = FORMATS[4];
    let mut text = Vec::new();
    put(&mut text, &[open, &record.replace('%', "0")]);
    (1..240 * times())
        .for_each(|n| put(&mut text, &[between, &record.replace('%', &n.to_string())]));
    put(&mut text, &[close]);
    home.write("bomb.json", &text);
    home.write("bomb.json.sig", "no signature");
    let said = reads_within_bounds_with(&[], "aimem", "bomb.json", &home, "a signed bundle");
    assert!(said.contains("more than 32 MiB"), "{said}");
    // And a signature that is none.
    home.write(
        "bomb.json",
        "{\"format\":\"aimem-bundle\",\"version\":\"1\",\"chunks\":[]}",
    );
    let file = std::fs::File::create(home.path("bomb.json.sig")).unwrap();
    file.set_len(1 << 30).unwrap();
    let said = reads_within_bounds_with(&[], "aimem", "bomb.json", &home, "a signature");
    assert!(said.contains("ERR_"), "{said}");
}

/// Runs the command; fails if it takes more than 128 MiB of memory.
fn runs_within_bounds(args: &[&str], home: &Home) {
    runs_within(128, args, home);
}

fn runs_within(mib: usize, args: &[&str], home: &Home) {
    let script = format!("ulimit -d {}; exec \"$@\"", mib << 10);
    let ran = Command::new("sh")
        .args(["-c", &script, "sh", binary(), "--store", "s"])
        .args(args)
        .current_dir(home.path("."))
        .env("RAYON_NUM_THREADS", "2")
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{args:?}: {:?} {stderr}", ran.status);
}

/// A message as long as a chunk of AIMEM may be.
fn long_text(number: usize) -> String {
    format!("{number} {}", "x".repeat(60_000))
}

/// The number of these messages: 84 MB, of which few fit the memory in any form.
const MESSAGES: usize = 1_400;

#[test]
fn no_export_takes_more_than_128_mib() {
    let home = Home::new();
    let mut lines = Vec::new();
    for number in 0..MESSAGES * times() {
        let text = long_text(number);
        let line = format!(
            "{{\"type\":\"event\",\"content\":\"{text}\",\"session_id\":\"s\",\"created_at\":{number}}}\n"
        );
        put(&mut lines, &[&line]);
    }
    home.write("grains.jsonl", &lines);
    drop(lines);
    runs_within_bounds(&["import", "grains.jsonl"], &home);
    for (format, output) in [
        ("mg", "out.mg"),
        ("jsonl", "out.jsonl"),
        ("omi", "out.omi"),
        ("omi-jsonl", "out.omi.jsonl"),
        ("aimem", "out.aimem"),
        ("aimem-ndjson", "out.aimem.ndjson"),
        ("pam", "out.pam"),
        ("pam", "out.zip"),
    ] {
        let plain: &[&str] = if format == "pam" { &["--plain"] } else { &[] };
        let args = [&["export", "--format", format, "-o", output], plain].concat();
        runs_within_bounds(&args, &home);
    }
}

#[test]
fn no_conversion_takes_more_than_128_mib() {
    let home = Home::new();
    let mut out = Vec::new();
    put(&mut out, &["["]);
    for conversation in 0..14 * times() {
        put(&mut out, &[if conversation == 0 { "" } else { "," }]);
        let head = format!(
            "{{\"id\":\"c{conversation}\",\"title\":\"t\",\"create_time\":1,\"mapping\":{{"
        );
        put(&mut out, &[&head]);
        for number in 0..100 {
            let text = long_text(number);
            let node = format!(
                r#"{}"n{number}":{{"id":"n{number}","children":[],"message":{{"id":"m{conversation}-{number}","author":{{"role":"user"}},"create_time":{number},"content":{{"content_type":"text","parts":["{text}"]}}}}}}"#,
                if number == 0 { "" } else { "," }
            );
            put(&mut out, &[&node]);
        }
        put(&mut out, &["}}"]);
    }
    put(&mut out, &["]"]);
    home.write("conversations.json", &out);
    drop(out);
    for output in ["out.mg", "out.omi.json", "out.aimem.json", "out.zip"] {
        let plain: &[&str] = if output == "out.zip" {
            &["--plain"]
        } else {
            &[]
        };
        let args = [&["convert", "conversations.json", output], plain].concat();
        runs_within_bounds(&args, &home);
    }
}

/// Writes an export of ChatGPT of some length, with conversations as people have them.
fn write_chats(home: &Home, len: usize) {
    const WORDS: [&str; 12] = [
        "river", "stone", "bread", "garden", "letter", "winter", "lamp", "copper", "window",
        "answer", "harbour", "orchard",
    ];
    let file = std::fs::File::create(home.path("conversations.json")).unwrap();
    let mut out = std::io::BufWriter::new(file);
    let (mut state, mut written) = (7_u64, 0);
    let mut random = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(state >> 33).unwrap() % below
    };
    for conversation in 0.. {
        let mut nodes = Vec::new();
        for number in 0..4 + random(37) {
            let words: Vec<_> = (0..10 + random(390)).map(|_| WORDS[random(12)]).collect();
            let role = ["user", "assistant"][number % 2];
            let parent = number.checked_sub(1).map(|of| format!("\"{of}\""));
            nodes.push(format!(
                r#""{number}":{{"id":"{number}","parent":{},"children":[],"message":{{"id":"m{conversation}-{number}","author":{{"role":"{role}"}},"create_time":{},"content":{{"content_type":"text","parts":["{}"]}}}}}}"#,
                parent.as_deref().unwrap_or("null"),
                1_700_000_000 + conversation * 300 + number,
                words.join(" ")
            ));
        }
        let open = if conversation == 0 { "[" } else { "," };
        let nodes = nodes.join(",");
        let text = format!(
            r#"{open}{{"id":"c{conversation}","title":"t","create_time":1700000000,"mapping":{{{nodes}}}}}"#
        );
        written += text.len();
        put(&mut out, &[&text]);
        if written >= len {
            break;
        }
    }
    put(&mut out, &["]"]);
    out.flush().unwrap();
}

/// `just bombs` imports 300 MB.
#[test]
fn no_import_of_conversations_takes_more_than_200_mib() {
    let home = Home::new();
    write_chats(&home, 15_000_000 * times());
    runs_within(200, &["import", "conversations.json"], &home);
}
