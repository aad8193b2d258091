"""A chat agent with memory that runs without a network: the model is a script.

`python examples/chat.py FOLDER` talks in two sessions; the second one knows what the first one learned.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable

import grainstore
from grainstore import Store

Model = Callable[[str, str], str]


def scripted(memory: str, message: str) -> str:
    """Stands for a call of a language model: the memory and the message in, the answer out."""
    if (moved := re.search(r"moved to (\w+)", memory)) and message.endswith("?"):
        return f"You moved to {moved[1]}."
    return "I will remember that."


def turn(store: Store, model: Model, user: str, session: str, message: str) -> str:
    """One turn of a conversation: recall, ask the model, store what both said."""
    own = store.of_user(user)
    known = own.recall(message, budget=500)
    answer = model(str(known), message)
    # Both turns are durable when this returns, or neither is stored.
    own.put_batch(
        {"type": "event", "content": text, "role": role, "session_id": session}
        for role, text in (("user", message), ("assistant", answer))
    )
    return answer


def main(folder: str) -> None:
    """Talks in two sessions, with two persons."""
    with grainstore.open(folder) as store:
        print(turn(store, scripted, "ana", "monday", "I moved to Porto in May."))
    with grainstore.open(folder) as store:
        print(turn(store, scripted, "ana", "tuesday", "Where did I move?"))
        print(turn(store, scripted, "ben", "tuesday", "Where did I move?"))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "memory.grains")
