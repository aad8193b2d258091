"""`AsyncStore`: the methods of `Store` for `await`. Written by `stubs.py`."""

# ruff: noqa: E501
from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

from ._store import Store
from .results import (
    Answer,
    Change,
    Checkpoint,
    Erased,
    ErasureReceipt,
    Exported,
    Found,
    Hold,
    Imported,
    PersonReport,
    Receipt,
    Recollection,
    Results,
    Signature,
    Status,
    TrustRule,
    Version,
)

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from ._filter import Conditions, Moment
    from ._native import Grain, Note, Proof, SigningKey
    from ._vector import Floats, Vector


class AsyncStore:
    """A store for programs with an event loop: each call runs in a thread, and other tasks go on.

    >>> import asyncio, grainstore
    >>> async def main():
    ...     async with grainstore.AsyncStore(grainstore.in_memory()) as store:
    ...         await store.remember("I moved to Porto")
    ...         return [found.grain["content"] async for found in store.query()]
    >>> asyncio.run(main())
    ['I moved to Porto']
    """

    def __init__(self, store: Store) -> None:
        """Takes the store, which may be used beside."""
        self.store = store

    def __repr__(self) -> str:
        return f"AsyncStore({self.store!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def query(
        self, *, sort: str | None = None, page: int = 500, **conditions: Unpack[Conditions]
    ) -> AsyncIterator[Found]:
        """Does what `Store.query` does while other tasks run."""
        cursor = None
        while True:
            results = await self.query_page(sort=sort, limit=page, cursor=cursor, **conditions)
            for found in results:
                yield found
            cursor = results.next_cursor
            if cursor is None:
                return

    async def follow(
        self, *, first: int | None = None, **conditions: Unpack[Conditions]
    ) -> AsyncIterator[Change]:
        """Returns the changes from an entry on, from now on by default, and waits for more without end."""
        feed = await asyncio.to_thread(lambda: self.store.changes(first=first, **conditions))
        while True:
            change = await asyncio.to_thread(next, feed, None)
            if change is not None:
                yield change
            else:
                # Short, so that a task that is cancelled leaves no thread waiting for long.
                await asyncio.to_thread(feed.wait, 0.2)

    async def close(self) -> None:
        """Does what `Store.close` does while other tasks run."""
        await asyncio.to_thread(lambda: self.store.close())

    async def remember(self, text: str, *, subject: str | None=None, relation: str | None=None, user: str | None=None, session: str | None=None, namespace: str | None=None, role: str | None=None, confidence: float | None=None, importance: float | None=None, tags: Iterable[str]=(), at: Moment | None=None, **fields: Any) -> str:
        """Does what `Store.remember` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.store.remember(text, subject=subject, relation=relation, user=user, session=session, namespace=namespace, role=role, confidence=confidence, importance=importance, tags=tags, at=at, **fields))

    async def put(self, fields: Mapping[str, Any]) -> str:
        """Does what `Store.put` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.store.put(fields))

    async def insert(self, fields: Mapping[str, Any]) -> tuple[str, bool]:
        """Does what `Store.insert` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.store.insert(fields))

    async def put_batch(self, grains: Iterable[Mapping[str, Any]]) -> list[str]:
        """Does what `Store.put_batch` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.store.put_batch(grains))

    async def get(self, address: Any) -> Any:
        """Does what `Store.get` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.store.get(address))

    async def status(self, address: str | Grain) -> Status:
        """Does what `Store.status` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.store.status(address))

    async def search(self, text: str, *, limit: int=10, plain: bool=False, **conditions: Unpack[Conditions]) -> Results:
        """Does what `Store.search` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.store.search(text, limit=limit, plain=plain, **conditions))

    async def recall(self, question: str, *, budget: int=2000, precise: bool=False, **conditions: Unpack[Conditions]) -> Recollection:
        """Does what `Store.recall` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.store.recall(question, budget=budget, precise=precise, **conditions))

    async def query_page(self, *, sort: str | None=None, limit: int=500, cursor: str | None=None, **conditions: Unpack[Conditions]) -> Results:
        """Does what `Store.query_page` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.store.query_page(sort=sort, limit=limit, cursor=cursor, **conditions))

    async def count(self, **conditions: Unpack[Conditions]) -> int:
        """Does what `Store.count` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.store.count(**conditions))

    async def cal(self, statement: str, *, user: str | None=None, now: Moment | None=None, **parameters: Any) -> Answer:
        """Does what `Store.cal` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.store.cal(statement, user=user, now=now, **parameters))

    async def history(self, address: str | Grain) -> list[Version]:
        """Does what `Store.history` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.store.history(address))

    async def correct(self, address: str | Grain, *, reason: str | None=None, **fields: Any) -> str:
        """Does what `Store.correct` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.store.correct(address, reason=reason, **fields))

    async def supersede(self, old: str | Grain, fields: Mapping[str, Any], *, reason: str | None=None, auth: bytes | Iterable[bytes]=()) -> str:
        """Does what `Store.supersede` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.store.supersede(old, fields, reason=reason, auth=auth))

    async def contradict(self, address: str | Grain, *, reason: str | None=None, auth: bytes | Iterable[bytes]=()) -> None:
        """Does what `Store.contradict` does while other tasks run."""
        await asyncio.to_thread(lambda: self.store.contradict(address, reason=reason, auth=auth))

    async def verify(self, address: str | Grain, status: Literal['unverified', 'verified', 'contested', 'retracted']='verified', *, reason: str | None=None, auth: bytes | Iterable[bytes]=()) -> None:
        """Does what `Store.verify` does while other tasks run."""
        await asyncio.to_thread(lambda: self.store.verify(address, status, reason=reason, auth=auth))

    async def delete(self, *addresses: str | Grain, reason: str, authority: str) -> None:
        """Does what `Store.delete` does while other tasks run."""
        await asyncio.to_thread(lambda: self.store.delete(*addresses, reason=reason, authority=authority))

    async def put_embeddings(self, model: str, vectors: Mapping[str, Vector]) -> None:
        """Does what `Store.put_embeddings` does while other tasks run."""
        await asyncio.to_thread(lambda: self.store.put_embeddings(model, vectors))

    async def embedding(self, model: str, address: str | Grain) -> Floats | None:
        """Does what `Store.embedding` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.store.embedding(model, address))

    async def nearest(self, model: str, vector: Vector, *, limit: int=10, **conditions: Unpack[Conditions]) -> Results:
        """Does what `Store.nearest` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.store.nearest(model, vector, limit=limit, **conditions))

    async def import_file(self, path: str | PathLike[str], *, format: str | None=None, user: str | None=None, preview: bool=False, progress: Callable[[int], object] | None=None) -> Imported:
        """Does what `Store.import_file` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.store.import_file(path, format=format, user=user, preview=preview, progress=progress))

    async def export(self, path: str | PathLike[str], *, format: str='mg', history: bool=False, **conditions: Unpack[Conditions]) -> Exported:
        """Does what `Store.export` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.store.export(path, format=format, history=history, **conditions))

    async def backup(self, path: str | PathLike[str]) -> None:
        """Does what `Store.backup` does while other tasks run."""
        await asyncio.to_thread(lambda: self.store.backup(path))

    async def flush(self) -> None:
        """Does what `Store.flush` does while other tasks run."""
        await asyncio.to_thread(lambda: self.store.flush())

    def as_actor(self, did: str) -> AsyncStore:
        """Returns the handle of `Store.as_actor`."""
        return AsyncStore(self.store.as_actor(did))

    def of_user(self, user: str) -> AsyncStore:
        """Returns the handle of `Store.of_user`."""
        return AsyncStore(self.store.of_user(user))

    def in_namespace(self, namespace: str) -> AsyncStore:
        """Returns the handle of `Store.in_namespace`."""
        return AsyncStore(self.store.in_namespace(namespace))

    def read_only(self) -> AsyncStore:
        """Returns the handle of `Store.read_only`."""
        return AsyncStore(self.store.read_only())

    def signed_by(self, key: SigningKey, *, did: str | None=None) -> AsyncStore:
        """Returns the handle of `Store.signed_by`."""
        return AsyncStore(self.store.signed_by(key, did=did))

    async def add_keys(self, *users: str) -> None:
        """Does what `Store.add_keys` does while other tasks run."""
        await asyncio.to_thread(lambda: self.store.add_keys(*users))

    async def users(self) -> list[str]:
        """Does what `Store.users` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.store.users())

    async def seal(self, user: str) -> int:
        """Does what `Store.seal` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.store.seal(user))

    async def unlock(self, user: str) -> None:
        """Does what `Store.unlock` does while other tasks run."""
        await asyncio.to_thread(lambda: self.store.unlock(user))

    async def lock(self, user: str) -> None:
        """Does what `Store.lock` does while other tasks run."""
        await asyncio.to_thread(lambda: self.store.lock(user))

    async def is_unlocked(self, user: str) -> bool:
        """Does what `Store.is_unlocked` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.store.is_unlocked(user))

    async def person_report(self, *ids: str) -> PersonReport:
        """Does what `Store.person_report` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.store.person_report(*ids))

    async def erase_person(self, *ids: str, reason: str, authority: str, mentions: bool=False, except_kept: bool=False, reseal_held: bool=False, key: SigningKey | None=None) -> Erased:
        """Does what `Store.erase_person` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.store.erase_person(*ids, reason=reason, authority=authority, mentions=mentions, except_kept=except_kept, reseal_held=reseal_held, key=key))

    async def agrees_with(self, receipt: ErasureReceipt | bytes) -> bool:
        """Does what `Store.agrees_with` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.store.agrees_with(receipt))

    async def signature(self, address: str | Grain) -> Signature | None:
        """Does what `Store.signature` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.store.signature(address))

    async def delivery(self, address: str | Grain) -> bytes | None:
        """Does what `Store.delivery` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.store.delivery(address))

    async def receive(self, delivery: bytes) -> str:
        """Does what `Store.receive` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.store.receive(delivery))

    async def trust(self, signer: str, *, reason: str, namespaces: Iterable[str]=(), types: Iterable[str]=(), authors: Iterable[str]=(), exclusive: bool=False) -> None:
        """Does what `Store.trust` does while other tasks run."""
        await asyncio.to_thread(lambda: self.store.trust(signer, reason=reason, namespaces=namespaces, types=types, authors=authors, exclusive=exclusive))

    async def distrust(self, signer: str, *, reason: str) -> bool:
        """Does what `Store.distrust` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.store.distrust(signer, reason=reason))

    async def trusted(self) -> list[TrustRule]:
        """Does what `Store.trusted` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.store.trusted())

    async def receipt(self, address: str | Grain, key: SigningKey) -> Receipt:
        """Does what `Store.receipt` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.store.receipt(address, key))

    async def checkpoint(self, key: SigningKey) -> bytes:
        """Does what `Store.checkpoint` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.store.checkpoint(key))

    async def verify_checkpoint(self, message: bytes) -> Checkpoint:
        """Does what `Store.verify_checkpoint` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.store.verify_checkpoint(message))

    async def store_id(self) -> str:
        """Does what `Store.store_id` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.store.store_id())

    async def place_hold(self, address: str | Grain, *, reason: str, authority: str) -> None:
        """Does what `Store.place_hold` does while other tasks run."""
        await asyncio.to_thread(lambda: self.store.place_hold(address, reason=reason, authority=authority))

    async def lift_hold(self, address: str | Grain, *, reason: str, authority: str) -> bool:
        """Does what `Store.lift_hold` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.store.lift_hold(address, reason=reason, authority=authority))

    async def holds(self) -> list[Hold]:
        """Does what `Store.holds` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.store.holds())

    async def audit_head(self, key: SigningKey | None=None, *, entries: int | None=None) -> Note:
        """Does what `Store.audit_head` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.store.audit_head(key, entries=entries))

    async def audit_extends(self, note: Note) -> bool:
        """Does what `Store.audit_extends` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.store.audit_extends(note))

    async def audit_prove(self, of: int | str | Grain, *, entries: int | None=None) -> Proof:
        """Does what `Store.audit_prove` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.store.audit_prove(of, entries=entries))

    async def audit_growth(self, first: int, *, entries: int | None=None) -> Proof:
        """Does what `Store.audit_growth` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.store.audit_growth(first, entries=entries))

    async def audit_export(self, path: str | PathLike[str], *, key: SigningKey | None=None) -> Note:
        """Does what `Store.audit_export` does while other tasks run."""
        return await asyncio.to_thread(lambda: self.store.audit_export(path, key=key))
