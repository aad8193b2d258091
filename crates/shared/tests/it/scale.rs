//! The tables of `docs/scale.md` are those that `examples/scale/main.rs` prints.

#[path = "../../examples/scale/model.rs"]
mod model;
#[path = "../../examples/scale/tables.rs"]
mod tables;

#[test]
fn the_page_shows_what_the_model_says() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scale.md");
    let page = std::fs::read_to_string(page).unwrap();
    for table in tables::all() {
        assert!(page.contains(&table), "docs/scale.md lacks\n{table}");
    }
    assert!(page.len() <= 8_192, "{} bytes", page.len());
}
