"""Conversations of frameworks: their items as grains, each whole beside its text."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._store import Store


class Turns:
    """The items of one conversation, in their order.

    >>> import grainstore
    >>> turns = Turns(grainstore.in_memory(), "monday")
    >>> turns.add([({"role": "user", "content": "hello"}, "user", "hello")])
    >>> turns.items()
    [{'role': 'user', 'content': 'hello'}]
    """

    def __init__(self, store: Store, session: str, user: str | None = None) -> None:
        self._store = store
        self._session = session
        self._user = user

    def add(self, items: Iterable[tuple[Any, str | None, str]]) -> None:
        """Stores items of JSON, each with its role and its text, together."""
        self._store.put_batch(
            {
                "type": "event",
                # An item without text is found by what it is.
                "content": text or "(no text)",
                "role": role,
                "session_id": self._session,
                "user_id": self._user,
                # The same item twice is two turns.
                "context": {"item": json.dumps(item), "id": secrets.token_hex(8)},
            }
            for item, role, text in items
        )

    def items(self, limit: int | None = None) -> list[Any]:
        """Returns the items, oldest first; the newest `limit` of them."""
        return [item for _, item in self._newest(limit)]

    def pop(self) -> Any:
        """Erases the newest item and returns it; `None` if there is none."""
        newest = self._newest(1)
        if not newest:
            return None
        address, item = newest[0]
        self._erase([address])
        return item

    def clear(self) -> None:
        """Erases all items from the files."""
        self._erase([address for address, _ in self._newest(None)])

    def _newest(self, limit: int | None) -> list[tuple[str, Any]]:
        found: list[tuple[str, Any]] = []
        if limit is not None and limit <= 0:
            return found
        of_session = self._store.query(
            sort="-stored", session=self._session, user=self._user, type="event"
        )
        for it in of_session:
            context = it.grain.get("context", {})
            if "item" in context:
                found.append((it.address, json.loads(context["item"])))
            if len(found) == limit:
                break
        return found[::-1]

    def _erase(self, addresses: list[str]) -> None:
        if addresses:
            self._store.delete(*addresses, reason="deleted", authority="the agent")


def text_of(content: Any) -> str:
    """Returns the text of a message as frameworks write it: a text, or parts with a `text`.

    >>> text_of([{"type": "input_text", "text": "hello"}, {"type": "image"}])
    'hello'
    """
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return text_of(content.get("text") or content.get("content") or "")
    if isinstance(content, (list, tuple)):
        return "\n".join(text for text in map(text_of, content) if text)
    return ""
