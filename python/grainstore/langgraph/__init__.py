"""LangGraph on a store of grains: the long-term memory (`GrainStore`) and the checkpoints (`GrainSaver`).

>>> import grainstore
>>> from grainstore.langgraph import GrainStore
>>> memories = GrainStore(grainstore.in_memory())
>>> memories.put(("users", "ana"), "drink", {"text": "Ana likes green tea"})
>>> memories.get(("users", "ana"), "drink").value
{'text': 'Ana likes green tea'}
"""

from __future__ import annotations

from ._saver import GrainSaver
from ._store import GrainStore

__all__ = ["GrainSaver", "GrainStore"]
