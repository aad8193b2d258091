"""`GrainStore`: the store interface of LangGraph on a store of grains."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

from langgraph.store.base import (
    BaseStore,
    GetOp,
    IndexConfig,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    ensure_embeddings,
    get_text_at_path,
    tokenize_path,
    validate_op_namespace,
)

import grainstore
from grainstore import Store, errors

from . import _item
from ._filter import passes
from ._item import Namespace, Stored

Key = tuple[Namespace, str]
Vectors = dict[str, list[float]]

_TRIES = 16


class GrainStore(BaseStore):
    """The long-term memory of LangGraph agents in a store of grains.

    Each version of an item is a grain: a put supersedes the version before, and `history` has all of
    them. A delete erases all versions from the files. Items that have expired are not returned,
    whether swept or not. Results without a query come newest first.

    With an `index`, a query ranks by the vectors of its embedder; without one, by words. Items that a
    query does not find follow without a score.

    >>> import grainstore
    >>> memories = GrainStore(grainstore.in_memory())
    >>> memories.put(("ana",), "a", {"text": "likes tea", "n": 1})
    >>> memories.put(("ana",), "b", {"text": "lives in Porto", "n": 2})
    >>> [item.key for item in memories.search(("ana",), filter={"n": {"$gte": 2}})]
    ['b']
    >>> memories.search(("ana",), query="Porto")[0].key
    'b'
    """

    supports_ttl = True

    __slots__ = (
        "_clock",
        "_embeddings",
        "_feed",
        "_lock",
        "_namespaces",
        "_paths",
        "_root",
        "_store",
        "_sweeper",
        "_tokenized",
        "index_config",
        "ttl_config",
    )

    def __init__(
        self,
        store: Store,
        *,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        namespace: str = "langgraph",
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Takes a store and the namespace of its grains. `clock` returns the seconds since 1970."""
        self._store = store
        self._root = namespace
        self._clock = clock
        self._lock = threading.RLock()
        self._feed = store.changes(namespace=namespace, type="state", superseded="include")
        self._namespaces: dict[Namespace, None] = {}
        self._paths: dict[str, None] = {}
        self._sweeper: tuple[threading.Thread, threading.Event] | None = None
        self.index_config = index
        self.ttl_config = ttl
        self._embeddings = ensure_embeddings(index.get("embed")) if index else None
        self._tokenized = [
            (path, path if path == "$" else tokenize_path(path))
            for path in ((index or {}).get("fields") or ["$"])
        ]

    # The operations.

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Executes operations: those that read see the store before those that write.

        Raises `InvalidNamespaceError` before anything is embedded, and `grainstore.errors.Embedding` for
        a vector without a direction, or of another length than `dims`, before anything is stored.
        """
        ops = _valid(ops)
        texts = self._texts(ops)
        vectors: Vectors = {}
        if texts and self._embeddings:
            vectors = self._checked(texts, self._embeddings.embed_documents(texts))
        queries: Vectors = {}
        if self._embeddings:
            asked = _queries(ops)
            queries = self._checked(asked, [self._embeddings.embed_query(it) for it in asked])
        return self._run(ops, vectors, queries)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Executes operations as `batch` does, while other tasks run."""
        ops = _valid(ops)
        texts = self._texts(ops)
        vectors: Vectors = {}
        if texts and self._embeddings:
            vectors = self._checked(texts, await self._embeddings.aembed_documents(texts))
        queries: Vectors = {}
        if self._embeddings:
            asked = _queries(ops)
            answers = await asyncio.gather(*(self._embeddings.aembed_query(it) for it in asked))
            queries = self._checked(asked, answers)
        return await asyncio.to_thread(self._run, ops, vectors, queries)

    def history(self, namespace: Namespace, key: str) -> list[Item]:
        """Returns the versions of an item, oldest first.

        >>> import grainstore
        >>> memories = GrainStore(grainstore.in_memory())
        >>> for drink in ("tea", "milk"):
        ...     memories.put(("ana",), "drink", {"text": drink})
        >>> [item.value["text"] for item in memories.history(("ana",), "drink")]
        ['tea', 'milk']
        """
        current = self._versions(namespace, key)
        if not current:
            return []
        versions = self._store.history(current[0].address)
        return [_as_item(_item.from_grain(version.grain)) for version in versions]

    def sweep_ttl(self) -> int:
        """Erases the items that have expired from the files, and returns how many there were."""
        now = self._now()
        kept = {"namespace": self._root, "type": "state", "expired": True}
        found = self._store.query(**cast("Any", kept))
        expired = [it.grain for it in found if (it.grain.get("valid_to") or now) < now]
        with self._lock:
            self._erase([grain.address for grain in expired])
        return len(expired)

    def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> None:
        """Sweeps in a thread of its own from now on; a second call changes nothing."""
        if self._sweeper:
            return
        configured = (self.ttl_config or {}).get("sweep_interval_minutes")
        seconds = 60 * (sweep_interval_minutes or configured or 5)
        is_over = threading.Event()

        def sweep() -> None:
            while not is_over.wait(seconds):
                self.sweep_ttl()

        thread = threading.Thread(target=sweep, name="ttl-sweeper", daemon=True)
        self._sweeper = thread, is_over
        thread.start()

    def stop_ttl_sweeper(self) -> None:
        """Ends the thread of `start_ttl_sweeper`."""
        if self._sweeper:
            thread, is_over = self._sweeper
            self._sweeper = None
            is_over.set()
            thread.join()

    # Reading.

    def _run(self, ops: list[Op], vectors: Vectors, queries: Vectors) -> list[Result]:
        results: list[Result] = []
        puts: dict[Key, PutOp] = {}
        for op in ops:
            if isinstance(op, GetOp):
                results.append(self._get(op))
            elif isinstance(op, SearchOp):
                results.append(self._search(op, queries))
            elif isinstance(op, ListNamespacesOp):
                results.append(self._list_namespaces(op))
            elif isinstance(op, PutOp):
                puts[op.namespace, op.key] = op
                results.append(None)
            else:
                raise ValueError(f"Unknown operation type: {type(op)}")
        if puts:
            with self._lock:
                self._put(puts, vectors)
        return results

    def _get(self, op: GetOp) -> Item | None:
        found = self._versions(op.namespace, op.key)
        if not found:
            return None
        if op.refresh_ttl:
            self._refresh(found[0])
        return _as_item(found[0])

    def _search(self, op: SearchOp, queries: Vectors) -> list[SearchItem]:
        end = op.offset + op.limit
        found: dict[str, tuple[Stored, float | None]] = {}
        if op.query:
            for stored, score in self._ranked(op, queries.get(op.query), end):
                found[stored.address] = stored, score
        if len(found) < end:
            for stored in self._below(op):
                found.setdefault(stored.address, (stored, None))
                if len(found) >= end:
                    break
        page = list(found.values())[op.offset : end]
        if op.refresh_ttl:
            for stored, _ in page:
                self._refresh(stored)
        return [_as_search_item(stored, score) for stored, score in page]

    def _below(self, op: SearchOp) -> Iterator[Stored]:
        """Returns the items of a search, newest first."""
        path, _ = _item.path_of(self._root, op.namespace_prefix)
        for found in self._store.query(sort="-stored", namespace=path, type="state"):
            stored = _item.from_grain(found.grain)
            if _is_below(stored, op):
                yield stored

    def _ranked(
        self, op: SearchOp, vector: list[float] | None, end: int
    ) -> list[tuple[Stored, float]]:
        """Returns the items that a query finds, best first."""
        path, is_whole = _item.path_of(self._root, op.namespace_prefix)
        within: dict[str, Any] = {"namespace": path, "type": "state"}
        if op.filter or not is_whole:
            within["among"] = [stored.address for stored in self._below(op)]
            if not within["among"]:
                return []
        if vector is None:
            words = self._store.search(op.query or "", limit=end, plain=True, **within)
            return [(_item.from_grain(it.grain), it.score) for it in words]
        self._follow()
        best: dict[str, tuple[Stored, float]] = {}
        for part in list(self._paths):
            for it in self._store.nearest(self._model(part), vector, limit=end, **within):
                score = 2 * it.score - 1
                if it.address not in best or best[it.address][1] < score:
                    best[it.address] = _item.from_grain(it.grain), score
        ranked = sorted(best.values(), key=lambda pair: -pair[1])
        return ranked[:end]

    def _list_namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        self._follow()
        matching = [
            namespace
            for namespace in list(self._namespaces)
            if all(_does_match(it, namespace) for it in op.match_conditions or ())
        ]
        held = {
            namespace[: op.max_depth] if op.max_depth is not None else namespace
            for namespace in matching
            if self._store.count(tag=_item.tag_of(self._root, namespace), type="state")
        }
        return sorted(held)[op.offset : op.offset + op.limit]

    def _versions(self, namespace: Namespace, key: str) -> list[Stored]:
        """Returns the current version of an item; two that were put at once are both current."""
        entity = _item.id_of(self._root, namespace, key)
        page = self._store.query_page(sort="-stored", entity=entity, type="state")
        return [_item.from_grain(found.grain) for found in page]

    def _follow(self) -> None:
        """Notes which namespaces and which parts of values with vectors there have been."""
        with self._lock:
            for change in self._feed:
                if change.grain is not None:
                    stored = _item.from_grain(change.grain)
                    self._namespaces[stored.namespace] = None
                    self._paths.update(dict.fromkeys(stored.paths))

    # Writing.

    def _put(self, puts: dict[Key, PutOp], vectors: Vectors) -> None:
        new: list[tuple[dict[str, Any], dict[str, list[float]]]] = []
        erased: list[str] = []
        for (namespace, key), op in puts.items():
            known = self._versions(namespace, key)
            if op.value is None:
                erased.extend(stored.address for stored in known)
                continue
            parts = {path: vectors[text] for path, text in self._parts(op)}
            if not known:
                new.append((self._grain(op, None, list(parts)), parts))
                continue
            address = self._supersede(known[0], op, list(parts))
            self._keep(address, parts)
            erased.extend(stored.address for stored in known[1:])
        addresses = self._store.put_batch(grain for grain, _ in new)
        for address, (_, parts) in zip(addresses, new, strict=True):
            self._keep(address, parts)
        self._erase(erased)

    def _grain(self, op: PutOp, known: Stored | None, paths: list[str]) -> dict[str, Any]:
        now = self._now()
        return _item.to_grain(
            self._root,
            op.namespace,
            op.key,
            dict(op.value or {}),
            now=now,
            created_at=round(known.created_at.timestamp() * 1_000) if known else now,
            ttl=op.ttl,
            paths=paths,
        )

    def _supersede(self, known: Stored, op: PutOp, paths: list[str]) -> str:
        for _ in range(_TRIES):
            try:
                return self._store.supersede(known.address, self._grain(op, known, paths))
            except errors.Conflict:
                # Another process has put the item meanwhile.
                versions = self._versions(op.namespace, op.key)
                if not versions:
                    break
                known = versions[0]
        return self._store.put(self._grain(op, None, paths))

    def _keep(self, address: str, parts: dict[str, list[float]]) -> None:
        """Stores the vectors of the parts of an item."""
        for path, vector in parts.items():
            self._store.put_embeddings(self._model(path), {address: vector})

    def _erase(self, addresses: list[str]) -> None:
        """Erases all versions of items from the files."""
        versions: dict[str, None] = {}
        for address in addresses:
            history = self._store.history(address)
            versions.update({version.grain.address: None for version in history})
        if versions:
            self._store.delete(*versions, reason="deleted", authority="the agent")

    def _refresh(self, stored: Stored) -> None:
        """Lets the time to live of an item begin anew, unless it has hardly passed."""
        if stored.ttl is None or stored.expires_at is None:
            return
        lifetime = stored.ttl * 60_000
        if stored.expires_at - self._now() > 0.99 * lifetime:
            return
        op = PutOp(stored.namespace, stored.key, stored.value, ttl=stored.ttl)
        parts = {it: self._store.embedding(self._model(it), stored.address) for it in stored.paths}
        with self._lock:
            address = self._supersede(stored, op, stored.paths)
            self._keep(address, cast("Any", {it: found for it, found in parts.items() if found is not None}))

    # Vectors.

    def _texts(self, ops: list[Op]) -> list[str]:
        """Returns the texts that have to be embedded, each once."""
        if not self._embeddings:
            return []
        last = {(op.namespace, op.key): op for op in ops if isinstance(op, PutOp)}
        parts = (part for op in last.values() for part in self._parts(op))
        return list(dict.fromkeys(text for _, text in parts))

    def _parts(self, op: PutOp) -> Iterator[tuple[str, str]]:
        """Returns the parts of the value of an item that are embedded, with their texts."""
        if not self._embeddings or op.value is None or op.index is False:
            return
        fields = self._tokenized
        if op.index is not None:
            fields = [(path, tokenize_path(path)) for path in op.index]
        for path, field in fields:
            texts = get_text_at_path(op.value, field)
            for number, text in enumerate(texts):
                yield (f"{path}.{number}" if len(texts) > 1 else path), text

    def _checked(self, texts: list[str], vectors: list[list[float]]) -> Vectors:
        """Returns the vectors of texts. One without a direction is near nothing, and no cosine of it is a
        number."""
        dims = (self.index_config or {}).get("dims")
        for text, vector in zip(texts, vectors, strict=True):
            length = math.hypot(*vector)
            if dims is not None and len(vector) != dims:
                found = f"{len(vector)} numbers, where the index says {dims}"
            elif length and math.isfinite(length):
                continue
            else:
                found = "no direction: each number is 0" if length == 0 else "a number that is not finite"
            raise errors.Embedding(f"the vector of {text[:80]!r} has {found}")
        return dict(zip(texts, vectors, strict=True))

    def _model(self, path: str) -> str:
        return f"{self._root}:{path}"

    def _now(self) -> int:
        return round(self._clock() * 1_000)


def _valid(ops: Iterable[Op]) -> list[Op]:
    """Returns the operations of a batch, of which none has a label that LangGraph forbids: one refuses
    all of them, and no model is asked before."""
    ops = list(ops)
    for op in ops:
        validate_op_namespace(op)
    return ops


def _queries(ops: list[Op]) -> list[str]:
    asked = (op.query for op in ops if isinstance(op, SearchOp))
    return list(dict.fromkeys(query for query in asked if query))


def _is_below(stored: Stored, op: SearchOp) -> bool:
    prefix = op.namespace_prefix
    return stored.namespace[: len(prefix)] == tuple(prefix) and passes(stored.value, op.filter)


def _does_match(condition: MatchCondition, namespace: Namespace) -> bool:
    path = condition.path
    if len(namespace) < len(path):
        return False
    if condition.match_type == "prefix":
        pairs = zip(namespace, path, strict=False)
    elif condition.match_type == "suffix":
        pairs = zip(reversed(namespace), reversed(path), strict=False)
    else:
        raise ValueError(f"Unsupported match type: {condition.match_type}")
    return all(wanted in ("*", label) for label, wanted in pairs)


def _as_item(stored: Stored) -> Item:
    return Item(
        value=stored.value,
        key=stored.key,
        namespace=stored.namespace,
        created_at=stored.created_at,
        updated_at=stored.updated_at,
    )


def _as_search_item(stored: Stored, score: float | None) -> SearchItem:
    return SearchItem(
        namespace=stored.namespace,
        key=stored.key,
        value=stored.value,
        created_at=stored.created_at,
        updated_at=stored.updated_at,
        score=score,
    )
