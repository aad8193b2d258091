"""What the tests share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import grainstore


@pytest.fixture
def store() -> Iterator[grainstore.Store]:
    """A store in memory."""
    with grainstore.in_memory() as store:
        yield store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A place for a store."""
    return tmp_path / "memory.grains"
