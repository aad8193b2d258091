"""A `Memory` in the shape of Mem0's, on a store of grains: for programs that want to switch without
editing.

>>> import grainstore
>>> memory = Memory(grainstore.in_memory())
>>> added = memory.add("I like green tea", user_id="ana")
>>> [it["memory"] for it in memory.search("tea", filters={"user_id": "ana"})["results"]]
['I like green tea']

What is added is stored as it was said: no model extracts facts from it, and `infer` changes nothing.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from ._store import Store
from ._turns import text_of
from .results import moment

_IDS = ("user_id", "agent_id", "run_id")


class Memory:
    """`add`, `search`, `get`, `get_all`, `update`, `delete`, `delete_all` and `history`, with the arguments
    and the answers of Mem0."""

    def __init__(self, store: Store) -> None:
        """Takes a store."""
        self._store = store

    def add(
        self,
        messages: str | Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        infer: bool = True,
        **_ignored: Any,
    ) -> dict[str, Any]:
        """Stores messages, each as a memory with an id of its own."""
        whose = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}
        _conditions(whose)
        if isinstance(messages, str):
            messages = [{"role": "user", "content": messages}]
        elif isinstance(messages, Mapping):
            messages = [messages]
        said = [(str(uuid.uuid4()), it.get("role"), text_of(it.get("content"))) for it in messages]
        said = [it for it in said if it[2] and it[1] != "system"]
        about = json.dumps({"metadata": dict(metadata or {}), "agent_id": agent_id})
        self._store.put_batch(
            {
                "type": "event",
                "content": text,
                "role": role,
                "entity_id": name,
                "user_id": user_id,
                "run_id": run_id,
                "structural_tags": [f"agent:{agent_id}"] if agent_id else None,
                "context": {"mem0": about},
            }
            for name, role, text in said
        )
        results = [{"id": name, "memory": text, "event": "ADD"} for name, _, text in said]
        return {"results": results}

    def search(
        self,
        query: str,
        *,
        filters: Mapping[str, Any] | None = None,
        top_k: int | None = None,
        limit: int = 20,
        threshold: float = 0.0,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        **_ignored: Any,
    ) -> dict[str, Any]:
        """Returns the best memories for a question."""
        whose = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id, **(filters or {})}
        count = top_k or limit
        found = self._store.search(query, plain=True, limit=count, **_conditions(whose))
        items = [
            {**_item(it.grain), "score": it.score} for it in found if it.score >= threshold
        ]
        return {"results": [it for it in items if _passes(it, whose)]}

    def get(self, memory_id: str) -> dict[str, Any] | None:
        """Returns a memory; `None` if there is none of this id."""
        grain = self._find(memory_id)
        return None if grain is None else _item(grain)

    def get_all(
        self,
        *,
        filters: Mapping[str, Any] | None = None,
        top_k: int | None = None,
        limit: int = 20,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        **_ignored: Any,
    ) -> dict[str, Any]:
        """Returns memories, newest first."""
        whose = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id, **(filters or {})}
        items: list[dict[str, Any]] = []
        for it in self._store.query(sort="-stored", type="event", **_conditions(whose)):
            item = _item(it.grain)
            if _is_ours(it.grain) and _passes(item, whose):
                items.append(item)
            if len(items) >= (top_k or limit):
                break
        return {"results": items}

    def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        data: str | None = None,
        **_ignored: Any,
    ) -> dict[str, str]:
        """Stores the next version of a memory."""
        grain = self._found(memory_id)
        about = json.loads(grain["context"]["mem0"])
        about.setdefault("created_at", grain.created_at)
        if metadata is not None:
            about["metadata"] = dict(metadata)
        new: dict[str, Any] = {"context": {"mem0": json.dumps(about)}}
        if (text or data) is not None:
            new["content"] = text or data
        self._store.correct(grain, reason="updated", **new)
        return {"message": "Memory updated successfully!"}

    def delete(self, memory_id: str) -> dict[str, str]:
        """Erases a memory, with its history, from the files."""
        self._erase([self._found(memory_id)])
        return {"message": "Memory deleted successfully!"}

    def delete_all(
        self,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> dict[str, str]:
        """Erases the memories of a user, an agent or a run."""
        whose = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}
        found = self._store.query(type="event", **_conditions(whose))
        self._erase([it.grain for it in found if _is_ours(it.grain)])
        return {"message": "Memories deleted successfully!"}

    def history(self, memory_id: str) -> list[dict[str, Any]]:
        """Returns the changes of a memory, oldest first."""
        grain = self._find(memory_id)
        changes: list[dict[str, Any]] = []
        before = None
        for version in self._store.history(grain) if grain is not None else []:
            text = version.grain["content"]
            changes.append(
                {
                    "id": version.grain.address,
                    "memory_id": memory_id,
                    "old_memory": before,
                    "new_memory": text,
                    "event": "ADD" if before is None else "UPDATE",
                    "created_at": version.stored_at.isoformat(),
                    "is_deleted": False,
                }
            )
            before = text
        return changes

    def reset(self) -> None:
        """Erases all memories."""
        found = self._store.query(type="event")
        self._erase([it.grain for it in found if _is_ours(it.grain)])

    def _find(self, memory_id: str) -> Any:
        page = self._store.query_page(entity=memory_id, type="event", limit=1)
        return page[0].grain if page else None

    def _found(self, memory_id: str) -> Any:
        grain = self._find(memory_id)
        if grain is None:
            raise ValueError(f"Memory with id {memory_id} not found")
        return grain

    def _erase(self, grains: Sequence[Any]) -> None:
        versions = dict.fromkeys(
            version.grain.address for grain in grains for version in self._store.history(grain)
        )
        if versions:
            self._store.delete(*versions, reason="deleted", authority="the program")


def _conditions(whose: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the conditions for the ids, of which Mem0 demands one."""
    if not any(whose.get(name) for name in _IDS):
        raise ValueError("at least one of user_id, agent_id and run_id is needed")
    agent = whose.get("agent_id")
    return {
        "user": whose.get("user_id"),
        "run": whose.get("run_id"),
        "tag": f"agent:{agent}" if agent else None,
    }


def _passes(item: Mapping[str, Any], whose: Mapping[str, Any]) -> bool:
    """Returns whether the metadata of a memory has what a filter asks for."""
    asked = {name: value for name, value in whose.items() if name not in _IDS}
    return all((item["metadata"] or {}).get(name) == value for name, value in asked.items())


def _is_ours(grain: Any) -> bool:
    return "mem0" in grain.get("context", {})


def _item(grain: Any) -> dict[str, Any]:
    about = json.loads(grain.get("context", {}).get("mem0", "{}"))
    made = about.get("created_at", grain.created_at)
    return {
        "id": grain.get("entity_id") or grain.address,
        "memory": grain.get("content") or grain.summary,
        "metadata": about.get("metadata") or None,
        "created_at": moment(made).isoformat(),
        "updated_at": moment(grain.created_at).isoformat(),
        "user_id": grain.get("user_id"),
        "agent_id": about.get("agent_id"),
        "run_id": grain.get("run_id"),
        "role": grain.get("role"),
    }
