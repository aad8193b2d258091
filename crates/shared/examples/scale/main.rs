//! Prints the tables of `docs/scale.md`: `cargo run -p grainstore-shared --example scale`.

#![expect(clippy::print_stdout, reason = "a program prints")]

mod model;
mod tables;

fn main() {
    print!("{}", tables::all().join("\n"));
}
