"""Async twins, builders, models, vectors, persons and notebooks."""

from __future__ import annotations

import asyncio
import doctest
import inspect
import threading
from array import array
from typing import Any

import pytest

import grainstore
from grainstore import AsyncStore, Store, errors, grains

# Async.


def test_the_async_twin_does_what_the_store_does(store: Store) -> None:
    async def main() -> None:
        twin = AsyncStore(store)
        tea = await twin.remember("tea", subject="ana", relation="likes", user="ana")
        milk = await twin.correct(tea, object="milk", reason="said so")
        assert (await twin.get(milk))["object"] == "milk"
        assert (await twin.search("milk", user="ana")).total == 1
        assert "milk" in str(await twin.recall("milk"))
        assert [it.address async for it in twin.query()] == [milk]
        assert await twin.of_user("ben").count() == 0
        assert len(await twin.history(milk)) == 2
        await twin.delete(milk, reason="asked for", authority="the user")
        with pytest.raises(errors.NotFound):
            await twin.status(milk)

    asyncio.run(main())


def test_other_tasks_run_while_one_waits(store: Store) -> None:
    async def main() -> list[str]:
        twin = AsyncStore(store)
        await asyncio.gather(*(twin.remember(f"note {n}") for n in range(20)))
        return [it.grain["content"] async for it in twin.query(page=7)]

    assert sorted(asyncio.run(main())) == sorted(f"note {n}" for n in range(20))


def test_an_async_program_follows_the_store(store: Store) -> None:
    async def main() -> None:
        twin = AsyncStore(store)
        store.remember("before")
        seen = []

        async def follow() -> None:
            async for change in twin.follow(first=0):
                assert change.grain is not None
                seen.append(change.grain["content"])
                if len(seen) == 1:
                    await twin.remember("after")
                if len(seen) == 2:
                    return

        await asyncio.wait_for(follow(), 60)
        assert seen == ["before", "after"]

    asyncio.run(main())


# Builders.


@pytest.mark.parametrize(
    "grain",
    [
        grains.belief("ana", "likes", "tea", user_id="ana"),
        grains.event("hello", role="user"),
        grains.state({"mood": "good"}),
        grains.workflow(["boil", "pour"], "thirst"),
        grains.action("kettle", {"litres": 1}, "done"),
        grains.observation("cam-1", "camera"),
        grains.goal("learn Portuguese"),
        grains.reasoning("she is thirsty", premises=["she asked for tea"]),
        grains.consensus(["a", "b"], threshold=2, agreement_count=2, dissent_count=0),
        grains.consent("did:web:ana", "did:web:shop", ["store"]),
    ],
    ids=lambda grain: str(grain["type"]),
)
def test_a_builder_makes_a_grain_of_its_type(store: Store, grain: grains.Fields) -> None:
    stored = store.get(store.put(grain))
    assert stored is not None and stored.type == grain["type"]
    assert {name: stored[name] for name in grain} == grain


# Models and vectors.


class Drinks:
    model = "drinks@1"
    dimensions = 2

    def __init__(self) -> None:
        self.threads: set[int] = set()

    def embed(self, texts: list[str]) -> list[list[float]]:
        self.threads.add(threading.get_ident())
        return [[1.0, 0.0] if "tea" in it or "thirsty" in it else [0.0, 1.0] for it in texts]


def test_a_model_of_the_program_embeds_what_is_stored() -> None:
    drinks = Drinks()
    with grainstore.in_memory(embedders=[drinks]) as store:
        tea, train = store.remember("green tea is fine"), store.remember("the train was late")
        store.flush()
        assert store.search("thirsty", limit=1)[0].address == tea
        vector = store.embedding("drinks@1", train)
        assert vector is not None and list(map(float, vector)) == [0.0, 1.0]
    assert len(drinks.threads) >= 1


def test_a_model_that_fails_fails_no_put() -> None:
    class Broken(Drinks):
        def embed(self, texts: list[str]) -> list[list[float]]:
            raise RuntimeError("no weights")

    with grainstore.in_memory(embedders=[Broken()]) as store:
        assert store.get(store.remember("tea")) is not None
        with pytest.raises(errors.Embedder, match="no weights"):
            store.search("thirsty")


def test_an_object_that_is_no_model_is_refused() -> None:
    with pytest.raises(AttributeError):
        grainstore.in_memory(embedders=[object()])  # type: ignore[list-item]


def test_vectors_may_be_lists_arrays_and_numpy_arrays(store: Store) -> None:
    numpy = pytest.importorskip("numpy")
    forms: list[Any] = [
        [3.0, 4.0],
        (3.0, 4.0),
        array("d", [3.0, 4.0]),
        numpy.array([3.0, 4.0]),
        numpy.array([3, 4], dtype="int64"),
        numpy.array([3.0, 4.0], dtype=">f4"),
        numpy.array([3.0, 0.0, 4.0], dtype="f2")[::2],
    ]
    for form in forms:
        address = store.remember("x")
        store.put_embeddings("m", {address: form})
        vector = store.embedding("m", address)
        assert isinstance(vector, numpy.ndarray) and vector.dtype == numpy.float32
        assert vector == pytest.approx([0.6, 0.8])
    assert store.nearest("m", numpy.array([4.0, 3.0]), limit=1)[0].score == pytest.approx(0.98)


def test_a_vector_of_another_length_is_refused(store: Store) -> None:
    address = store.remember("x")
    store.put_embeddings("m", {address: [1.0, 0.0]})
    for vector in ([1.0], [], [0.0, 0.0], [float("nan"), 1.0]):
        with pytest.raises(errors.Embedding):
            store.put_embeddings("m", {address: vector})
    assert store.embedding("other", address) is None


# Persons.


def test_a_sealed_person_is_read_only_while_unlocked() -> None:
    with grainstore.in_memory(master_key=bytes(range(32))) as store:
        early = store.remember("I like tea", user="ana")
        store.add_keys("ana")
        store.unlock("ana")
        assert store.seal("ana") == 1 and store.is_unlocked("ana")
        late = store.remember("I moved to Porto", user="ana")
        store.lock("ana")
        assert store.get([early, late]) == [None, None] and store.search("tea").total == 0
        with pytest.raises(errors.Locked):
            store.remember("I like milk", user="ana")
        store.unlock("ana")
        assert store.get(late) is not None
        with pytest.raises(errors.UserExists):
            store.add_keys("ana")


def test_a_person_has_no_key_without_a_master_key(store: Store) -> None:
    with pytest.raises(errors.Key):
        store.add_keys("ana")


def test_a_person_is_reported_and_erased(store: Store) -> None:
    own = store.remember("I like tea", user="ana")
    other = store.remember("tea", subject="ana", relation="likes", user="ben")
    report = store.person_report("ana")
    assert [it.address for it in report.about] == [own]
    assert [it.address for it in report.mentions] == [other]
    done = store.erase_person("ana", reason="request 17", authority="the DPO")
    assert (done.erased, done.mentions, done.kept) == ([own], [other], [])
    assert store.get(own) is None and store.get(other) is not None
    with pytest.raises(errors.AccessDenied):
        store.of_user("ben").person_report("ana")
    with pytest.raises(errors.Authority):
        store.erase_person("ana", reason="", authority="")


# Documentation.


def is_documented(name: str, it: Any) -> bool:
    if name[0] == "_" or not (callable(it) or isinstance(it, property)):
        return False
    return getattr(it, "__module__", "grainstore").startswith("grainstore")


def test_every_public_name_has_an_example() -> None:
    documented = {
        f"{of.__name__}.{name}": it
        for of in (grainstore, grains, Store, grainstore.Changes)
        for name, it in inspect.getmembers(of)
        if is_documented(name, it)
    }
    assert len(documented) > 80
    assert [name for name, it in documented.items() if ">>>" not in (inspect.getdoc(it) or "")] == []


@pytest.mark.parametrize("of", [grainstore.Grain, grainstore.Note, grainstore.Proof, grainstore.SigningKey])
def test_the_examples_of_the_extension_module_are_true(of: type) -> None:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    runner = doctest.DocTestRunner(optionflags=flags)
    cases = doctest.DocTestFinder().find(of, of.__name__, module=False)  # type: ignore[arg-type]
    for case in cases:
        runner.run(case)
    results = runner.summarize(verbose=False)
    assert results.attempted > 2 and results.failed == 0


# Notebooks.


def test_a_grain_is_a_table_in_a_notebook_and_no_markup(store: Store) -> None:
    grain = store.get(store.remember("<script>alert(1)</script>"))
    assert grain is not None
    told = grain._repr_html_()
    assert told.startswith("<table>") and "<script>" not in told and "&lt;script&gt;" in told


def test_results_are_tables_in_a_notebook_and_no_markup(store: Store) -> None:
    store.put({"type": "event", "content": "<b>tea</b> & scones", "observer_id": "<i>ana</i>"})
    for shown in (store.search("tea"), store.recall("tea")):
        told = shown._repr_html_()
        assert "&lt;b&gt;tea" in told and "<b>" not in told and "<i>" not in told
        assert told.count("<tr>") == 2


# CAL.


def test_a_statement_is_answered_with_its_parameters(store: Store) -> None:
    store.remember("tea", subject="ana", relation="likes", user="ana")
    answer = store.cal("RECALL WHERE subject = $who", who="ana")
    assert answer.is_found and "_cal" in answer.envelope
    assert not store.cal("RECALL WHERE subject = $who", who="ben").is_found
    assert not store.of_user("ben").cal("RECALL WHERE subject = $who", who="ana").is_found
    shown = store.cal("RECALL WHERE subject = $who AS markdown", who="ana")
    assert shown.text is not None and "tea" in str(shown)


def test_a_mistake_in_a_statement_has_a_code_a_place_and_a_hint(store: Store) -> None:
    with pytest.raises(grainstore.GrainstoreError) as raised:
        store.cal("RECALL fact")
    assert (raised.value.code, raised.value.place) == ("CAL-E003", "line 1, column 8")
    assert raised.value.hint
