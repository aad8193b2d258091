//! Opens a store, remembers something, finds it again: `cargo run --example remember`.

use grainstore::{Draft, Filter, Options, Store};

fn main() -> Result<(), grainstore::Error> {
    let store = Store::in_memory(Options::default())?;
    store.put(Draft::belief("user", "mg:prefers", "dark mode").confidence(0.9))?;
    store.put(Draft::event("The user asked for larger type").session("monday"))?;
    let mut out = String::new();
    for found in store.search("larger modes", &Filter::new(), 10)?.results {
        out += &format!("{:.2}  {}\n", found.score, found.grain.summary());
    }
    #[expect(clippy::print_stdout, reason = "an example shows what it found")]
    {
        print!("{out}");
    }
    Ok(())
}
