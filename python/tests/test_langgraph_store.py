"""`GrainStore` beside LangGraph's own store in memory, and what only it does."""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections.abc import Iterator
from typing import Any

import pytest
from operations import *  # noqa: F403
from langgraph.store.memory import InMemoryStore

import grainstore
from grainstore import errors
from grainstore.langgraph import GrainStore

# More in a campaign: GRAINSTORE_TIMES=10 gives 10,000 batches.
BATCHES = 1_000 * int(os.environ.get("GRAINSTORE_TIMES", "1"))

NAMESPACES = [("a",), ("a", "b"), ("a", "b", "c"), ("ab",), ("a:b",), ("é", "ö%"), ("b", "a")]
KEYS = ["k", "K", "k:1", "", "e\u0301", "é"]


@pytest.fixture
def memories(store: grainstore.Store) -> GrainStore:
    return GrainStore(store)


def letters(texts: list[str]) -> list[list[float]]:
    """An embedder that counts letters."""
    return [[1.0 + text.lower().count(letter) for letter in "abcdefghij"] for text in texts]


def plain(item: Any) -> Any:
    return item and (item.namespace, item.key, item.value)


class Model:
    """The answers of LangGraph's store in memory, as far as it agrees with its SQL stores: what was put
    last comes first, and a namespace without items is none."""

    def __init__(self) -> None:
        self.memory = InMemoryStore()
        self.order: list[tuple[tuple[str, ...], str]] = []

    def batch(self, ops: list[Op]) -> list[Any]:
        whole: list[Op] = []
        for op in ops:
            if isinstance(op, SearchOp):
                op = op._replace(limit=10_000, offset=0)
            elif isinstance(op, ListNamespacesOp):
                op = op._replace(limit=10_000, offset=0, max_depth=None)
            elif isinstance(op, GetOp) and op.namespace not in self.memory._data:
                op = GetOp(("nowhere",), op.key)
            whole.append(op)
        answers = self.memory.batch(whole)
        rank = {name: number for number, name in enumerate(self.order)}
        held = {namespace for namespace, _ in self.order}
        results = []
        for op, answer in zip(ops, answers, strict=True):
            if isinstance(op, SearchOp):
                answer.sort(key=lambda it: -rank[it.namespace, it.key])
                results.append([plain(it) for it in answer[op.offset : op.offset + op.limit]])
            elif isinstance(op, ListNamespacesOp):
                cut = sorted({name[: op.max_depth] for name in answer if name in held})
                results.append(cut[op.offset : op.offset + op.limit])
            else:
                results.append(plain(answer))
        puts = {(op.namespace, op.key): op for op in ops if isinstance(op, PutOp)}
        # What replaces an item is stored as it is put, and new items together after these.
        known = [name for name in puts if name in rank]
        for name in known + [name for name in puts if name not in rank]:
            if name in self.order:
                self.order.remove(name)
            if puts[name].value is not None:
                self.order.append(name)
        return results


def value(chance: random.Random, depth: int = 0) -> Any:
    kinds = 7 if depth < 3 else 5
    match chance.randrange(kinds):
        case 0:
            return chance.choice([None, True, False])
        case 1:
            return chance.randrange(-3, 4)
        case 2:
            return chance.choice([0.5, -1.25, 1e300])
        case 3 | 4:
            return chance.choice(["", "tea", "e\u0301", "ü", "\ufeffx", "a b c"])
        case 5:
            return [value(chance, depth + 1) for _ in range(chance.randrange(3))]
        case _:
            return {chance.choice("xyz"): value(chance, depth + 1) for _ in range(chance.randrange(3))}


def condition(chance: random.Random) -> dict[str, Any] | None:
    number = chance.randrange(-3, 4)
    return chance.choice(
        [
            None,
            None,
            {"n": number},
            {"n": {"$gt": number}},
            {"n": {"$gte": number, "$lt": number + 2}},
            {"n": {"$ne": number}, "kind": "tea"},
            {"kind": {"$eq": "tea"}},
            {"inner": {"n": {"$lte": number}}},
            {"list": [1, number]},
            {"missing": None},
        ]
    )


def operation(chance: random.Random) -> Op:
    namespace = chance.choice(NAMESPACES)
    match chance.randrange(8):
        case 0 | 1:
            return GetOp(namespace, chance.choice(KEYS))
        case 2:
            prefix = namespace[: chance.randrange(len(namespace) + 1)]
            limit, offset = chance.randrange(1, 6), chance.randrange(3)
            return SearchOp(prefix, condition(chance), limit, offset)
        case 3:
            path = tuple(chance.choice(["*", label]) for label in namespace)
            kind: Any = chance.choice(["prefix", "suffix"])
            conditions = chance.choice([None, (MatchCondition(kind, path),)])
            depth = chance.choice([None, 1, 2])
            return ListNamespacesOp(conditions, depth, chance.randrange(1, 9), chance.randrange(3))
        case 4:
            return PutOp(namespace, chance.choice(KEYS), None)
        case _:
            number = chance.randrange(-3, 4)
            fields = {"n": number, "kind": chance.choice(["tea", "milk"]), "inner": {"n": number}}
            fields |= {"list": [1, number], "any": value(chance)}
            return PutOp(namespace, chance.choice(KEYS), fields)


def batches(seed: int, count: int) -> Iterator[list[Op]]:
    chance = random.Random(seed)
    for _ in range(count):
        yield [operation(chance) for _ in range(chance.randrange(1, 6))]


def answers(results: list[Any]) -> list[Any]:
    return [
        [plain(it) if isinstance(it, Item) else it for it in result]
        if isinstance(result, list)
        else plain(result)
        for result in results
    ]


def test_random_batches_have_the_answers_of_langgraphs_own_store(memories: GrainStore) -> None:
    model = Model()
    for number, ops in enumerate(batches(1, BATCHES)):
        assert answers(memories.batch(ops)) == model.batch(ops), (number, ops)


def test_random_batches_have_the_same_answers_asynchronously(memories: GrainStore) -> None:
    async def run() -> None:
        model = Model()
        for number, ops in enumerate(batches(2, BATCHES)):
            assert answers(await memories.abatch(ops)) == model.batch(ops), (number, ops)

    asyncio.run(run())


def test_vectors_rank_as_in_langgraphs_own_store(store: grainstore.Store) -> None:
    chance = random.Random(3)
    index: Any = {"dims": 10, "embed": letters, "fields": ["text", "tags[*]"]}
    ours, theirs = GrainStore(store, index=index), InMemoryStore(index=index)
    word = lambda: "".join(chance.choices("abcdefghij", k=9))  # noqa: E731
    for number in range(60):
        fields = {"text": word(), "tags": [word() for _ in range(number % 4)], "n": number}
        for it in (ours, theirs):
            it.put(("d", str(number % 3)), str(number), fields)
    for number in range(60):
        query, prefix = word(), chance.choice([("d",), ("d", "1"), ()])
        few: Any = chance.choice([None, {"n": {"$lt": 30}}])
        limit = chance.randrange(1, 12)
        one, two = (it.search(prefix, query=query, filter=few, limit=limit) for it in (ours, theirs))
        assert [it.score for it in one] == pytest.approx([it.score for it in two], abs=1e-5)
        for mine, other in zip(one, two, strict=True):
            assert mine.key == other.key or mine.score == pytest.approx(other.score, abs=1e-5)


def test_an_item_comes_back_as_it_was_put(memories: GrainStore) -> None:
    memories.put(("a",), "k", {"none": None, "text": "e\u0301", "deep": [[{"x": None}]]})
    item = memories.get(("a",), "k")
    assert item is not None and item.key == "k" and item.namespace == ("a",)
    assert item.value == {"none": None, "text": "e\u0301", "deep": [[{"x": None}]]}
    assert item.created_at == item.updated_at


def test_the_time_of_making_stays_and_that_of_change_moves(store: grainstore.Store) -> None:
    now = 1_000.0
    memories = GrainStore(store, clock=lambda: now)
    memories.put(("a",), "k", {"n": 1})
    now = 2_000.0
    memories.put(("a",), "k", {"n": 2})
    item = memories.get(("a",), "k")
    assert item is not None
    assert (item.created_at.timestamp(), item.updated_at.timestamp()) == (1_000.0, 2_000.0)


def test_each_version_of_an_item_stays_in_its_history(memories: GrainStore) -> None:
    for number in range(3):
        memories.put(("a",), "k", {"n": number})
    assert [item.value["n"] for item in memories.history(("a",), "k")] == [0, 1, 2]
    assert memories.history(("a",), "other") == []


def test_a_deleted_item_is_gone_with_its_history(
    memories: GrainStore, store: grainstore.Store
) -> None:
    memories.put(("a",), "k", {"text": "a secret"})
    memories.put(("a",), "k", {"text": "another secret"})
    memories.delete(("a",), "k")
    assert memories.get(("a",), "k") is None and memories.list_namespaces() == []
    assert store.count(superseded="include") == 0 and store.search("secret").total == 0
    memories.put(("a",), "k", {"text": "a secret"})
    assert len(memories.history(("a",), "k")) == 1


def test_and_and_or_combine_conditions(memories: GrainStore) -> None:
    for number in range(5):
        memories.put(("a",), str(number), {"n": number, "even": number % 2 == 0})
    either = {"$or": [{"n": {"$lt": 1}}, {"$and": [{"even": True}, {"n": {"$gt": 3}}]}]}
    assert {item.key for item in memories.search(("a",), filter=either)} == {"0", "4"}
    with pytest.raises(ValueError, match="Unsupported operator"):
        memories.search(("a",), filter={"n": {"$near": 1}})


def test_a_query_without_an_index_ranks_by_words(memories: GrainStore) -> None:
    memories.put(("a",), "1", {"text": "she lives in Porto"})
    memories.put(("a",), "2", {"text": "she likes tea"})
    memories.put(("a",), "3", {"text": "it rains"})
    found = memories.search(("a",), query="Porto")
    assert [item.key for item in found] == ["1", "3", "2"]
    assert [item.score is None for item in found] == [False, True, True]


def test_an_item_that_is_not_indexed_follows_without_a_score(store: grainstore.Store) -> None:
    memories = GrainStore(store, index={"dims": 10, "embed": letters})
    memories.put(("a",), "1", {"text": "aaa"})
    memories.put(("a",), "2", {"text": "bbb"}, index=False)
    memories.put(("a",), "1", {"text": "aac"}, index=["text"])
    found = memories.search(("a",), query="aaa")
    assert [(item.key, item.score is None) for item in found] == [("1", False), ("2", True)]


@pytest.mark.parametrize(
    "vector, fault",
    [
        ([0.0] * 3, "no direction"),
        ([float("nan")] * 3, "not finite"),
        ([1.0, float("inf"), 1.0], "not finite"),
        ([1.0, 0.0], "2 numbers, where the index says 3"),
        ([], "0 numbers"),
    ],
    ids=str,
)
def test_a_vector_that_cannot_be_kept_is_refused_before_anything_is_stored(
    store: grainstore.Store, vector: list[float], fault: str
) -> None:
    def embed(texts: list[str]) -> list[list[float]]:
        return [vector if text == "nothing" else [1.0, 0.0, 0.0] for text in texts]

    memories = GrainStore(store, index={"dims": 3, "embed": embed, "fields": ["text"]})
    memories.put(("a",), "k", {"text": "first"})
    some: list[Op] = [PutOp(("a",), "j", {"text": "x"}), PutOp(("a",), "k", {"text": "nothing"})]
    with pytest.raises(errors.Embedding, match="vector of 'nothing'"):
        memories.batch(some)
    with pytest.raises(errors.Embedding, match=fault):
        asyncio.run(memories.abatch(some))
    with pytest.raises(errors.Embedding, match="vector of 'nothing'"):
        memories.search(("a",), query="nothing")
    assert [it.value for it in memories.history(("a",), "k")] == [{"text": "first"}]
    assert memories.get(("a",), "j") is None


def test_labels_are_checked_before_anything_is_embedded(store: grainstore.Store) -> None:
    asked: list[str] = []

    def embed(texts: list[str]) -> list[list[float]]:
        asked.extend(texts)
        return letters(texts)

    memories = GrainStore(store, index={"dims": 10, "embed": embed})
    some: list[Op] = [PutOp(("a",), "k", {"n": 1}), SearchOp(("a",), query="tea"), GetOp(("a.b",), "k")]
    with pytest.raises(InvalidNamespaceError):
        memories.batch(some)
    with pytest.raises(InvalidNamespaceError):
        asyncio.run(memories.abatch(some))
    assert asked == [] and store.count() == 0


def test_an_item_that_has_expired_is_not_returned_and_is_swept(store: grainstore.Store) -> None:
    an_hour_ago = GrainStore(store, clock=lambda: time.time() - 3_600)
    an_hour_ago.put(("a",), "old", {"n": 1}, ttl=30)
    an_hour_ago.put(("a",), "new", {"n": 2}, ttl=90)
    memories = GrainStore(store)
    assert memories.get(("a",), "old") is None
    assert [item.key for item in memories.search(("a",), refresh_ttl=False)] == ["new"]
    assert memories.sweep_ttl() == 1 and memories.sweep_ttl() == 0
    assert store.count(expired=True, superseded="include") == 1


def test_reading_lets_the_time_to_live_begin_anew(store: grainstore.Store) -> None:
    now = time.time() - 3_600
    index: Any = {"dims": 10, "embed": letters}
    memories = GrainStore(store, clock=lambda: now, ttl={"default_ttl": 90}, index=index)
    memories.put(("a",), "k", {"text": "aaa"})
    now = time.time()
    memories.get(("a",), "k", refresh_ttl=False)
    assert len(memories.history(("a",), "k")) == 1
    memories.get(("a",), "k")
    memories.get(("a",), "k")
    later = [it.expires_at for it in memories._versions(("a",), "k")]
    assert later == [pytest.approx((now + 90 * 60) * 1_000, abs=2)]
    assert memories.search(("a",), query="aaa")[0].score is not None


def test_the_sweeper_is_a_thread_that_ends(memories: GrainStore) -> None:
    memories.start_ttl_sweeper(1_000)
    memories.start_ttl_sweeper(1_000)
    memories.stop_ttl_sweeper()
    memories.stop_ttl_sweeper()


def test_long_and_deep_namespaces_are_told_apart(memories: GrainStore) -> None:
    deep = tuple(f"label {number}" for number in range(100))
    names = [deep, (*deep, "x"), ("l" * 1_000,), ("l" * 1_001,), ("l" * 1_000, "x")]
    for number, name in enumerate(names):
        memories.put(name, "k" * 2_000, {"n": number})
    for number, name in enumerate(names):
        item = memories.get(name, "k" * 2_000)
        assert item is not None and item.value == {"n": number}
        below = [it.value["n"] for it in memories.search(name)]
        assert sorted(below) == [at for at, it in enumerate(names) if it[: len(name)] == name]
    assert memories.list_namespaces() == sorted(names)


@pytest.mark.parametrize("namespace", [(), ("a.b",), ("",), ("langgraph",), ("a\x00",), (1,)])
def test_a_namespace_that_langgraph_forbids_is_refused(
    memories: GrainStore, namespace: Any
) -> None:
    with pytest.raises(InvalidNamespaceError):
        memories.put(namespace, "k", {})


def test_two_stores_on_one_folder_see_each_other(folder: Any) -> None:
    with grainstore.open(folder) as one, grainstore.open(folder) as two:
        first, second = GrainStore(one), GrainStore(two)
        assert second.list_namespaces() == []
        first.put(("a",), "k", {"n": 1})
        second.put(("a",), "k", {"n": 2})
        item = first.get(("a",), "k")
        assert item is not None and item.value == {"n": 2}
        assert second.list_namespaces() == [("a",)]


def test_other_grains_of_the_store_are_no_items(
    memories: GrainStore, store: grainstore.Store
) -> None:
    store.remember("hello", namespace="langgraph:a")
    store.remember("hello")
    memories.put(("a",), "k", {"n": 1})
    assert len(memories.search(())) == 1 and memories.list_namespaces() == [("a",)]
