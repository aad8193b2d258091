//! Manual pages: one for each command, with all of its options, and no text that is a macro.

use std::fs;

use crate::command::Home;

#[test]
fn every_command_has_a_manual_page_with_its_options() {
    let home = Home::new();
    fs::create_dir(home.path("man")).unwrap();
    let written = home.ok(&["man", "--to", "man"]);
    assert!(written.lines().count() > 40, "{written}");
    for entry in fs::read_dir(home.path("man")).unwrap() {
        let page = fs::read_to_string(entry.unwrap().path()).unwrap();
        for line in page.lines().filter(|line| line.starts_with('.')) {
            let known = [".TH", ".SH", ".TP", ".B ", ".PP", ".br", ".nf", ".fi"];
            assert!(known.iter().any(|it| line.starts_with(it)), "{line}");
        }
        for section in ["NAME", "SYNOPSIS", "OPTIONS", "EXIT STATUS"] {
            assert!(
                page.contains(&format!("\n.SH {section}\n")),
                "{section}: {page}"
            );
        }
    }
    let page = home.ok(&["man", "remember"]);
    for said in [
        "\\-\\-if\\-same",
        "\\-\\-no\\-pager",
        "grainstore\\-remember",
        ".SH EXAMPLES",
    ] {
        assert!(page.contains(said), "{said}: {page}");
    }
    assert_eq!(home.run(&["man", "nothing"]).code, 2);
}
