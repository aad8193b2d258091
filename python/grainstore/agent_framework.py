"""The providers of the Microsoft Agent Framework on a store of grains: the history of a conversation,
and what is known about its subject."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from agent_framework import ContextProvider, HistoryProvider, Message

from ._store import Store
from ._turns import Turns


class GrainHistoryProvider(HistoryProvider):
    """Keeps the messages of each session."""

    def __init__(
        self, store: Store, source_id: str = "grainstore", *, user: str | None = None, **flags: Any
    ) -> None:
        """Takes a store and the person; the flags are those of `HistoryProvider`."""
        super().__init__(source_id, **flags)
        self._store = store
        self._user = user

    async def get_messages(
        self, session_id: str | None, *, state: dict[str, Any] | None = None, **kwargs: Any
    ) -> list[Message]:
        """Returns the messages of a session, oldest first."""
        items = await asyncio.to_thread(self._turns(session_id).items)
        return [Message.from_dict(item) for item in items]

    async def save_messages(
        self,
        session_id: str | None,
        messages: Sequence[Message],
        *,
        state: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Stores messages, all or none."""
        told = [(it.to_dict(), str(it.role), it.text) for it in messages]
        await asyncio.to_thread(self._turns(session_id).add, told)

    def _turns(self, session_id: str | None) -> Turns:
        return Turns(self._store, session_id or "default", self._user)


class GrainContextProvider(ContextProvider):
    """Tells the model what the store recalls for the messages of a run."""

    def __init__(
        self,
        store: Store,
        source_id: str = "grainstore-recall",
        *,
        budget: int = 2_000,
        **conditions: Any,
    ) -> None:
        """Takes a store, the size of what is told in tokens, and the conditions of `Store.recall`."""
        super().__init__(source_id)
        self._store = store
        self._budget = budget
        self._conditions = conditions

    async def before_run(self, *, agent: Any, session: Any, context: Any, state: Any) -> None:
        """Adds what is recalled to the instructions."""
        question = "\n".join(message.text for message in context.input_messages)
        known = await asyncio.to_thread(
            lambda: self._store.recall(question, budget=self._budget, **self._conditions)
        )
        if known:
            context.extend_instructions(self.source_id, str(known))
