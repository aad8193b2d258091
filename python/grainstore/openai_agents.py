"""The session memory of the OpenAI Agents SDK in a store of grains.

>>> import asyncio, grainstore
>>> session = GrainSession(grainstore.in_memory(), "monday")
>>> asyncio.run(session.add_items([{"role": "user", "content": "hello"}]))
>>> asyncio.run(session.get_items())
[{'role': 'user', 'content': 'hello'}]
"""

from __future__ import annotations

import asyncio
from typing import Any

from ._store import Store
from ._turns import Turns, text_of


class GrainSession:
    """A `Session` of the Agents SDK: what was said in one conversation, found by search and recall
    with everything else in the store. What is popped or cleared is erased from the files."""

    def __init__(self, store: Store, session_id: str, *, user: str | None = None) -> None:
        """Takes a store, the name of the conversation and the person in it."""
        self.session_id = session_id
        self.session_settings: Any = None
        self._turns = Turns(store, session_id, user)

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """Returns the items, oldest first; the newest `limit` of them."""
        if limit is None:
            limit = getattr(self.session_settings, "limit", None)
        return await asyncio.to_thread(self._turns.items, limit)

    async def add_items(self, items: list[Any]) -> None:
        """Stores items, all or none."""
        told = [
            (item, item.get("role"), text_of(item.get("content") or item.get("output") or ""))
            for item in items
        ]
        await asyncio.to_thread(self._turns.add, told)

    async def pop_item(self) -> Any:
        """Erases the newest item and returns it; `None` if there is none."""
        return await asyncio.to_thread(self._turns.pop)

    async def clear_session(self) -> None:
        """Erases all items."""
        await asyncio.to_thread(self._turns.clear)
