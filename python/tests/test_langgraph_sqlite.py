"""What LangGraph's tests of its SQLite store ask (`langgraph-checkpoint-sqlite` 3.1.2: `test_store.py`,
`test_async_store.py`, `test_ttl.py`), in meaning, where `test_langgraph_store.py` does not ask it.

What differs on purpose:

- A name of a filter is the name of a field, whatever is in it: SqliteStore reads `user.name` as a path, which
  `{"user": {"name": ...}}` is here as in `InMemoryStore`, and refuses quotes with a `ValueError`.
- Items that a query does not find follow without a score; SqliteStore leaves items without vectors out, and
  without an index it ignores the query.
- The methods without `a` work while an event loop runs; AsyncSqliteStore raises `InvalidStateError`.
- Reading begins the time to live anew once a hundredth of it has passed.

What is not asked, as it is about SQL: migrations, the tables of vectors, patterns of GLOB and which condition an
index of SQLite serves.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from operations import *  # noqa: F403

import grainstore
from grainstore.langgraph import GrainStore

Names = set[tuple[str, ...]]

DIMENSIONS = 997


def characters(texts: list[str]) -> list[list[float]]:
    """An embedder that counts characters; two share a number only if they are far apart in Unicode."""
    vectors = []
    for text in texts:
        vector = [0.0] * DIMENSIONS
        for character, count in Counter(text).items():
            vector[ord(character) % DIMENSIONS] += count
        vectors.append(vector)
    return vectors


def cosine(one: str, two: str) -> float:
    first, second = characters([one, two])
    product = sum(a * b for a, b in zip(first, second, strict=True))
    return product / (math.hypot(*first) * math.hypot(*second))


@pytest.fixture(params=["memory", "file"])
def memories(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[GrainStore]:
    is_file = request.param == "file"
    with grainstore.open(tmp_path / "m") if is_file else grainstore.in_memory() as store:
        yield GrainStore(store)


@pytest.fixture(params=["memory", "file"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[grainstore.Store]:
    is_file = request.param == "file"
    with grainstore.open(tmp_path / "m") if is_file else grainstore.in_memory() as store:
        yield store


def indexed(store: grainstore.Store, *fields: str) -> GrainStore:
    index: Any = {"dims": DIMENSIONS, "embed": characters}
    return GrainStore(store, index={**index, "fields": list(fields)} if fields else index)


def filled(memories: GrainStore, *namespaces: tuple[str, ...]) -> GrainStore:
    for namespace in namespaces:
        memories.put(namespace, "k", {"v": 1})
    return memories


def found(memories: GrainStore, *prefix: str) -> Names:
    return {item.namespace for item in memories.search(prefix, limit=100)}


# Batches.


def test_a_batch_answers_each_operation_in_its_place(memories: GrainStore) -> None:
    memories.put(("test", "foo"), "one", {"data": "first"})
    memories.put(("test", "bar"), "two", {"data": "second"})
    answers = memories.batch(
        [
            SearchOp(("test",), {"data": "first"}, 10, 0),
            PutOp(("test",), "three", {"data": "third"}),
            ListNamespacesOp(None, None, 10, 0),
            PutOp(("test", "bar"), "two", None),
            GetOp(("test", "bar"), "two"),
            GetOp(("test",), "three"),
        ]
    )
    hits, put, names, gone, read, missing = answers
    assert isinstance(hits, list) and [item.key for item in hits] == ["one"]  # type: ignore[union-attr]
    assert (put, gone, missing) == (None, None, None)
    assert names == [("test", "bar"), ("test", "foo")]
    assert isinstance(read, Item) and read.value == {"data": "second"}
    after = memories.batch([GetOp(("test",), "three"), GetOp(("test", "bar"), "two")])
    assert isinstance(after[0], Item) and after[0].value == {"data": "third"} and after[1] is None


def test_a_put_that_deletes_what_is_not_there_does_nothing(memories: GrainStore) -> None:
    assert memories.batch([PutOp(("a",), "k", None), PutOp(("a",), "j", {"v": 1})]) == [None, None]
    assert memories.get(("a",), "k") is None and memories.get(("a",), "j") is not None


@pytest.mark.parametrize("namespace", [("foo.bar",), ("foo", ""), ("foo", 1)])
@pytest.mark.parametrize("kind", ["get", "put", "delete", "search", "prefix", "suffix"])
def test_a_batch_with_a_forbidden_label_does_nothing(
    memories: GrainStore, namespace: Any, kind: str
) -> None:
    op: Any = {
        "get": GetOp(namespace, "k"),
        "put": PutOp(namespace, "k", {"v": 2}),
        "delete": PutOp(namespace, "k", None),
        "search": SearchOp(namespace),
        "prefix": ListNamespacesOp((MatchCondition("prefix", namespace),)),
        "suffix": ListNamespacesOp((MatchCondition("suffix", namespace),)),
    }[kind]
    filled(memories, ("foo", "bar"))
    with pytest.raises(InvalidNamespaceError):
        memories.batch([PutOp(("valid",), "k", {}), op])
    with pytest.raises(InvalidNamespaceError):
        asyncio.run(memories.abatch([PutOp(("valid",), "k", {}), op]))
    item = memories.get(("foo", "bar"), "k")
    assert item is not None and item.value == {"v": 1}
    assert memories.get(("valid",), "k") is None


def test_a_batch_may_search_everything_and_list_by_wildcards(memories: GrainStore) -> None:
    filled(memories, ("foo", "bar"))
    listing = ListNamespacesOp((MatchCondition("prefix", ("foo", "*")),))
    hits, names = memories.batch([SearchOp(()), listing])
    assert isinstance(hits, list) and len(hits) == 1 and names == [("foo", "bar")]


# Namespaces.


def test_a_prefix_ends_at_a_label(memories: GrainStore) -> None:
    foo: Names = {("foo",), ("foo", "child"), ("foo", "child", "deep")}
    bar: Names = {("foobar",), ("foobar", "baz")}
    filled(memories, *foo, *bar, ("foo2",))
    assert found(memories, "foo") == foo == set(memories.list_namespaces(prefix=["foo"]))
    assert found(memories, "foobar") == bar == set(memories.list_namespaces(prefix=("foobar",)))
    assert found(memories, "foo2") == {("foo2",)}
    assert found(memories, "fo") == set() == set(memories.list_namespaces(prefix=("fo",)))
    assert found(memories) == {*foo, *bar, ("foo2",)}


@pytest.mark.parametrize(
    ("label", "decoy"),
    [
        ("user_1", "userX1"),
        ("a%b", "axxb"),
        ("star*", "starX"),
        ("q?m", "qXm"),
        ("br[ack]et", "brXacXket"),
        ("plus+", "plusX"),
        ("it's", "its"),
        ("foo", "Foo"),
        ("alice", "alice\n"),
        ("alice", "malice"),
    ],
)
def test_a_label_is_matched_as_it_is(memories: GrainStore, label: str, decoy: str) -> None:
    filled(memories, (label,), (label, "child"), (decoy,), (decoy, "child"), ("x", decoy))
    assert found(memories, label) == {(label,), (label, "child")}
    assert found(memories, decoy) == {(decoy,), (decoy, "child")}
    assert set(memories.list_namespaces(prefix=[label])) == {(label,), (label, "child")}
    assert memories.list_namespaces(prefix=[label, "child"]) == [(label, "child")]
    assert memories.list_namespaces(suffix=[label]) == [(label,)]


def test_namespaces_are_listed_by_both_ends_and_depth(memories: GrainStore) -> None:
    names = [
        ("u", "test", "documents", "public", "u"),
        ("u", "test", "documents", "private", "u"),
        ("u", "test", "images", "public", "u"),
        ("u", "test", "images", "private", "u"),
        ("u", "prod", "documents", "public", "u"),
        ("u", "prod", "documents", "some", "nesting", "public", "u"),
        ("u", "prod", "documents", "private", "u"),
    ]
    listed = filled(memories, *names).list_namespaces
    assert set(listed(prefix=("u", "test"))) == set(names[:4])
    assert set(listed(suffix=("public", "u"))) == {names[0], names[2], names[4], names[5]}
    assert set(listed(prefix=("u", "test"), suffix=("public", "u"))) == {names[0], names[2]}
    assert len(listed(prefix=("u", "*", "documents"))) == 5
    assert listed(suffix=("some", "*", "public", "u")) == [names[5]]
    assert {len(name) for name in listed(max_depth=3)} == {3}
    assert len(listed(prefix=("u", "*", "documents"), max_depth=4)) == 5
    assert listed(limit=3) + listed(offset=3) == sorted(names)
    for name in names:
        memories.delete(name, "k")
    assert listed() == []


# Filters.


def test_a_filter_takes_no_value_for_a_program(memories: GrainStore) -> None:
    for key, access in (("1", "public"), ("2", "private"), ("3", "O'Brien's")):
        memories.put(("docs",), key, {"access": access})
    attacks = [
        "public' OR '1'='1",
        "public'; --",
        "public' UNION SELECT * FROM store --",
        "public\x00' OR '1'='1",
        "''''",
        "public' OR 'א'='א",
    ]
    for attack in attacks:
        assert memories.search(("docs",), filter={"access": attack}) == []
        assert memories.search(("docs",), filter={f"access') = '{attack}": "public"}) == []
    assert [it.key for it in memories.search(("docs",), filter={"access": "O'Brien's"})] == ["3"]


def test_numbers_are_compared_at_their_limits(memories: GrainStore) -> None:
    for price in (10, 20, 30, -10):
        memories.put(("items",), str(price), {"price": price})

    def prices(operator: str, than: float) -> set[int]:
        hits = memories.search(("items",), filter={"price": {operator: than}})
        return {item.value["price"] for item in hits}

    assert prices("$gt", 15) == {20, 30} and prices("$lt", 0) == {-10}
    assert prices("$lt", math.inf) == prices("$gt", -math.inf) == {-10, 10, 20, 30}
    assert prices("$lt", 10**100) == {-10, 10, 20, 30}
    assert prices("$eq", math.nan) == prices("$gt", math.nan) == set()


def test_truth_is_a_condition(memories: GrainStore) -> None:
    for number in range(3):
        memories.put(("flags",), str(number), {"active": number != 1})
    assert {it.key for it in memories.search(("flags",), filter={"active": True})} == {"0", "2"}
    assert {it.key for it in memories.search(("flags",), filter={"active": False})} == {"1"}


def test_any_text_may_name_a_field(memories: GrainStore) -> None:
    names = ["access-level", "123abc", "user.name", "it's", 'a"b', "ä ö"]
    for name in names:
        memories.put(("docs",), name, {name: "top", "inner": {name: "deep"}})
    for name in names:
        for condition in ({name: "top"}, {"inner": {name: "deep"}}):
            assert [it.key for it in memories.search(("docs",), filter=condition)] == [name]
    assert memories.search(("docs",), filter={"inner.123abc": "deep"}) == []


def test_pages_of_a_search_are_apart(memories: GrainStore) -> None:
    for number in range(5):
        memories.put(("a", str(number % 2)), str(number), {"tags": ["draft", number]})
    pages = [memories.search(("a",), limit=2, offset=offset) for offset in (0, 2, 4)]
    keys = [item.key for page in pages for item in page]
    assert sorted(keys) == ["0", "1", "2", "3", "4"] and [len(page) for page in pages] == [2, 2, 1]
    assert [it.key for it in memories.search(("a",), filter={"tags": ["draft", 3]})] == ["3"]


# Vectors.


@pytest.mark.parametrize("query", ["aaa", "bbb", "ccc", "abcd", "poisson"])
def test_a_score_is_the_cosine(opened: grainstore.Store, query: str) -> None:
    memories = indexed(opened, "text")
    memories.put(("a",), "k", {"text": "aaa"})
    (item,) = memories.search((), query=query)
    assert item.score == pytest.approx(cosine("aaa", query), abs=1e-3)


def test_a_new_version_is_found_by_its_own_text(opened: grainstore.Store) -> None:
    memories = indexed(opened)
    memories.put(("a",), "1", {"text": "zany zebra Xerxes"})
    memories.put(("a",), "2", {"text": "something about dogs"})
    memories.put(("a",), "3", {"text": "text about birds"})

    def score(query: str) -> float:
        scores = {item.key: item.score for item in memories.search(("a",), query=query)}
        return scores["1"] or 0.0

    assert memories.search(("a",), query="Zany Xerxes")[0].key == "1"
    before = score("Zany Xerxes")
    memories.put(("a",), "1", {"text": "new text about dogs"})
    assert score("Zany Xerxes") < before < score("new text about dogs") + 1
    assert score("new text about dogs") > score("Zany Xerxes")
    memories.put(("a",), "4", {"text": "new text about dogs"}, index=False)
    few = memories.search(("a",), query="new text about dogs", limit=3)
    assert "4" not in {item.key for item in few}


def test_a_query_is_filtered(opened: grainstore.Store) -> None:
    memories = indexed(opened, "text")
    for key, text, color, score in (
        ("1", "red apple", "red", 4.5),
        ("2", "red car", "red", 3.0),
        ("3", "green apple", "green", 4.0),
        ("4", "blue car", "blue", 3.5),
    ):
        memories.put(("a",), key, {"text": text, "color": color, "score": score})

    def keys(query: str, condition: dict[str, Any]) -> list[str]:
        return [item.key for item in memories.search(("a",), query=query, filter=condition)]

    assert keys("apple", {"color": "red"}) == ["1", "2"]
    assert keys("car", {"color": "red"}) == ["2", "1"]
    assert keys("bbbbluuu", {"score": {"$gt": 3.2}})[0] == "4"
    assert sorted(keys("bbbbluuu", {"score": {"$gt": 3.2}})) == ["1", "3", "4"]
    assert keys("apple", {"score": {"$gte": 4.0}, "color": "green"}) == ["3"]


def test_pages_of_a_query_are_apart_and_descend(opened: grainstore.Store) -> None:
    memories = indexed(opened, "text")
    for number in range(5):
        memories.put(("a",), str(number), {"text": "test" + "x" * number})
    whole = memories.search(("a",), query="test", limit=10)
    pages = [memories.search(("a",), query="test", limit=2, offset=at) for at in (0, 2, 4)]
    assert [item.key for page in pages for item in page] == [item.key for item in whole]
    scores = [item.score or 0.0 for item in whole]
    assert len(set(scores)) == 5 and scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("query", ["", None, "test " * 100, "test!@#$%^&*()"])
def test_any_query_is_answered(opened: grainstore.Store, query: str | None) -> None:
    for memories in (indexed(opened), GrainStore(opened)):
        memories.put(("a",), "k", {"text": "test document"})
        assert [item.key for item in memories.search(("a",), query=query)] == ["k"]


def test_the_best_of_several_parts_is_the_score(opened: grainstore.Store) -> None:
    memories = indexed(opened, "one", "two", "four")
    memories.put(("a",), "1", {"two": "xxx", "three": "yyy", "four": "zzz"})
    memories.put(("a",), "2", {"one": "uuu", "two": "vvv", "three": "www", "four": "xxx"})

    def scores(query: str) -> dict[str, float]:
        return {it.key: it.score or 0.0 for it in memories.search(("a",), query=query)}

    assert scores("xxx") == {"1": pytest.approx(1, abs=1e-3), "2": pytest.approx(1, abs=1e-3)}
    assert next(iter(scores("uuu"))) == "2" and scores("uuu")["1"] < 0.9
    assert next(iter(scores("zzz"))) == "1" and scores("zzz")["2"] < 0.9
    assert max(scores("www").values()) < 0.9


def test_a_put_chooses_the_parts_of_its_item(opened: grainstore.Store) -> None:
    memories = indexed(opened, "other")
    memories.put(("a",), "3", {"k0": "aaa", "k1": "bbb", "k2": "ccc"}, index=["k0", "k1"])
    memories.put(("a",), "4", {"k0": "eee", "k1": "bbb", "k3": "ggg"}, index=["k1", "k3"])

    def ranked(query: str) -> list[tuple[str, float]]:
        return [(it.key, it.score or 0.0) for it in memories.search(("a",), query=query)]

    assert [key for key, _ in ranked("aaa")] == ["3", "4"]
    assert [key for key, _ in ranked("ggg")] == ["4", "3"]
    assert [score for _, score in ranked("bbb")] == pytest.approx([1, 1], abs=1e-3)
    assert max(score for _, score in ranked("ccc")) < 0.9
    memories.put(("a",), "5", {"k0": "hhh"}, index=False)
    assert {item.key for item in memories.search(("a",))} == {"3", "4", "5"}


@pytest.mark.parametrize("is_indexed", [True, False])
def test_text_of_any_script_finds_itself(opened: grainstore.Store, is_indexed: bool) -> None:
    memories = indexed(opened) if is_indexed else GrainStore(opened)
    texts = ["这是中文", "これは日本語です", "이건 한국어야", "Это русский", "यह रूसी है"]
    for text in texts:
        memories.put(("u", "memories"), text, {"text": text})
    for text in texts:
        assert memories.search(("u", "memories"), query=text)[0].key == text


# Async.


def test_many_calls_at_once_are_all_answered(memories: GrainStore) -> None:
    async def main() -> list[Any]:
        calls: list[Any] = []
        for number in range(100):
            name, key = ("test", str(number % 2)), f"key {number % 20}"
            calls += [
                memories.aput(name, key, {"n": number}),
                memories.aget(name, key),
                memories.alist_namespaces(max_depth=1 + number % 3),
                memories.asearch(("test",)),
                memories.adelete(name, key),
            ]
        return await asyncio.gather(*calls)

    assert len(asyncio.run(main())) == 500


def test_a_forbidden_label_fails_its_own_call_only(memories: GrainStore) -> None:
    async def main() -> None:
        await memories.aput(("foo", "bar"), "k", {"v": 1})
        valid, invalid = await asyncio.gather(
            memories.aget(("foo", "bar"), "k"),
            memories.aget(("foo.bar",), "k"),
            return_exceptions=True,
        )
        assert isinstance(valid, Item) and valid.value == {"v": 1}
        assert isinstance(invalid, InvalidNamespaceError)

    asyncio.run(main())


def test_methods_that_wait_work_while_a_loop_runs(memories: GrainStore) -> None:
    async def main() -> None:
        memories.put(("a",), "k", {"v": 1})
        assert memories.get(("a",), "k") == await memories.aget(("a",), "k")

    asyncio.run(main())


# The time to live.


def test_the_time_to_live_of_a_put_stands_for_the_default(opened: grainstore.Store) -> None:
    put_at = time.time() - 3_600
    memories = GrainStore(opened, clock=lambda: put_at, ttl={"default_ttl": 30})
    memories.put(("a",), "default", {"v": 1})
    memories.put(("a",), "longer", {"v": 1}, ttl=90)
    memories.put(("a",), "without", {"v": 1}, ttl=None)
    now = GrainStore(opened)
    assert {item.key for item in now.search(("a",), refresh_ttl=False)} == {"longer", "without"}
    assert now.sweep_ttl() == 1


def test_a_search_refreshes_what_it_returns_if_it_is_asked_to(opened: grainstore.Store) -> None:
    put_at = time.time() - 3_600
    GrainStore(opened, clock=lambda: put_at).put(("a",), "k", {"v": 1}, ttl=90)
    memories, later = GrainStore(opened), GrainStore(opened, clock=lambda: time.time() + 3_600)

    async def search(refresh_ttl: bool) -> None:
        assert len(await memories.asearch(("a",), refresh_ttl=refresh_ttl)) == 1

    asyncio.run(search(False))
    assert later.sweep_ttl() == 1
    GrainStore(opened, clock=lambda: put_at).put(("a",), "k", {"v": 1}, ttl=90)
    asyncio.run(search(True))
    assert later.sweep_ttl() == 0
    assert memories.get(("a",), "k") is not None


def test_the_sweeper_erases_while_the_program_goes_on(opened: grainstore.Store) -> None:
    put_at = time.time() - 3_600
    GrainStore(opened, clock=lambda: put_at).put(("a",), "k", {"v": 1}, ttl=1)
    memories = GrainStore(opened, ttl={"sweep_interval_minutes": 1 / 6_000})
    memories.start_ttl_sweeper()
    end = time.monotonic() + 60
    while opened.count(expired=True, superseded="include") and time.monotonic() < end:
        time.sleep(0.01)
    memories.stop_ttl_sweeper()
    assert opened.count(expired=True, superseded="include") == 0
