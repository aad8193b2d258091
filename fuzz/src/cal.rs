//! The law of `read_cal`: a statement that is read is written and read as the same, in both forms.

use grainstore_cal::{parse_bytes, parse_json};

/// Reads bytes as a statement.
///
/// - The canonical text and the JSON form of an accepted one are read as the same statement.
/// - A refusal has its place within the text.
pub fn read_cal(data: &[u8]) {
    match parse_bytes(data) {
        Ok(query) => {
            drop(query.checked());
            let text = query.to_string();
            // Escapes and pipes can make the canonical text too long to be read.
            if text.len() <= 8_192 {
                assert_eq!(parse_bytes(text.as_bytes()).as_ref(), Ok(&query));
                assert_eq!(parse_json(&query.to_json()).as_ref(), Ok(&query));
            }
        }
        Err(error) => {
            let text = String::from_utf8_lossy(data);
            assert!(text.get(error.at.start..error.at.end).is_some());
            error.pointed(&text);
        }
    }
}

/// Statements that are read.
pub const STATEMENTS: [&str; 8] = [
    "RECALL MY beliefs IN \"work\" ABOUT \"a\" WHERE confidence >= 0.8 | ORDER BY time DESC LIMIT 3",
    "RECALL WHERE subject IN (RECALL beliefs WHERE relation IS KNOWLEDGE | OBJECTS) AS toon",
    "LET $a = RECALL goals; ASSEMBLE c FROM x: (RECALL events RECENT 5), $a BUDGET 90 tokens",
    "(RECALL beliefs WHERE tags INCLUDE [\"x\", \"y\"]) EXCEPT (RECALL WITH diversity(mmr, l = 1))",
    "BATCH { a: EXISTS sha256:01234567, b: COALESCE (RECALL MY, RECALL), c: DESCRIBE fields }",
    "DEFINE TEMPLATE t EXTENDS compact HEADER {{{budget.used}} {a}} ELEMENT {{{#grain.type}}x{{/grain.type}}}",
    "ASSEMBLE FROM (RECALL) FORMAT TEMPLATE { FOOTER {\n\nb\n} } STREAM { chunks, chunk_size = 40 }",
    "ADD belief SET subject = $s SET relation = \"r\" SET object = \"\\u00e9\" REASON \"why\"",
];
