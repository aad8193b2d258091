"""What the package costs, beside the library in the same run: `just cost-python` prints a line for each figure.

`python benches/cost.py COMMAND...` takes the command that runs `benches/cost.rs`. A wheel of the release profile is
measured (`maturin develop --release`); another one says nothing.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import grainstore
from grainstore import Store


ROUNDS = 20


def place() -> str:
    """Returns a place for a store."""
    return tempfile.mkdtemp() + "/cost.grains"


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


def puts(store: Store) -> float:
    """Returns the shortest microseconds of a batch of 1,000 dicts."""
    best = float("inf")
    for number in range(ROUNDS):
        dicts = beliefs(1_000, f"round {number}")
        store.flush()
        best = min(best, seconds(lambda dicts=dicts: store.put_batch(dicts), 1))
    return 1e6 * best


def gets(store: Store) -> float:
    """Returns the microseconds of a get, of the shortest run of 1,000."""
    addresses = store.put_batch(beliefs(1_000, "get"))
    store.flush()
    return 1e3 * seconds(lambda: [store.get(address) for address in addresses], ROUNDS)


def beside(command: list[str]) -> None:
    """Prints what calls cost here and in the library, which take turns."""
    best: dict[str, tuple[float, float]] = {}
    for _ in range(3):
        told = subprocess.run(command, check=True, stdout=subprocess.PIPE)
        with grainstore.in_memory() as memory, grainstore.open(place()) as disk:
            ours = {"put_batch": puts(memory), "get": gets(memory), "put_batch_on_disk": puts(disk)}
        for name, theirs in json.loads(told.stdout.splitlines()[-1]).items():
            one, two = best.get(name, (float("inf"), float("inf")))
            best[name] = min(one, ours[name]), min(two, theirs)
    for name, (ours_, theirs) in best.items():
        print(f"{name}: {ours_:.1f} us, in the library {theirs:.1f} us, {ours_ / theirs:.2f} times")


def threads(store: Store) -> None:
    """Prints how much more searches 8 threads make than one."""

    def search() -> None:
        for number in range(400):
            store.search(f"tea garden {number}", limit=10)

    def together() -> None:
        # Each asks the same questions: those of small numbers have more answers, and take longer.
        workers = [threading.Thread(target=search) for _ in range(8)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    alone, shared = seconds(search, 3), seconds(together, 3)
    print(f"search: {1_000 * alone / 400:.3f} ms; 8 threads make {8 * alone / shared:.2f} times as many")


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


def main(command: list[str], calls: int) -> None:
    """Measures calls, then a store of 10,000 grains on the disk."""
    beside(command)
    with grainstore.open(place()) as store:
        addresses = store.put_batch(beliefs(10_000, "first"))
        store.flush()
        threads(store)
        memory(store, addresses, calls)


if __name__ == "__main__":
    main(sys.argv[1:], 1_000_000)
