"""`GrainSaver`: the checkpoints of LangGraph in a store of grains."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
    get_checkpoint_metadata,
    writes_sort_key,
)

from grainstore import Store

from ._record import Record, Records

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.serde.base import SerializerProtocol

# What a channel without a value is kept as.
_EMPTY = "empty"
# Where LangGraph says which channels need the writes of earlier checkpoints.
_DELTAS = "counters_since_delta_snapshot"


class GrainSaver(BaseCheckpointSaver[str]):
    """The checkpoints of LangGraph in a store of grains: threads survive the process, and several
    processes share them.

    A checkpoint and its values are stored together. What is deleted is erased from the files. The grains
    are of the namespace `langgraph-checkpoints`, and no search or recall returns them.

    >>> import grainstore
    >>> from langgraph.graph import START, StateGraph
    >>> builder = StateGraph(int)
    >>> _ = builder.add_node("double", lambda number: 2 * number).add_edge(START, "double")
    >>> graph = builder.compile(checkpointer=GrainSaver(grainstore.in_memory()))
    >>> thread = {"configurable": {"thread_id": "monday"}}
    >>> graph.invoke(21, thread), graph.get_state(thread).values
    (42, 42)
    """

    def __init__(
        self,
        store: Store,
        *,
        serde: SerializerProtocol | None = None,
        namespace: str = "langgraph-checkpoints",
    ) -> None:
        """Takes a store and the namespace of its grains."""
        super().__init__(serde=serde)
        self._records = Records(store, namespace)

    def get_next_version(self, current: str | None, channel: None) -> str:
        """Returns the version of a channel after `current`; two that come after one differ."""
        number = 0 if current is None else int(str(current).split(".")[0])
        return f"{number + 1:032}.{secrets.token_hex(8)}"

    # Reading.

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Returns the checkpoint of a config, or the newest of its thread and namespace."""
        thread, namespace = _where(config)
        found: Sequence[Record]
        if name := get_checkpoint_id(config):
            found = self._records.of("checkpoint", thread, namespace, name)
        else:
            found = self._of_namespace(thread, namespace)
        newest = max(found, key=lambda record: record.of, default=None)
        return self._tuple(newest) if newest else None

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Returns the checkpoints of a thread, or of all, newest first."""
        if config is None:
            found = self._records.of_kind("checkpoint")
        else:
            found = self._records.of_thread(_where(config)[0], "checkpoint")
        namespace = config.get("configurable", {}).get("checkpoint_ns") if config else None
        name = get_checkpoint_id(config) if config else None
        end = get_checkpoint_id(before) if before else None
        for record in sorted(found, key=lambda record: record.of, reverse=True):
            if limit is not None and limit <= 0:
                return
            if namespace is not None and record.namespace != namespace:
                continue
            if (name and record.of != name) or (end and record.of >= end):
                continue
            metadata = self._metadata(record)
            if any(metadata.get(key) != value for key, value in (filter or {}).items()):
                continue
            if limit is not None:
                limit -= 1
            yield self._tuple(record)

    def _of_namespace(self, thread: str, namespace: str) -> Sequence[Record]:
        found = self._records.of_thread(thread, "checkpoint")
        return [record for record in found if record.namespace == namespace]

    def _tuple(self, record: Record) -> CheckpointTuple:
        checkpoint = self.serde.loads_typed((record.coding, record.data))
        values = {}
        for channel, version in checkpoint["channel_versions"].items():
            found = self._value(record, channel, version)
            if found and found.coding != _EMPTY:
                values[channel] = self.serde.loads_typed((found.coding, found.data))
        parent = record.told["parent"]
        return CheckpointTuple(
            config=_config(record.thread, record.namespace, record.of),
            checkpoint=cast("Checkpoint", {**checkpoint, "channel_values": values}),
            metadata=self._metadata(record),
            parent_config=_config(record.thread, record.namespace, parent) if parent else None,
            pending_writes=[
                (
                    write.told["task"],
                    write.told["channel"],
                    self.serde.loads_typed((write.coding, write.data)),
                )
                for write in self._writes(record)
            ],
        )

    def _value(self, record: Record, channel: str, version: Any) -> Record | None:
        name = f"{version}:{channel}"
        found = self._records.of("value", record.thread, record.namespace, name)
        return found[-1] if found else None

    def _metadata(self, record: Record) -> CheckpointMetadata:
        coding, data = record.told["metadata"]
        found = self.serde.loads_typed((coding, bytes.fromhex(data)))
        return cast("CheckpointMetadata", found)

    def _writes(self, record: Record) -> Sequence[Record]:
        found = self._records.of("write", record.thread, record.namespace, record.of)
        return sorted(found, key=_order)

    # Writing.

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Stores a checkpoint with the values of the channels that changed."""
        thread, namespace = _where(config)
        kept = cast("dict[str, Any]", checkpoint.copy())
        values = kept.pop("channel_values")
        told = get_checkpoint_metadata(config, metadata)
        coding, data = self.serde.dumps_typed(told)
        about = {"parent": get_checkpoint_id(config), "metadata": [coding, data.hex()]}
        run = cast("dict[str, Any]", told).get("run_id")
        records = [
            Record(
                "checkpoint",
                thread,
                namespace,
                checkpoint["id"],
                about,
                *self.serde.dumps_typed(kept),
                run=str(run) if run is not None else None,
            )
        ]
        for channel, version in new_versions.items():
            typed = (_EMPTY, b"")
            if channel in values:
                typed = self.serde.dumps_typed(values[channel])
            records.append(Record("value", thread, namespace, f"{version}:{channel}", {}, *typed))
        replaced = [it for new in records for it in self._records.of(*_name(new))]
        self._records.put(records)
        self._records.erase(replaced)
        return _config(thread, namespace, checkpoint["id"])

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Stores the writes of a task to a checkpoint. A write that is there stays, except those of
        errors, interrupts and what resumes them."""
        thread, namespace = _where(config)
        name = config.get("configurable", {})["checkpoint_id"]
        known = {
            (it.told["task"], it.told["index"]): it
            for it in self._records.of("write", thread, namespace, name)
        }
        records: dict[int, Record] = {}
        replaced = []
        for number, (channel, value) in enumerate(writes):
            index = WRITES_IDX_MAP.get(channel, number)
            before = known.get((task_id, index))
            if before and index >= 0:
                continue
            if before:
                replaced.append(before)
            told = {"task": task_id, "index": index, "channel": channel, "path": task_path}
            typed = self.serde.dumps_typed(value)
            records[index] = Record("write", thread, namespace, name, told, *typed)
        self._records.put(records.values())
        self._records.erase(replaced)

    # Deleting and copying.

    def delete_thread(self, thread_id: str) -> None:
        """Erases a thread."""
        self._records.erase(self._records.of_thread(str(thread_id)))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Erases the checkpoints of runs, with their writes and the values that only they have."""
        found = [record for run in run_ids for record in self._records.of_run(str(run))]
        self._erase_checkpoints(found)

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Stores all checkpoints, values and writes of a thread under another one too."""
        found = self._records.of_thread(str(source_thread_id))
        self._records.put(replace(record, thread=str(target_thread_id)) for record in found)

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Erases threads (`delete`), or all but the newest checkpoint of each namespace of them, with
        the earlier ones whose writes it needs (`keep_latest`)."""
        if strategy not in ("keep_latest", "delete"):
            raise ValueError(f"Unknown strategy: {strategy}")
        for thread in map(str, thread_ids):
            if strategy == "delete":
                self.delete_thread(thread)
                continue
            found = self._records.of_thread(thread, "checkpoint")
            kept: set[tuple[str, str]] = set()
            for namespace in {record.namespace for record in found}:
                own = {record.of: record for record in found if record.namespace == namespace}
                kept.update((namespace, name) for name in self._needed(own))
            self._erase_checkpoints(
                [record for record in found if (record.namespace, record.of) not in kept]
            )

    def _needed(self, own: dict[str, Record]) -> Iterator[str]:
        """Returns the newest checkpoint of a namespace, and those before it from which the channels are
        rebuilt that it has no value of."""
        record: Record | None = own[max(own)]
        assert record is not None
        told = cast("dict[str, Any]", self._metadata(record))
        left = set(told.get(_DELTAS) or ())
        yield record.of
        while left and (record := own.get(record.told["parent"] or "")):
            yield record.of
            checkpoint = self.serde.loads_typed((record.coding, record.data))
            for channel, version in checkpoint["channel_versions"].items():
                found = self._value(record, channel, version) if channel in left else None
                if found and found.coding != _EMPTY:
                    left.discard(channel)

    def _erase_checkpoints(self, found: Sequence[Record]) -> None:
        writes = [write for record in found for write in self._writes(record)]
        self._records.erase([*found, *writes])
        for thread in {record.thread for record in found}:
            needed = set()
            for record in self._records.of_thread(thread, "checkpoint"):
                checkpoint = self.serde.loads_typed((record.coding, record.data))
                for channel, version in checkpoint["channel_versions"].items():
                    needed.add((record.namespace, f"{version}:{channel}"))
            values = self._records.of_thread(thread, "value")
            self._records.erase([it for it in values if (it.namespace, it.of) not in needed])

    # Asynchronous twins.

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Does what `get_tuple` does while other tasks run."""
        return await asyncio.to_thread(self.get_tuple, config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Does what `list` does while other tasks run."""
        found = self.list(config, filter=filter, before=before, limit=limit)
        while (it := await asyncio.to_thread(next, found, None)) is not None:
            yield it

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Does what `put` does while other tasks run."""
        return await asyncio.to_thread(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Does what `put_writes` does while other tasks run."""
        await asyncio.to_thread(self.put_writes, config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """Does what `delete_thread` does while other tasks run."""
        await asyncio.to_thread(self.delete_thread, thread_id)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Does what `delete_for_runs` does while other tasks run."""
        await asyncio.to_thread(self.delete_for_runs, run_ids)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Does what `copy_thread` does while other tasks run."""
        await asyncio.to_thread(self.copy_thread, source_thread_id, target_thread_id)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Does what `prune` does while other tasks run."""
        await asyncio.to_thread(lambda: self.prune(thread_ids, strategy=strategy))


def _where(config: RunnableConfig) -> tuple[str, str]:
    """Returns the thread and the namespace of a config."""
    configurable = config.get("configurable", {})
    return str(configurable["thread_id"]), configurable.get("checkpoint_ns") or ""


def _config(thread: str, namespace: str, name: str) -> RunnableConfig:
    return {
        "configurable": {
            "thread_id": thread,
            "checkpoint_ns": namespace,
            "checkpoint_id": name,
        }
    }


def _name(record: Record) -> tuple[str, str, str, str]:
    return record.kind, record.thread, record.namespace, record.of


def _order(write: Record) -> tuple[str, str, int]:
    told = write.told
    return writes_sort_key(str(told["path"]), str(told["task"]), int(told["index"]))
