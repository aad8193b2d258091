"""Checkpoints, values of channels and writes as grains: records of bytes under a name."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from grainstore import Grain, Store

# A grain has at most 1 MiB, and base64 makes four bytes of three.
_PART = 600_000
_NAME_MAX = 480
_BATCH = 1_000


@dataclass(frozen=True, slots=True)
class Record:
    """Bytes of a kind (`checkpoint`, `value`, `write`) of a thread and a namespace of it."""

    kind: str
    thread: str
    namespace: str
    of: str
    """The name that the records which are read together share: a checkpoint, a version of a channel."""
    told: dict[str, Any]
    """What is read without the bytes."""
    coding: str = ""
    data: bytes = b""
    run: str | None = None
    addresses: tuple[str, ...] = field(default=(), compare=False)
    """The grains that it is stored as."""


class Records:
    """The records of a store below one namespace of grains."""

    def __init__(self, store: Store, root: str) -> None:
        self._store = store
        self._root = root

    def put(self, records: Iterable[Record]) -> None:
        """Stores records together."""
        self._store.put_batch(grain for record in records for grain in self._grains(record))

    def of(self, kind: str, thread: str, namespace: str, of: str) -> list[Record]:
        """Returns the records of one name."""
        return list(self._records(entity=self._name(kind, thread, namespace, of)))

    def of_thread(self, thread: str, kind: str | None = None) -> list[Record]:
        """Returns the records of a thread."""
        return list(self._records(session=_session(thread), tag=self._tag(kind)))

    def of_run(self, run: str) -> list[Record]:
        """Returns the checkpoints of a run."""
        return list(self._records(run=_session(run), tag=self._tag("checkpoint")))

    def of_kind(self, kind: str) -> list[Record]:
        """Returns the records of a kind."""
        return list(self._records(tag=self._tag(kind)))

    def erase(self, records: Iterable[Record]) -> None:
        """Erases records from the files."""
        addresses = [address for record in records for address in record.addresses]
        for start in range(0, len(addresses), _BATCH):
            some = addresses[start : start + _BATCH]
            self._store.delete(*some, reason="deleted", authority="the agent")

    def _grains(self, record: Record) -> Iterator[dict[str, Any]]:
        parts = [record.data[at : at + _PART] for at in range(0, len(record.data), _PART)] or [b""]
        # Members whose names begin with `x-` are not searched.
        name = [record.kind, record.thread, record.namespace, record.of]
        context: dict[str, Any] = {
            "x-name": json.dumps(name),
            "x-told": json.dumps(record.told),
            "x-coding": record.coding,
            # Parts of one record, and no others, have one; what was deleted may come again.
            "x-id": secrets.token_hex(8),
            "x-parts": len(parts),
        }
        for number, part in enumerate(parts):
            yield {
                "type": "state",
                "namespace": self._root,
                "entity_id": self._name(*name),
                "session_id": _session(record.thread),
                "run_id": record.run and _session(record.run),
                "structural_tags": [tag for tag in (self._tag(record.kind),) if tag],
                # Not for answers to questions (OMS 22.8).
                "recall_priority": "cold",
                "context": {**context, "x-part": number, "x-data": base64.b64encode(part).decode()},
            }

    def _records(self, **conditions: Any) -> Iterator[Record]:
        parts: dict[str, list[Grain]] = {}
        for found in self._store.query(namespace=self._root, type="state", **conditions):
            context = found.grain["context"]
            of_one = parts.setdefault(context["x-id"], [])
            of_one.append(found.grain)
            if len(of_one) == context["x-parts"]:
                yield _joined(parts.pop(context["x-id"]))

    def _name(self, kind: str, thread: str, namespace: str, of: str) -> str:
        name = json.dumps([self._root, kind, thread, namespace, of])
        return name if len(name) <= _NAME_MAX else hashlib.sha256(name.encode()).hexdigest()

    def _tag(self, kind: str | None) -> str | None:
        return kind and f"{self._root}:{kind}"


def _joined(grains: list[Grain]) -> Record:
    grains.sort(key=lambda grain: grain["context"]["x-part"])
    context = grains[0]["context"]
    kind, thread, namespace, of = json.loads(context["x-name"])
    run = grains[0].get("run_id")
    return Record(
        kind,
        thread,
        namespace,
        of,
        told=json.loads(context["x-told"]),
        coding=context["x-coding"],
        data=b"".join(base64.b64decode(grain["context"]["x-data"]) for grain in grains),
        run=run and json.loads(run)[0],
        addresses=tuple(grain.address for grain in grains),
    )


def _session(thread: str) -> str:
    """Returns the text of a thread that no normalisation changes."""
    name = json.dumps([thread])
    return name if len(name) <= _NAME_MAX else hashlib.sha256(name.encode()).hexdigest()
