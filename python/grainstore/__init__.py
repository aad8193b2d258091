"""Embedded, content-addressed memory for AI agents: the Open Memory Specification, enforced.

>>> import grainstore
>>> with grainstore.in_memory() as store:
...     _ = store.remember("I moved to Porto in May", user="ana")
...     _ = store.remember("green tea", subject="ana", relation="likes", user="ana")
...     known = store.recall("What tea does she like?", user="ana")
...     print(known.render("text"))
[...] ana likes green tea (...)

A *grain* is one memory: a small map of fields that never changes, under an address that is the hash
of its bytes. A newer grain supersedes it, and the history keeps both. `Store` has the operations,
`grainstore.errors` the exceptions.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Literal

from . import _native, errors, grains
from ._async import AsyncStore
from ._native import Grain, Note, Proof, SigningKey
from ._embedder import Embedder
from ._store import Changes, Store
from .errors import GrainstoreError
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
    Line,
    Named,
    PersonReport,
    Receipt,
    Recollection,
    Refused,
    Results,
    Signature,
    Status,
    TrustRule,
    Version,
)

if TYPE_CHECKING:
    from ._filter import Conditions as Conditions

__all__ = [
    "Answer",
    "AsyncStore",
    "Change",
    "Changes",
    "Checkpoint",
    "Embedder",
    "Erased",
    "ErasureReceipt",
    "Exported",
    "Found",
    "Grain",
    "GrainstoreError",
    "Hold",
    "Imported",
    "Line",
    "Named",
    "Note",
    "PersonReport",
    "Proof",
    "Receipt",
    "Recollection",
    "Refused",
    "Results",
    "Signature",
    "SigningKey",
    "Status",
    "Store",
    "TrustRule",
    "Version",
    "errors",
    "grains",
    "in_memory",
    "open",
]


def open(
    path: str | PathLike[str],
    *,
    create: Literal["if_missing", "never", "new"] = "if_missing",
    read_only: bool = False,
    durability: Literal["sync", "relaxed"] = "sync",
    lock_wait: float = 5.0,
    search_deadline: float = 2.0,
    embedders: Sequence[Embedder] = (),
    master_key: bytes | str | PathLike[str] | None = None,
    did_documents: Sequence[str] = (),
    amend_locked: bool = False,
    since: Note | None = None,
) -> Store:
    """Opens the store of a folder. Any number of processes may have it open.

    `embedders` are models that make a vector of what is stored, in the background; the first one
    embeds questions too. `master_key` opens the keys of persons: its 32 bytes, or the file that has them.
    `did_documents` are the documents of each `did:web` whose signatures are to be verified, as JSON:
    nothing is fetched. `since` is a note that the ledger must begin with: a store that was rolled back or
    rewritten does not open. `amend_locked` lets the agreement of a DID that is `authorized` replace a
    grain of mode `locked`.

    `durability="relaxed"` acknowledges a write before it is on the disk: a failure of the machine may
    lose the newest ones. `lock_wait` is how many seconds a change waits for other processes, and
    `search_deadline` after how many a search ends with what it has.

    >>> import grainstore, tempfile
    >>> folder = tempfile.mkdtemp() + "/memory.grains"
    >>> with grainstore.open(folder) as store:
    ...     address = store.remember("hello")
    >>> with grainstore.open(folder, create="never") as store:
    ...     store.get(address)["content"]
    'hello'

    Raises `NotAStore`, `StoreExists`, `StoreVersion`, `StoreLocked`, `StorageDamaged` for a ledger that
    does not begin as `since` says, and what a damaged or inaccessible folder raises.
    """
    return Store(
        _native.open(
            path,
            create=create,
            read_only=read_only,
            durability=durability,
            lock_wait=lock_wait,
            search_deadline=search_deadline,
            embedders=embedders,
            master_key=master_key,
            did_documents=did_documents,
            amend_locked=amend_locked,
            since=since,
        )
    )


def in_memory(
    *,
    search_deadline: float = 2.0,
    embedders: Sequence[Embedder] = (),
    master_key: bytes | str | PathLike[str] | None = None,
    did_documents: Sequence[str] = (),
    amend_locked: bool = False,
) -> Store:
    """Returns a new store that is gone when it is closed.

    >>> import grainstore
    >>> grainstore.in_memory().search("anything").total
    0
    """
    return Store(
        _native.open(
            None,
            search_deadline=search_deadline,
            embedders=embedders,
            master_key=master_key,
            did_documents=did_documents,
            amend_locked=amend_locked,
        )
    )
