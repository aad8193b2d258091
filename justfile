# What CI runs, and what takes longer. `just` lists the recipes.

targets := "decode_blob decode_json read_mg read_frames open_ledger cose_verify did_key read_cal open_store store_ops json_pam json_aimem json_omi provider_exports"
seconds := "60"
runs := "10000000"

_default:
    @just --list --unsorted

# What a change must pass
ci:
    .ci/run

# Whether tests/conformance.tsv and docs/rulings.md name tests and rulings that exist
lint:
    .ci/conformance

# A million random grains through both encodings and JSON
grains:
    GRAINSTORE_TIMES=200 cargo test --release --test it grain::

# The random campaigns of the tests, ten times as long
campaigns:
    .ci/campaigns

# Files that are made to fill the memory, twenty times as large as in the tests
bombs times="20":
    GRAINSTORE_TIMES={{times}} cargo test --package grainstore-cli --test it -- bombs::

# A million random histories of protected grains against the table of OMS 23, or some (`just policy 0..50000`)
policy histories="0..1000000":
    CARGO_PROFILE_DEV_OPT_LEVEL=2 GRAINSTORE_HISTORIES={{histories}} \
        nice -n 19 cargo test --test it policy:: -- --nocapture

# Rogue agents and their files beside a victim, a million steps
rogues times="330":
    CARGO_PROFILE_DEV_OPT_LEVEL=2 GRAINSTORE_TIMES={{times}} \
        nice -n 19 cargo test --test it policy::rogue:: -- --nocapture

# A million steps of an agent that looks for a way around the rules
attacker times="50":
    CARGO_PROFILE_DEV_OPT_LEVEL=2 GRAINSTORE_TIMES={{times}} \
        nice -n 19 cargo test --test it policy::attacker -- --nocapture

# What proofs and the verification of a million entries cost
audit entries="1000000":
    cargo bench --bench audit_speed -- {{entries}}

# The store on a simulated disk: crashes, double crashes, faults at every operation, seeded faults
crash states="200000" jobs="2":
    #!/usr/bin/env bash
    set -euo pipefail
    cargo build --quiet --release --package grainstore-crash
    run="${CARGO_TARGET_DIR:-target}/release/grainstore-crash"
    # Each crash state is a short life: without these, the allocator gives its memory back each time.
    export MALLOC_TOP_PAD_=67108864 MALLOC_TRIM_THRESHOLD_=268435456
    nice -n 10 "$run" seeded-faults
    nice -n 10 "$run" faults seeds=1..21
    nice -n 10 "$run" operations seeds=1..1001 operations=1000
    nice -n 10 "$run" states states={{states}} jobs={{jobs}}

# Several processes on one simulated disk, interleaved at each operation, killed and held up
interleaving seeds="0..100000" jobs="2":
    nice -n 19 cargo run --quiet --release --package grainstore-crash -- interleaving seeds={{seeds}} jobs={{jobs}} faults=300

# Converts a memory through 500 chains of formats, and compares what a reader wants to know of it.
chains:
    GRAINSTORE_CHAINS=1 cargo test --test it --locked -- --nocapture chains::

# Real processes: 8 writers of 20,000 grains and 8 readers, killed all the time; 200 commands at once
several processes="8" puts="20000" commands="200":
    # The numbers are compiled in, and cargo sees that they changed.
    GRAINSTORE_PROCESSES={{processes}} GRAINSTORE_PUTS={{puts}} GRAINSTORE_COMMANDS={{commands}} \
        nice -n 15 cargo test --release --package grainstore-cli --test it -- several:: --nocapture

# Vaults that crash while they erase keys, attacked with the master key and every file
key-erasure states="3000":
    cargo run --quiet --release --package grainstore-crash -- key-erasure states={{states}}

# Stores of sealed and plain persons that crash at work, attacked with the master key, every file and
# every backup that was made
person-erasure states="30000":
    cargo run --quiet --release --package grainstore-crash -- person-erasure states={{states}}

# A tree of ten thousand notes in step, and the most memory of each step
trees:
    # The number is compiled in, and cargo sees that it changed.
    GRAINSTORE_FILES=1 cargo test --package grainstore-cli --test it -- thousands_of_files --nocapture

# The readers of other tools' memory: peak memory and processor time for SIZE MB of each kind, Python's parsers
# beside them (docs/benchmarks.md); `just readers 20 --store` imports for real, `just readers 500 pi mem0.db` some kinds
readers size="500" *arguments:
    cargo build --quiet --release --locked --package grainstore-cli
    GRAINSTORE="${CARGO_TARGET_DIR:-target}/release/grainstore" tools/measure_readers.py --megabytes {{size}} {{arguments}}

# Every bit of a small store, flipped
bit-flips:
    cargo run --quiet --release --package grainstore-crash -- bit-flips folder=/dev/shm

# The command killed while it stores, 2,000 times
kill times="2000":
    # The number is compiled in, and cargo sees that it changed.
    GRAINSTORE_KILLS={{times}} cargo test --release --package grainstore-cli --test it -- kill:: --nocapture

# `grainstore serve` with 64 connections, 10,000 that are idle, and floods by one token (docs/benchmarks.md)
load seconds="60" rate="1000":
    # The numbers are compiled in, and cargo sees that they changed.
    ulimit -n 40000 && GRAINSTORE_SECONDS={{seconds}} GRAINSTORE_RATE={{rate}} nice -n 10 cargo test --release \
        --package grainstore-cli --test it -- load:: floods:: --nocapture --test-threads=1

# Copies on a storage that fails, with kills of all that take part, 1,000 histories; then 1,000 kills of processes
replica-kills rounds="1000" kills="334":
    # The numbers are compiled in, and cargo sees that they changed.
    GRAINSTORE_ROUNDS={{rounds}} nice -n 15 cargo test --release --package grainstore-replica --test it -- kills:: --nocapture
    GRAINSTORE_REPLICA_KILLS={{kills}} nice -n 15 cargo test --release --package grainstore-cli --test it -- \
        replica::what_was_shipped --nocapture

# A primary of PostgreSQL killed under load and its standby promoted; and as many times one that waits for no standby,
# whose losses must be told
failovers times="20":
    # The number is compiled in, and cargo sees that it changed.
    GRAINSTORE_FAILOVERS={{times}} cargo test --package grainstore-shared --test it -- --ignored a_primary_that --nocapture

# Four nodes of eight writers on PostgreSQL: nodes, connections and the server killed at random
turmoil seconds="600":
    # The number is compiled in, and cargo sees that it changed.
    GRAINSTORE_TURMOIL_SECONDS={{seconds}} cargo test --package grainstore-shared --test it -- \
        --ignored nodes_that_are_killed --nocapture

# A consent withdrawn on one node while eight writers on four nodes put grains that rest on it
withdrawals rounds="10000" there="300":
    # The numbers are compiled in, and cargo sees that they changed.
    GRAINSTORE_POLICY_ROUNDS={{rounds}} GRAINSTORE_POLICY_ROUNDS_THERE={{there}} nice -n 15 cargo test \
        --package grainstore-shared --test it -- --include-ignored policies:: --nocapture

# Histories of concurrent clients, on shared ledgers and on several servers in one directory, checked for linearizability
histories operations="2000":
    # The number is compiled in, and cargo sees that it changed.
    GRAINSTORE_HISTORY={{operations}} nice -n 15 cargo test --package grainstore-shared --package grainstore-cli \
        --test it -- --include-ignored histories:: --nocapture

# Puts, commits, reads and cold nodes of stores on PostgreSQL (docs/scale.md)
shared-rates seconds="10" grains="200000":
    cargo run --quiet --release --package grainstore-shared --features postgres --example rates -- {{seconds}} {{grains}}

# How far a copy is behind 1,000 puts a second, and what it takes from the writers
replica-lag seconds="20":
    cargo run --quiet --release --package grainstore-replica --example lag -- {{seconds}}

# Requests that no client would send, for about ten minutes
hostile times="200":
    GRAINSTORE_TIMES={{times}} nice -n 15 cargo test --package grainstore-server --test http -- hostile::

# Random programs of two to five tenants in one store, against stores of their own: 100,000 steps, or about thirty a
# case
tenants cases="3400":
    GRAINSTORE_TIMES={{cases}} nice -n 15 cargo test --package grainstore-server --test http -- --nocapture tenants::

# Commands on real files whose n-th system call fails or is their last, at 5,000 points (needs
# strace); `just sweep 1200..5000` goes on where an earlier run was stopped
sweep points="5000":
    GRAINSTORE_POINTS={{points}} nice -n 15 cargo test --release --package grainstore-cli --test it -- \
        --ignored a_command_whose_system_calls_fail --nocapture

# 2,000 flipped bytes and 500 cuts of a store of 1,000 grains, which is recovered each time
recover flips="2000" cuts="500":
    cargo run --quiet --release --package grainstore-crash -- recover flips={{flips}} cuts={{cuts}}

# Replays what a failure of the crash programme printed
replay *line:
    cargo run --quiet --release --package grainstore-crash -- replay {{line}}

# The store at work on sample data
demo:
    cargo run --quiet --release --package grainstore-cli -- demo

# The Linux wheel of the Python package as users get it: for glibc 2.17, at most 15 MB, tested apart
wheel out="target/wheels":
    #!/usr/bin/env bash
    set -euo pipefail
    tools=$PWD/target/wheel-tools
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet maturin==1.16.0 ziglang==0.17.1 auditwheel==6.8.2 pytest==9.2.0
    mkdir -p "{{out}}"
    out=$(cd "{{out}}" && pwd)
    (cd python && PATH="$tools/bin:$PATH" maturin build --profile dist --locked --zig \
        --compatibility manylinux_2_17 --out "$out")
    wheel=$(ls -t "$out"/*.whl | head -1)
    "$tools/bin/auditwheel" show "$wheel"
    [ "$(stat -c %s "$wheel")" -le $((15 * 1024 * 1024)) ]
    "$tools/bin/pip" install --quiet --force-reinstall "$wheel"
    # Beside its sources the package would be those.
    apart=$(mktemp -d)
    cp -r python/tests "$apart"
    cd "$apart" && "$tools/bin/python" -m pytest -q tests/test_store.py tests/test_values.py \
        tests/test_command.py -k "not follows_from_others"

# The package of Node.js with the extension for this platform, in target/node
node out="target/node":
    #!/usr/bin/env bash
    set -euo pipefail
    mkdir -p "{{out}}"
    out=$(cd "{{out}}" && pwd)
    cd node
    node build.mjs --profile dist --locked
    # It has what was built, so that its installation builds nothing.
    npm pack --pack-destination "$out" --ignore-scripts

# Static programs, Debian packages, an image, an SBOM and checksums in target/packages (`just dist x86_64`)
dist *architectures:
    .ci/dist {{architectures}}

# The pages of docs/ as a site in target/site, its links checked
book:
    .ci/book

# The recording of the demo that README shows (needs python3)
record-demo:
    cargo build --quiet --package grainstore-cli
    tools/record_demo.py "${CARGO_TARGET_DIR:-target}/debug/grainstore" docs/demo.svg

# Instructions of each operation against benches/cost.tsv (needs valgrind; docs/benchmarks.md)
cost *arguments:
    cargo test --quiet --workspace --locked --config crates/cost/profile.toml --bench cost -- {{arguments}}

# The engine beside SQLite, fjall and redb (docs/benchmarks.md); `just bench --quick` is a smoke test
bench *arguments:
    cargo run --quiet --release --manifest-path benches/Cargo.toml --bin engine -- {{arguments}}

# How long one answer takes in a store of a million grains, and readers beside a writer
latency *arguments:
    just bench --only latency {{arguments}}

# Ten million grains with text in one store (`just ten-million --grains 10000` for a million)
ten-million *arguments:
    just bench --only ten-million --rounds 1 {{arguments}}

# The Python package beside mem0ai, LangGraph's SQLite store and the reference MCP memory (needs node); a WHEEL of
# `just wheel`, or of `maturin build --release`
bench-python wheel *arguments:
    .ci/tools neighbours
    target/neighbours/bin/pip install --quiet --force-reinstall "{{wheel}}"
    target/neighbours/bin/python python/benches/neighbours.py {{arguments}}

# What calls of the Python package cost beside those of the library (after `.ci/python`)
cost-python:
    #!/usr/bin/env bash
    set -euo pipefail
    cd python
    export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/../target} VIRTUAL_ENV=$PWD/../target/python
    "$VIRTUAL_ENV/bin/maturin" develop --quiet --release --locked
    "$VIRTUAL_ENV/bin/python" benches/cost.py cargo bench --quiet --locked --bench cost

# What calls of the Node.js package cost beside those of the library, and how long its event loop waits
cost-node:
    #!/usr/bin/env bash
    set -euo pipefail
    cd node
    export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/../target}
    node build.mjs
    node --expose-gc benches/cost.mjs cargo bench --quiet --locked --bench cost

# Sealed persons beside the same grains in the clear, unlocking, erasures with their receipts
bench-sealed *arguments:
    just bench --only sealed {{arguments}}

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
        # A store in a directory that another program prepared must not fill the memory.
        memory=$([ "$target" = open_store ] && echo 256 || echo 1024)
        if ! nice -n 10 cargo fuzz run --sanitizer=none "$target" -- {{limit}} \
            -max_len=4096 -dict=grainstore.dict -timeout=10 -rss_limit_mb="$memory" \
            -print_final_stats=1 > "$log" 2>&1
        then
            tail -n 40 "$log"
            exit 1
        fi
        echo "$target: $(grep -h -e '^Done ' -e '^peak: ' "$log" | paste -sd ' ')"
    done

# How well search finds what was meant (docs/search.md); DATA has cranfield/ and locomo/. `just quality DATA corpora`
# prints the table of the parameters alone
quality data part="":
    cargo bench --quiet --bench quality -- {{data}} {{part}}

# The same with the sentence model in the directory MODEL: rows by words and vectors, and everyday questions
quality-with data model:
    cargo bench --quiet -p grainstore-embed --bench quality -- {{data}} {{model}}
