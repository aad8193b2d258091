"""The memory service of Google's Agent Development Kit on a store of grains."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.genai import types

from ._store import Store
from .results import moment


class GrainMemoryService(BaseMemoryService):
    """Events and memories of each app and user. An event is stored once, whichever way it comes, and
    not again after it was deleted."""

    def __init__(self, store: Store, *, limit: int = 10) -> None:
        """Takes a store, and how many memories a search returns."""
        self._store = store
        self._limit = limit

    async def add_session_to_memory(self, session: Any) -> None:
        """Stores the events of a session that are not stored yet."""
        await self.add_events_to_memory(
            app_name=session.app_name,
            user_id=session.user_id,
            events=session.events,
            session_id=session.id,
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Any],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Stores events."""
        grains = [
            {
                "type": "event",
                "content": text,
                "role": event.content.role,
                "user_id": user_id,
                "session_id": session_id,
                "namespace": _namespace(app_name),
                "created_at": round(event.timestamp * 1_000),
                "context": {"id": event.id, "author": event.author},
            }
            for event in events
            if (text := _text(event.content))
        ]
        await asyncio.to_thread(self._put, grains)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Stores memories."""
        grains = [
            {
                "type": "event",
                "content": text,
                "role": memory.content.role,
                "user_id": user_id,
                "namespace": _namespace(app_name),
                "created_at": memory.timestamp,
                "context": {"id": memory.id, "author": memory.author},
            }
            for memory in memories
            if (text := _text(memory.content))
        ]
        await asyncio.to_thread(self._put, grains)

    async def search_memory(
        self, *, app_name: str, user_id: str, query: str
    ) -> SearchMemoryResponse:
        """Returns the best memories of a user for a question."""
        found = await asyncio.to_thread(
            lambda: self._store.search(
                query,
                plain=True,
                limit=self._limit,
                user=user_id,
                namespace=_namespace(app_name),
            )
        )
        return SearchMemoryResponse(
            memories=[
                MemoryEntry(
                    id=it.address,
                    content=types.Content(
                        role=it.grain.get("role"), parts=[types.Part(text=it.grain["content"])]
                    ),
                    author=it.grain.get("context", {}).get("author"),
                    timestamp=moment(it.grain.created_at).isoformat(),
                )
                for it in found
                if it.grain.type == "event"
            ]
        )

    async def delete_memory(
        self, *, app_name: str, user_id: str, memory_id: str | None = None
    ) -> None:
        """Erases a memory that `search_memory` returned from the files."""
        if memory_id is None:
            return
        grain = await asyncio.to_thread(self._store.get, memory_id)
        is_own = grain is not None and grain.get("user_id") == user_id
        if is_own and grain is not None and grain.get("namespace") == _namespace(app_name):
            delete = self._store.delete
            await asyncio.to_thread(
                lambda: delete(memory_id, reason="deleted", authority="the agent")
            )

    def _put(self, grains: list[dict[str, Any]]) -> None:
        from . import errors

        for grain in grains:
            try:
                self._store.put(grain)
            except errors.Erased:
                # It was deleted, and the session has it still.
                continue


def _namespace(app_name: str) -> str:
    return f"adk:{app_name.replace(':', '%3A')}"


def _text(content: types.Content | None) -> str:
    parts = content.parts if content and content.parts else []
    return "\n".join(part.text for part in parts if part.text)
