//! The readers of other tools' memory, measured by `tools/measure_readers.py` on files of every kind.

use std::path::Path;
use std::process::Command;

#[test]
#[ignore = "needs python3"]
fn every_kind_of_another_tool_is_read_within_128_mib() {
    let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/measure_readers.py");
    for arguments in [&["0.5"][..], &["0.1", "--store"], &["0.1", "--dry-run"]] {
        let ran = Command::new("python3")
            .arg(&tool)
            .args([
                "--grainstore",
                env!("CARGO_BIN_EXE_grainstore"),
                "--megabytes",
            ])
            .args(arguments)
            .env("RAYON_NUM_THREADS", "2")
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&ran.stdout);
        println!("{printed}");
        let failed = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{printed}\n{failed}");
        assert_eq!(printed.lines().count(), 2 + 40, "{printed}");
    }
}
