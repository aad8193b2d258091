"""A storage backend of CrewAI's memory on a store of grains."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any
from urllib.parse import quote

from crewai.memory.types import MemoryRecord, ScopeInfo

from ._store import Store

_ROOT = "crewai"
_MODEL = "crewai"


class GrainStorage:
    """Keeps the records of a crew: `Memory(storage=GrainStorage(store))`. An update is a version of the
    record, and what is deleted is erased from the files."""

    def __init__(self, store: Store) -> None:
        """Takes a store."""
        self._store = store

    def save(self, records: list[MemoryRecord]) -> None:
        """Stores records, all or none, with their vectors."""
        addresses = self._store.put_batch(map(_grain, records))
        self._keep(dict(zip(addresses, records, strict=True)))

    def search(
        self,
        query_embedding: list[float],
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        metadata_filter: dict[str, Any] | None = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> list[tuple[MemoryRecord, float]]:
        """Returns the records whose vectors are nearest, with the cosine of each."""
        within: dict[str, Any] = {"namespace": _path(scope_prefix)}
        if categories or metadata_filter:
            found = self._found(scope_prefix, categories, metadata_filter)
            within["among"] = [address for address, _ in found]
        found_near = self._store.nearest(_MODEL, query_embedding, limit=limit, **within)
        pairs = ((_record(it.grain), 2 * it.score - 1) for it in found_near)
        return [(record, score) for record, score in pairs if score >= min_score]

    def delete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        """Erases the records that satisfy all that is given, and returns how many there were."""
        found = [
            address
            for address, record in self._found(scope_prefix, categories, metadata_filter)
            if (record_ids is None or record.id in record_ids)
            and (older_than is None or _utc(record.created_at) < _utc(older_than))
        ]
        versions = dict.fromkeys(
            version.grain.address for address in found for version in self._store.history(address)
        )
        if versions:
            self._store.delete(*versions, reason="deleted", authority="the crew")
        return len(found)

    def update(self, record: MemoryRecord) -> None:
        """Stores the next version of a record, or the record if there is none of its id."""
        page = self._store.query_page(entity=record.id, namespace=_ROOT, limit=1)
        if len(page) == 0:
            self.save([record])
            return
        address = self._store.supersede(page[0].address, _grain(record), reason="updated")
        self._keep({address: record})

    def get_record(self, record_id: str) -> MemoryRecord | None:
        """Returns the record of an id; `None` if there is none."""
        page = self._store.query_page(entity=record_id, namespace=_ROOT, limit=1)
        return _record(page[0].grain) if len(page) else None

    def list_records(
        self, scope_prefix: str | None = None, limit: int = 200, offset: int = 0
    ) -> list[MemoryRecord]:
        """Returns the records of a scope and those inside it, newest first."""
        found = [record for _, record in self._found(scope_prefix)]
        found.sort(key=lambda record: _utc(record.created_at), reverse=True)
        return found[offset : offset + limit]

    def get_scope_info(self, scope: str) -> ScopeInfo:
        """Returns what a scope holds."""
        found = [record for _, record in self._found(scope)]
        times = [_utc(record.created_at) for record in found]
        return ScopeInfo(
            path=scope,
            record_count=len(found),
            categories=sorted({name for record in found for name in record.categories}),
            oldest_record=min(times, default=None),
            newest_record=max(times, default=None),
            child_scopes=self.list_scopes(scope),
        )

    def list_scopes(self, parent: str = "/") -> list[str]:
        """Returns the scopes right below a scope."""
        above = _labels(parent)
        below = {_labels(record.scope)[: len(above) + 1] for _, record in self._found(parent)}
        return sorted("/" + "/".join(labels) for labels in below if len(labels) > len(above))

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        """Returns the categories in a scope, with the number of records of each."""
        found = self._found(scope_prefix)
        return dict(Counter(name for _, record in found for name in record.categories))

    def count(self, scope_prefix: str | None = None) -> int:
        """Returns the number of records in a scope and those inside it."""
        return self._store.count(namespace=_path(scope_prefix))

    def reset(self, scope_prefix: str | None = None) -> None:
        """Erases all records of a scope."""
        self.delete(scope_prefix)

    async def asave(self, records: list[MemoryRecord]) -> None:
        """Does what `save` does while other tasks run."""
        await asyncio.to_thread(self.save, records)

    async def asearch(self, query_embedding: list[float], *rest: Any, **more: Any) -> Any:
        """Does what `search` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.search(query_embedding, *rest, **more))

    async def adelete(self, *rest: Any, **more: Any) -> int:
        """Does what `delete` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.delete(*rest, **more))

    def _found(
        self,
        scope: str | None,
        categories: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> Iterator[tuple[str, MemoryRecord]]:
        for it in self._store.query(namespace=_path(scope)):
            record = _record(it.grain)
            if categories and not set(categories) & set(record.categories):
                continue
            if any(record.metadata.get(name) != value for name, value in (metadata or {}).items()):
                continue
            yield it.address, record

    def _keep(self, records: dict[str, MemoryRecord]) -> None:
        vectors = {address: it.embedding for address, it in records.items() if it.embedding}
        if vectors:
            self._store.put_embeddings(_MODEL, vectors)


def _labels(scope: str | None) -> tuple[str, ...]:
    return tuple(label for label in (scope or "/").split("/") if label)


def _path(scope: str | None) -> str:
    return ":".join([_ROOT, *(quote(label, safe="") for label in _labels(scope))])


def _utc(time: datetime) -> datetime:
    """Returns a time with its offset; one without is UTC, as CrewAI makes them."""
    return time if time.tzinfo else time.replace(tzinfo=timezone.utc)


def _grain(record: MemoryRecord) -> dict[str, Any]:
    told = record.model_dump(mode="json", exclude={"content", "embedding"})
    return {
        "type": "event",
        "content": record.content,
        "entity_id": record.id,
        "namespace": _path(record.scope),
        "importance": record.importance,
        "created_at": _utc(record.created_at),
        # A record that was deleted may come again.
        "context": {"record": json.dumps(told), "id": secrets.token_hex(8)},
    }


def _record(grain: Any) -> MemoryRecord:
    told = json.loads(grain["context"]["record"])
    return MemoryRecord(content=grain["content"], **told)
