"""The storage backend of CrewAI, against CrewAI."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

import pytest

pytest.importorskip("crewai.memory.types")

from crewai.memory.storage.backend import StorageBackend  # noqa: E402
from crewai.memory.types import MemoryRecord  # noqa: E402

import grainstore  # noqa: E402
from grainstore.crewai import GrainStorage  # noqa: E402


@pytest.fixture
def storage(store: grainstore.Store) -> GrainStorage:
    return GrainStorage(store)


def record(content: str, scope: str = "/", vector: Any = (1.0, 0.0), **more: Any) -> MemoryRecord:
    return MemoryRecord(content=content, scope=scope, embedding=list(vector), **more)


def test_it_is_a_storage_backend(storage: GrainStorage) -> None:
    assert isinstance(storage, StorageBackend)


def test_a_record_comes_back_as_it_was_saved(storage: GrainStorage) -> None:
    saved = record("tea", "/a/b", categories=["drinks"], metadata={"n": 1}, source="ana", private=True)
    storage.save([saved])
    found = storage.get_record(saved.id)
    assert found is not None and found.model_dump() == saved.model_dump()
    assert storage.get_record("other") is None


def test_the_nearest_records_of_a_scope_are_found(storage: GrainStorage) -> None:
    near, far = record("tea", "/a/b"), record("sea", "/a", (0.0, 1.0), categories=["water"])
    storage.save([near, far, record("other", "/ab")])
    found = storage.search([1.0, 0.0], scope_prefix="/a")
    assert [(it.content, round(score, 5)) for it, score in found] == [("tea", 1.0), ("sea", 0.0)]
    assert len(storage.search([1.0, 0.0], scope_prefix="/a", min_score=0.5)) == 1
    assert [it.content for it, _ in storage.search([1.0, 0.0], categories=["water"])] == ["sea"]
    assert storage.search([1.0, 0.0], metadata_filter={"n": 1}) == []
    assert len(asyncio.run(storage.asearch([1.0, 0.0], limit=2))) == 2


def test_scopes_and_categories_are_counted(storage: GrainStorage) -> None:
    early, late = datetime(2026, 1, 1), datetime(2026, 1, 2)
    storage.save([record("a", "/x/y", categories=["c"], created_at=early)])
    asyncio.run(storage.asave([record("b", "/x/z", categories=["c", "d"], created_at=late)]))
    assert (storage.count(), storage.count("/x/y"), storage.count("/w")) == (2, 1, 0)
    assert storage.list_scopes() == ["/x"] and storage.list_scopes("/x") == ["/x/y", "/x/z"]
    assert storage.list_categories() == {"c": 2, "d": 1}
    info = storage.get_scope_info("/x")
    assert (info.record_count, info.categories, info.child_scopes) == (2, ["c", "d"], ["/x/y", "/x/z"])
    assert [it.content for it in storage.list_records()] == ["b", "a"]
    assert [it.content for it in storage.list_records(limit=1, offset=1)] == ["a"]


def test_an_update_is_a_version_and_a_deleted_record_is_erased(
    storage: GrainStorage, store: grainstore.Store
) -> None:
    first = record("tea", created_at=datetime(2026, 1, 1))
    storage.save([first, record("old", created_at=datetime(2020, 1, 1))])
    storage.update(first.model_copy(update={"content": "milk", "embedding": [0.0, 1.0]}))
    assert storage.search([0.0, 1.0])[0][0].content == "milk" and storage.count() == 2
    assert storage.delete(older_than=datetime(2025, 1, 1)) == 1
    assert asyncio.run(storage.adelete(record_ids=[first.id])) == 1
    assert store.count(superseded="include") == 0
    storage.update(first)
    storage.reset("/")
    assert storage.count() == 0
