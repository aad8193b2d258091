//! `grain encode` and `grain decode`, which need no store.

use crate::command::{Home, event};

#[test]
fn what_is_encoded_decodes_to_itself() {
    let home = Home::new();
    for encoding in ["msgpack", "cbor"] {
        let input = event("one", 1_768_471_200_000) + &event("two", 2);
        let encoded = home.run_with(&["grain", "encode", "--encoding", encoding], input);
        assert_eq!(encoded.code, 0, "{encoded:?}");
        let decoded = home.run_with(&["grain", "decode"], &encoded.stdout);
        assert_eq!(decoded.code, 0, "{decoded:?}");
        let (encoded, decoded) = (encoded.json_lines(), decoded.json_lines());
        assert_eq!(decoded[0]["address"], encoded[0]["address"]);
        assert_eq!(decoded[0]["grain"]["content"], "one");
        let header = &decoded[0]["header"];
        assert_eq!(header["version"], 1);
        assert_eq!(header["type"], 2);
        assert_eq!(header["flags"], if encoding == "cbor" { 0x20 } else { 0 });
        assert_eq!(header["namespace_hash"], "0000");
        assert_eq!(header["created_at_sec"], 1_768_471_200);
        assert_eq!(header["sensitivity"], "public");

        let blobs = encoded.iter().map(|one| one["blob"].as_str().unwrap());
        let hex = blobs.collect::<Vec<_>>().join("\n");
        let bare = home.run_with(&["grain", "decode"], hex);
        assert_eq!(bare.json_lines(), decoded);
    }
    assert!(!home.path("memory.grains").exists());
}

#[test]
fn a_line_that_fails_says_why_and_the_others_go_on() {
    let home = Home::new();
    let untimed = "{\"type\":\"event\",\"content\":\"no time\"}\n";
    let ran = home.run_with(
        &["grain", "encode"],
        event("one", 1) + untimed + &event("two", 2),
    );
    assert_eq!(ran.code, 1, "{ran:?}");
    let lines = ran.json_lines();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[1]["error"]["code"], "ERR_SCHEMA");
    assert_eq!(lines[1]["error"]["line"], 2);

    let address = &lines[0]["address"];
    let (one, two) = (&lines[0]["blob"], &lines[2]["blob"]);
    let swapped =
        format!("{{\"address\":{address},\"blob\":{two}}}\n01\nxyz\n{{\"blob\":{one}}}\n");
    let ran = home.run_with(&["grain", "decode"], swapped);
    assert_eq!(ran.code, 1, "{ran:?}");
    let lines = ran.json_lines();
    let codes: Vec<_> = lines
        .iter()
        .map(|line| line["error"]["code"].clone())
        .collect();
    assert_eq!(codes[..3], ["ERR_INTEGRITY", "ERR_TOO_SHORT", "JSONL_BLOB"]);
    assert_eq!(&lines[3]["address"], address);
}
