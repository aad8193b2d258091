"""`GrainSaver`: LangGraph's own conformance tests, a graph, and what they leave out."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest

pytest.importorskip("langgraph.checkpoint.conformance")

from langgraph.channels.delta import DeltaChannel  # noqa: E402
from langgraph.checkpoint.base import empty_checkpoint  # noqa: E402
from langgraph.checkpoint.base.id import uuid6  # noqa: E402
from langgraph.checkpoint.conformance import checkpointer_test, validate  # noqa: E402
from langgraph.checkpoint.memory import InMemorySaver  # noqa: E402
from langgraph.checkpoint.serde.types import _DeltaSnapshot  # noqa: E402
from langgraph.graph import START, StateGraph  # noqa: E402
from langgraph.types import Command, interrupt  # noqa: E402

import grainstore  # noqa: E402
from grainstore.langgraph import GrainSaver  # noqa: E402


def thread(name: str) -> Any:
    return {"configurable": {"thread_id": name}}


def test_it_passes_the_conformance_tests_of_langgraph() -> None:
    @checkpointer_test(name="GrainSaver")
    async def saver() -> AsyncGenerator[GrainSaver, None]:
        with grainstore.in_memory() as store:
            yield GrainSaver(store)

    report = asyncio.run(validate(saver))
    faults = {name: it.failures for name, it in report.results.items() if not it.passed}
    assert faults == {}
    assert all(it.detected for it in report.results.values())
    assert sum(it.tests_passed for it in report.results.values()) >= 81


class Talk(TypedDict):
    turns: Annotated[list[str], lambda old, new: old + new]


def talk(saver: Any) -> Any:
    builder = StateGraph(Talk)
    builder.add_node("ask", lambda state: {"turns": [interrupt("who?")]})
    builder.add_node("greet", lambda state: {"turns": [f"hello {state['turns'][-1]}"]})
    builder.add_edge(START, "ask").add_edge("ask", "greet")
    return builder.compile(checkpointer=saver)


def test_a_graph_is_resumed_by_another_process(folder: Path) -> None:
    with grainstore.open(folder) as store:
        told = talk(GrainSaver(store)).invoke({"turns": ["start"]}, thread("a"))
        assert told["__interrupt__"][0].value == "who?"
    with grainstore.open(folder) as store:
        told = talk(GrainSaver(store)).invoke(Command(resume="ana"), thread("a"))
        assert told["turns"] == ["start", "ana", "hello ana"]


def test_the_states_of_a_graph_are_those_of_langgraphs_own_saver(store: grainstore.Store) -> None:
    ours, theirs = talk(GrainSaver(store)), talk(InMemorySaver())
    for graph in (ours, theirs):
        graph.invoke({"turns": ["start"]}, thread("a"))
        graph.invoke(Command(resume="ana"), thread("a"))
    states = [
        [(it.values, it.next, it.metadata["step"]) for it in graph.get_state_history(thread("a"))]
        for graph in (ours, theirs)
    ]
    assert states[0] == states[1] and len(states[0]) == 4


def test_a_value_of_several_megabytes_is_kept_in_parts(store: grainstore.Store) -> None:
    large = "x" * 3_000_000
    graph = talk(GrainSaver(store))
    graph.invoke({"turns": [large]}, thread("a"))
    assert graph.get_state(thread("a")).values["turns"] == [large]


def test_checkpoints_are_not_found_by_a_search_or_a_recall(store: grainstore.Store) -> None:
    talk(GrainSaver(store)).invoke({"turns": ["green tea"]}, thread("porto"))
    for words in ("tea", "porto", "langgraph checkpoints", "ask"):
        assert store.search(words).total == 0 and not store.recall(words)


def test_a_deleted_thread_leaves_nothing(store: grainstore.Store) -> None:
    saver = GrainSaver(store)
    talk(saver).invoke({"turns": ["secret"]}, thread("a"))
    saver.delete_thread("a")
    assert store.count(superseded="include", expired=True) == 0


def test_erasing_a_run_keeps_the_values_that_others_need(store: grainstore.Store) -> None:
    saver = GrainSaver(store)
    graph = talk(saver)
    graph.invoke({"turns": ["start"]}, thread("a") | {"metadata": {"run_id": "one"}})
    graph.invoke(Command(resume="ana"), thread("a") | {"metadata": {"run_id": "two"}})
    before = graph.get_state(thread("a")).values
    saver.delete_for_runs(["one"])
    assert graph.get_state(thread("a")).values == before


def append(state: list[str], writes: list[list[str]]) -> list[str]:
    return state + [turn for write in writes for turn in write]


class Deltas(TypedDict):
    turns: Annotated[list[str], DeltaChannel(append)]


def test_pruning_keeps_what_a_delta_channel_is_rebuilt_from(store: grainstore.Store) -> None:
    saver = GrainSaver(store)
    builder = StateGraph(Deltas)
    builder.add_node("echo", lambda state: {"turns": [f"echo {len(state['turns'])}"]})
    builder.add_edge(START, "echo")
    graph = builder.compile(checkpointer=saver)
    for number in range(3):
        graph.invoke({"turns": [str(number)]}, thread("a"))
    before = graph.get_state(thread("a")).values
    assert len(before["turns"]) == 6
    saver.prune(["a"])
    assert graph.get_state(thread("a")).values == before
    with pytest.raises(ValueError, match="Unknown strategy"):
        saver.prune(["a"], strategy="some")


def test_the_history_of_a_delta_channel_is_that_of_langgraphs_own_saver(
    store: grainstore.Store,
) -> None:
    """The demands of the optional group `delta_channel_history` in the repository: the nearest value of
    each channel, and the writes since then, the oldest first and those of one step by the path of the task."""
    chance = random.Random(4)
    for number in range(30):
        savers: list[Any] = [GrainSaver(store), InMemorySaver()]
        configs = [{"configurable": {"thread_id": f"t{number}", "checkpoint_ns": ""}}] * 2
        for step in range(6):
            checkpoint = {**empty_checkpoint(), "id": str(uuid6(clock_seq=-1))}
            values = {it: chance.choice([None, None, [step], _DeltaSnapshot([step])]) for it in "ab"}
            checkpoint["channel_values"] = {it: value for it, value in values.items() if value}
            versions = dict.fromkeys(checkpoint["channel_values"], f"{step + 1:032}.0")
            checkpoint["channel_versions"] = versions
            metadata = {"source": "loop", "step": step}
            pairs = list(zip(savers, configs, strict=True))
            configs = [saver.put(it, checkpoint, metadata, versions) for saver, it in pairs]
            for _ in range(chance.randrange(3)):
                writes = [(chance.choice("ab"), [step, chance.random()])]
                task, path = chance.choice("xyz"), chance.choice(["", "~pull, 1", "~pull, 2"])
                for saver, config in zip(savers, configs, strict=True):
                    saver.put_writes(config, writes, task, path)
            channels = chance.choice([[], ["a"], ["a", "b"], ["none"]])
            ours, theirs = (
                saver.get_delta_channel_history(config=config, channels=channels)
                for saver, config in zip(savers, configs, strict=True)
            )
            assert ours == theirs, (number, step)
            asked = savers[0].aget_delta_channel_history(config=configs[0], channels=channels)
            assert asyncio.run(asked) == theirs


def test_threads_may_have_any_name(store: grainstore.Store) -> None:
    saver = GrainSaver(store)
    graph = talk(saver)
    names = ["", "é", "e\u0301", "a:b", "x" * 2_000, "x" * 2_001]
    for name in names:
        graph.invoke({"turns": [name]}, thread(name))
    for name in names:
        assert graph.get_state(thread(name)).values["turns"] == [name]
    assert {it.config["configurable"]["thread_id"] for it in saver.list(None)} == set(names)
