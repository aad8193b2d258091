"""What the package costs: `python benches/cost.py` prints a line for each figure.

A wheel of the release profile is measured (`maturin develop --release`); another one says nothing.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import grainstore
from grainstore import Store


def seconds(run: Callable[[], object], times: int = 5) -> float:
    """Returns the shortest of some runs."""
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best


def resident() -> int:
    """Returns the resident memory of this process, in KiB."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


def beliefs(count: int, of: str) -> list[dict[str, object]]:
    """Returns beliefs that differ."""
    return [
        {
            "type": "belief",
            "subject": f"user-{number % 97}",
            "relation": "likes",
            "object": f"{of} tea number {number} from the garden of {number * 7919 % 1000}",
            "confidence": 0.9,
            "user_id": f"user-{number % 97}",
            "created_at": 1_768_471_200_000 + number,
        }
        for number in range(count)
    ]


def puts(store: Store) -> None:
    """Prints what batches of 1,000 dicts cost."""
    rounds = iter(range(1_000))
    took = seconds(lambda: store.put_batch(beliefs(1_000, f"round {next(rounds)}")))
    made = seconds(lambda: beliefs(1_000, "none"))
    print(f"put_batch of 1,000 dicts: {1_000 * (took - made):.2f} ms")


def gets(store: Store, addresses: list[str]) -> None:
    """Prints what a get costs."""
    some = addresses[:1_000]
    took = seconds(lambda: [store.get(address) for address in some], 20)
    print(f"get: {took * 1_000:.2f} us")


def threads(store: Store) -> None:
    """Prints how much more searches 8 threads make than one."""

    def search(count: int) -> None:
        for number in range(count):
            store.search(f"tea garden {number}", limit=10)

    def together() -> None:
        workers = [threading.Thread(target=search, args=(50,)) for _ in range(8)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    alone, shared = seconds(lambda: search(400), 3), seconds(together, 3)
    print(f"search: {1_000 * alone / 400:.3f} ms; 8 threads make {alone / shared:.2f} times as many")


def memory(store: Store, addresses: list[str], calls: int) -> None:
    """Prints how the memory grows over calls."""

    def call(count: int) -> None:
        for number in range(count):
            grain = store.get(addresses[number % len(addresses)])
            assert grain is not None and grain.fields
            store.count(subject="user-1") if number % 100 == 0 else None

    call(calls // 10)
    before = resident()
    call(calls)
    print(f"memory: {before} KiB before {calls:,} calls, {resident()} KiB after")


def main(calls: int) -> None:
    """Measures a store of 10,000 grains on the disk."""
    with grainstore.open(tempfile.mkdtemp() + "/cost.grains") as store:
        addresses = store.put_batch(beliefs(10_000, "first"))
        store.flush()
        gets(store, addresses)
        puts(store)
        store.flush()
        threads(store)
        memory(store, addresses, calls)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
