"""The package beside mem0ai, the SQLite store of LangGraph and the reference MCP memory: the same memories in each,
one process after the other. `just bench-python` prints the table of docs/benchmarks.md.

Vectors, where a system needs them, come from an embedder that hashes words: no model, no network. The two MCP servers
are spoken to over stdin and stdout, as their clients do.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve()
NODE = HERE.parents[2] / "target/neighbours/node_modules/@modelcontextprotocol/server-memory"
DIMENSIONS = 256
NAMES = ["Ana", "Ben", "Caro", "Dov", "Eva", "Finn", "Gita", "Hugo"]
THINGS = ["green tea", "black coffee", "the night train", "a garden", "old maps", "rye bread"]
PLACES = ["Porto", "Graz", "Kyoto", "Lima", "Oslo"]


def memory(number: int) -> str:
    """Returns a memory; two words of it are in no other."""
    name, thing = NAMES[number % 8], THINGS[number * 7 % 6]
    place = PLACES[number * 31 % 5]
    return f"{name} said on the way to {place} that {thing} of lot {number:05} was better than before"


def question(number: int) -> str:
    """Returns a part of a memory that only it has: the reference memory looks for it as it is."""
    return f"lot {number:05}"


def vector(text: str) -> list[float]:
    """Returns how often words with each hash are in a text."""
    found = [0.0] * DIMENSIONS
    for word in re.findall(r"\w+", text.lower()):
        found[zlib.crc32(word.encode()) % DIMENSIONS] += 1.0
    return found


class System:
    """What is measured: it keeps memories by number, in a folder."""

    def process(self) -> int:
        """Returns the process that has the memories."""
        return os.getpid()

    def close(self) -> None:
        """Ends what was started."""


class Grains(System):
    """The package."""

    def __init__(self, folder: Path) -> None:
        import grainstore

        self.store = grainstore.open(folder / "memory.grains")
        self.addresses: dict[int, str] = {}

    def put_all(self, numbers: list[int]) -> None:
        grains = [{"type": "event", "content": memory(n), "user_id": "ana"} for n in numbers]
        self.addresses.update(zip(numbers, self.store.put_batch(grains), strict=True))

    def search(self, text: str) -> list[str]:
        found = self.store.search(text, limit=10, plain=True, user="ana")
        return [it.grain["content"] for it in found]

    def delete(self, number: int) -> None:
        self.store.delete(self.addresses[number], reason="asked for", authority="the user")


class LangGraph(System):
    """What a store of LangGraph does: `GrainStore` and `SqliteStore`."""

    store: Any

    def put_all(self, numbers: list[int]) -> None:
        from langgraph.store.base import PutOp

        self.store.batch([PutOp(("users", "ana"), str(n), {"text": memory(n)}) for n in numbers])

    def search(self, text: str) -> list[str]:
        found = self.store.search(("users", "ana"), query=text, limit=10)
        return [it.value["text"] for it in found]

    def delete(self, number: int) -> None:
        self.store.delete(("users", "ana"), str(number))


class GrainStore(LangGraph):
    def __init__(self, folder: Path) -> None:
        import grainstore
        from grainstore.langgraph import GrainStore as Store

        self.store = Store(grainstore.open(folder / "memory.grains"))


class SqliteStore(LangGraph):
    def __init__(self, folder: Path) -> None:
        # The module of the interpreter is often built without extensions, which its vectors are.
        import pysqlite3
        from langgraph.store.sqlite import SqliteStore as Store

        path = folder / "memory.db"
        connection = pysqlite3.connect(path, isolation_level=None, check_same_thread=False)
        # As the others: what is acknowledged is on the disk.
        connection.execute("PRAGMA synchronous=FULL")
        embed = lambda texts: [vector(text) for text in texts]  # noqa: E731
        index: Any = {"dims": DIMENSIONS, "embed": embed, "fields": ["text"]}
        self.store = Store(connection, index=index)
        self.store.setup()


class Mem0(System):
    """mem0ai on its own vector store, Qdrant in the process."""

    def __init__(self, folder: Path) -> None:
        os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=str(folder), OPENAI_API_KEY="none")
        from langchain_core.embeddings import Embeddings
        from mem0 import Memory

        class Hashing(Embeddings):
            def embed_documents(self, texts: list[str]) -> list[list[float]]:
                return [vector(text) for text in texts]

            def embed_query(self, text: str) -> list[float]:
                return vector(text)

        place = {"path": str(folder / "qdrant"), "on_disk": True, "embedding_model_dims": DIMENSIONS}
        self.store = Memory.from_config(
            {
                "embedder": {"provider": "langchain", "config": {"model": Hashing()}},
                "vector_store": {"provider": "qdrant", "config": place},
                "history_db_path": str(folder / "history.db"),
            }
        )
        self.ids: dict[int, str] = {}

    def put_all(self, numbers: list[int]) -> None:
        messages = [{"role": "user", "content": memory(n)} for n in numbers]
        # Without `infer` no model is asked: what is added is what was said.
        done = self.store.add(messages, user_id="ana", infer=False)["results"]
        self.ids.update(zip(numbers, (it["id"] for it in done), strict=True))

    def search(self, text: str) -> list[str]:
        found = self.store.search(text, top_k=10, filters={"user_id": "ana"})
        return [it["memory"] for it in found["results"]]

    def delete(self, number: int) -> None:
        self.store.delete(self.ids[number])


class Server(System):
    """A client of an MCP server over stdin and stdout."""

    def __init__(self, command: list[str], **environment: str) -> None:
        pipe = subprocess.PIPE
        environment = {**os.environ, **environment}
        self.server = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=environment
        )
        self.number = 0
        about = {"name": "bench", "version": "1"}
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about}
        self.ask("initialize", hello)
        self.send({"method": "notifications/initialized"})

    def send(self, message: dict[str, Any]) -> None:
        assert self.server.stdin is not None
        self.server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.server.stdin.flush()

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        assert self.server.stdout is not None
        while True:
            answer = json.loads(self.server.stdout.readline())
            if answer.get("id") == self.number:
                return answer["result"]

    def call(self, tool: str, **arguments: Any) -> Any:
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        if result.get("isError"):
            raise RuntimeError(result["content"][0]["text"])
        return result["structuredContent"]

    def process(self) -> int:
        return self.server.pid

    def close(self) -> None:
        assert self.server.stdin is not None
        self.server.stdin.close()
        self.server.wait()


class GrainsServer(Server):
    """`grainstore mcp`, which takes one memory a call."""

    def __init__(self, folder: Path) -> None:
        store = folder / "memory.grains"
        command = [sys.executable, "-m", "grainstore", "--store", str(store)]
        if not store.exists():
            subprocess.run([*command, "init"], check=True, capture_output=True)
        super().__init__([*command, "mcp"])
        self.addresses: dict[int, str] = {}

    def put_all(self, numbers: list[int]) -> None:
        for number in numbers:
            done = self.call("remember", text=memory(number), user="ana")
            self.addresses[number] = done["address"]

    def search(self, text: str) -> list[str]:
        return [json.dumps(self.call("search", text=text, filter={"user": "ana"}, limit=10))]

    def delete(self, number: int) -> None:
        self.call("forget", address=self.addresses[number])
        self.call("forget", address=self.addresses[number], confirm=True)


class ReferenceServer(Server):
    """The memory server of the MCP project, which keeps a graph in one file."""

    def __init__(self, folder: Path) -> None:
        command = ["node", str(NODE / "dist/index.js")]
        super().__init__(command, MEMORY_FILE_PATH=str(folder / "memory.jsonl"))

    def put_all(self, numbers: list[int]) -> None:
        entities = [
            {"name": f"memory {n}", "entityType": "memory", "observations": [memory(n)]}
            for n in numbers
        ]
        self.call("create_entities", entities=entities)

    def search(self, text: str) -> list[str]:
        found = self.call("search_nodes", query=text)
        return [it["observations"][0] for it in found["entities"]]

    def delete(self, number: int) -> None:
        self.call("delete_entities", entityNames=[f"memory {number}"])


SYSTEMS: dict[str, tuple[Callable[[Path], Any], Callable[[], str]]] = {
    "grainstore": (Grains, lambda: version("grainstore")),
    "GrainStore": (GrainStore, lambda: version("langgraph")),
    "SqliteStore": (SqliteStore, lambda: version("langgraph-checkpoint-sqlite")),
    "mem0ai": (Mem0, lambda: version("mem0ai")),
    "grainstore mcp": (GrainsServer, lambda: version("grainstore")),
    "server-memory": (
        ReferenceServer,
        lambda: json.loads((NODE / "package.json").read_text())["version"],
    ),
}

ROWS = {
    "put": "put of all, each, ms",
    "put_one": "put of one more, ms",
    "search": "search, 10 of all, ms",
    "found": "the asked memory among the 10, of 100",
    "delete": "delete, ms",
    "files": "files, MB",
    "peak": "memory at most, MB",
    "start": "start to the first answer, ms",
    "started": "memory after it, MB",
}


def megabytes(process: int, field: str) -> float:
    """Returns a figure of the memory of a process: VmRSS, or VmHWM at most."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.split(f"{field}:")[1].split()[0]) / 1_000


def each(run: Callable[[int], Any], numbers: list[int]) -> float:
    """Returns the median milliseconds of a run."""
    times = []
    for number in numbers:
        start = time.perf_counter()
        run(number)
        times.append(time.perf_counter() - start)
    return 1_000 * statistics.median(times)


def fill(name: str, folder: Path, count: int) -> dict[str, float]:
    """Fills a system and measures it, in this process."""
    system = SYSTEMS[name][0](folder)
    start = time.perf_counter()
    for at in range(0, count, 100):
        system.put_all(list(range(at, min(at + 100, count))))
    put = time.perf_counter() - start
    some = [number * 37 % count for number in range(100)]
    found = sum(any(question(n) in text for text in system.search(question(n))) for n in some)
    figures = {
        "put": 1_000 * put / count,
        "put_one": each(lambda n: system.put_all([n]), list(range(count, count + 50))),
        "search": each(lambda n: system.search(question(n)), some),
        "found": found,
        "delete": each(system.delete, some[:50]),
    }
    figures["peak"] = megabytes(system.process(), "VmHWM")
    system.close()
    files = (it.stat().st_size for it in folder.rglob("*") if it.is_file())
    return {**figures, "files": sum(files) / 1_000_000}


def start(name: str, folder: Path) -> float:
    """Opens a system that is filled, searches once, and returns the memory of its process."""
    system = SYSTEMS[name][0](folder)
    assert system.search(question(77)), name
    resident = megabytes(system.process(), "VmRSS")
    system.close()
    return resident


def apart(*arguments: str) -> Any:
    """Runs a part in a process of its own and returns what it prints."""
    command = [sys.executable, str(HERE), *arguments]
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(told.stdout.splitlines()[-1])


def measure(name: str, count: int) -> dict[str, float]:
    """Returns the figures of a system."""
    with tempfile.TemporaryDirectory() as folder:
        figures = apart("fill", name, folder, str(count))
        starts = []
        for _ in range(5):
            begin = time.perf_counter()
            figures["started"] = apart("start", name, folder)
            starts.append(time.perf_counter() - begin)
        figures["start"] = 1_000 * statistics.median(starts)
    return figures


def shown(name: str, figure: float) -> str:
    """Returns a figure with three digits."""
    return f"{figure:.0f}" if name == "found" or figure >= 100 else f"{figure:.3g}"


def main(count: int, names: list[str]) -> None:
    """Prints a table in Markdown."""
    alone = each(lambda _: subprocess.run([sys.executable, "-c", ""], check=True), list(range(5)))
    print(f"{count:,} memories, Python {sys.version.split()[0]}, which alone starts in {alone:.0f} ms")
    measured = {name: measure(name, count) for name in names or SYSTEMS}
    heads = [f"{name} {SYSTEMS[name][1]()}" for name in measured]
    print("\n| | " + " | ".join(heads) + " |\n| --- |" + " --- |" * len(heads))
    for row, told in ROWS.items():
        cells = (shown(row, figures[row]) for figures in measured.values())
        print(f"| {told} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["fill", name, folder, count]:
            print(json.dumps(fill(name, Path(folder), int(count))))
        case ["start", name, folder]:
            print(json.dumps(start(name, Path(folder))))
        case arguments:
            main(int(arguments[0]) if arguments else 10_000, arguments[1:])
