"""A memory block of LlamaIndex on a store of grains."""

from __future__ import annotations

import asyncio
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import Field
from llama_index.core.memory import BaseMemoryBlock

from ._store import Store


class GrainMemoryBlock(BaseMemoryBlock[str]):
    """Stores the messages that leave the short-term memory, and recalls what concerns the last ones."""

    name: str = Field(default="grainstore")
    store: Any = Field(description="The store, an open `grainstore.Store`.", exclude=True)
    user: str | None = Field(default=None, description="The person whose memories these are.")
    budget: int = Field(default=2_000, description="The size of a recall in tokens.")

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        asked = [it.content for it in messages or [] if it.role == "user" and it.content]
        if not asked:
            return ""
        store: Store = self.store
        known = await asyncio.to_thread(
            lambda: store.recall(asked[-1], budget=self.budget, user=self.user)
        )
        return str(known) if known else ""

    async def _aput(self, messages: list[ChatMessage]) -> None:
        store: Store = self.store
        grains = [
            {
                "type": "event",
                "content": message.content,
                "role": message.role.value,
                "user_id": self.user,
                "session_id": message.additional_kwargs.get("session_id"),
            }
            for message in messages
            if message.content
        ]
        await asyncio.to_thread(store.put_batch, grains)

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Returns the beginning of a recall: what concerns the question most."""
        kept = len(content) - 4 * tokens_to_truncate
        return content[:kept].rsplit("\n", 1)[0] if kept > 0 else None
