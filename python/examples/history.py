"""The history of another assistant in the hands of a LangGraph agent, without a network: the model is a
script.

`python examples/history.py EXPORT` imports an export as it was downloaded (ChatGPT, Claude, PAM and
others) and asks an agent about it.
"""

from __future__ import annotations

import sys
from typing import TypedDict

from langgraph.graph import START, StateGraph

import grainstore
from grainstore.langgraph import GrainSaver


class Talk(TypedDict):
    """What goes through the graph."""

    question: str
    memory: str
    answer: str


def agent(store: grainstore.Store) -> object:
    """Returns an agent that recalls before it answers, and whose threads are in the store too."""

    def recall(state: Talk) -> dict[str, str]:
        return {"memory": store.recall(state["question"], budget=500).render("text")}

    def answer(state: Talk) -> dict[str, str]:
        # The call of a model goes here.
        return {"answer": state["memory"] or "I do not know."}

    builder = StateGraph(Talk)
    builder.add_node("recall", recall).add_node("reply", answer)
    builder.add_edge(START, "recall").add_edge("recall", "reply")
    return builder.compile(checkpointer=GrainSaver(store))


def main(export: str, question: str) -> None:
    """Imports a file and asks about it."""
    with grainstore.in_memory() as store:
        outcome = store.import_file(export, progress=lambda done: print(f"{done} records"))
        print(f"{outcome.inserted} memories, {len(outcome.refused)} records refused")
        thread = {"configurable": {"thread_id": "monday"}}
        print(agent(store).invoke({"question": question}, thread)["answer"])  # type: ignore[attr-defined]


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
