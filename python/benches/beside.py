"""`GrainStore` beside the SQLite store of LangGraph, the same memories in both: `python benches/beside.py`.

Both are on the disk and make each put durable.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from langgraph.store.base import BaseStore, PutOp
from langgraph.store.sqlite import SqliteStore

import grainstore
from grainstore.langgraph import GrainStore


@contextmanager
def grains(folder: Path) -> Iterator[BaseStore]:
    """Opens a store of ours."""
    with grainstore.open(folder / "memory.grains") as store:
        yield GrainStore(store)


@contextmanager
def sqlite(folder: Path) -> Iterator[BaseStore]:
    """Opens a store of LangGraph's."""
    connection = sqlite3.connect(folder / "memory.db", isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA synchronous=FULL")
    store = SqliteStore(connection)
    store.setup()
    yield store
    connection.close()


def timed(run: Callable[[], object]) -> float:
    """Returns the seconds of a run."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def measure(opened: Callable[[Path], object], count: int) -> list[float]:
    """Returns the milliseconds of the operations, each for one item, and the bytes of the files."""
    folder = Path(tempfile.mkdtemp())
    values = [{"text": f"memory {n} of tea", "n": n, "kind": "abc"[n % 3]} for n in range(count)]
    batches = [range(at, min(at + 100, count)) for at in range(0, count, 100)]
    with opened(folder) as store:  # type: ignore[attr-defined]

        def put_all() -> None:
            for batch in batches:
                store.batch([PutOp(("users", str(n % 50)), f"key {n}", values[n]) for n in batch])

        def each(run: Callable[[int], object], times: int) -> float:
            return timed(lambda: [run(n * 37 % count) for n in range(times)]) / times

        name = lambda n: ("users", str(n % 50))  # noqa: E731
        results = [
            timed(put_all) / count,
            each(lambda n: store.put(name(n), f"key {n}", {"text": "new"}), 200),
            each(lambda n: store.get(name(n), f"key {n}"), 1_000),
            each(lambda n: store.search(name(n), limit=10), 200),
            each(lambda n: store.search(name(n), filter={"n": n}, limit=10), 50),
            each(lambda n: store.delete(name(n), f"key {n}"), 50),
        ]
    files = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    reopened = timed(lambda: opened(folder).__enter__())  # type: ignore[attr-defined]
    return [*(1_000 * it for it in results), 1_000 * reopened, files / 1_000_000]


ROWS = [
    "put in batches of 100, each",
    "put of a version",
    "get",
    "search of a namespace, 10 of 200",
    "search with a filter",
    "delete, with its history",
    "open",
    "files, MB",
]


def main(count: int) -> None:
    """Prints a table in Markdown."""
    ours, theirs = measure(grains, count), measure(sqlite, count)
    print("| ms | GrainStore | SqliteStore |\n| --- | --- | --- |")
    for row, one, two in zip(ROWS, ours, theirs, strict=True):
        print(f"| {row} | {one:.3f} | {two:.3f} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
