# What CI runs, and what takes longer. `just` lists the recipes.

targets := "decode_blob decode_json read_mg read_frames open_ledger cose_verify did_key"
seconds := "60"
runs := "10000000"

_default:
    @just --list --unsorted

# What a change must pass
ci:
    .ci/run

# A million random grains through both encodings and JSON
grains:
    # The number of cases is compiled in, and cargo sees that it changed.
    GRAINSTORE_CASES=1000000 cargo test --release --test it grain::

# The store at work on sample data
demo:
    cargo run --quiet --release --package grainstore-cli -- demo

# What the fuzz targets start from
seeds:
    cargo run --quiet --manifest-path fuzz/Cargo.toml --example seeds

# A minute for each fuzz target, and what the largest inputs cost (needs cargo-fuzz)
fuzz: seeds
    cargo test --quiet --manifest-path fuzz/Cargo.toml
    just _campaign -max_total_time={{seconds}}

# Ten million inputs for each fuzz target
fuzz-long: seeds
    just _campaign -runs={{runs}}

_campaign *limit:
    #!/usr/bin/env bash
    set -euo pipefail
    cd fuzz
    mkdir -p artifacts
    for target in {{targets}}; do
        log=artifacts/$target.log
        if ! nice -n 10 cargo fuzz run --sanitizer=none "$target" -- {{limit}} \
            -max_len=4096 -dict=grainstore.dict -timeout=10 -rss_limit_mb=1024 \
            -print_final_stats=1 > "$log" 2>&1
        then
            tail -n 40 "$log"
            exit 1
        fi
        echo "$target: $(grep -h -e '^Done ' -e '^peak: ' "$log" | paste -sd ' ')"
    done
