"""Writes what follows from other files: the stub of `grainstore.errors` from the codes of the library,
and `AsyncStore` from the methods of `Store`.

`python stubs.py` writes both, and a test holds the files to it.
"""

from __future__ import annotations

import ast
from pathlib import Path

from grainstore import _native, errors

PACKAGE = Path(__file__).parent / "grainstore"

ERRORS = '''"""The exceptions of grainstore, one class for each code. Written by `stubs.py`."""

class GrainstoreError(Exception):
    code: str
    place: str | None
    def __init__(
        self,
        message: str,
        place: str | None = None,
        *,
        code: str | None = None,
        hint: str | None = None,
    ) -> None: ...
    @property
    def hint(self) -> str | None: ...

def class_name(code: str) -> str: ...
def of(
    code: str, message: str, place: str | None = None, hint: str | None = None
) -> GrainstoreError: ...
'''

ASYNC = '''"""`AsyncStore`: the methods of `Store` for `await`. Written by `stubs.py`."""

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
'''

# The class and its bases.
PARTS = {"_store.py": "Store", "_persons.py": "Persons", "_signing.py": "Signing", "_auditing.py": "Auditing"}

# What is written by hand above, or cannot wait.
BY_HAND = {"query", "changes", "is_closed"}


def errors_stub() -> str:
    """Returns the text of `errors.pyi`."""
    names = sorted({errors.class_name(code) for code in _native.codes()} - {"GrainstoreError"})
    return ERRORS + "".join(f"class {name}(GrainstoreError): ...\n" for name in names)


def async_store() -> str:
    """Returns the text of `_async.py`."""
    methods = []
    for file, name in PARTS.items():
        tree = ast.parse((PACKAGE / file).read_text())
        (part,) = (it for it in tree.body if isinstance(it, ast.ClassDef) and it.name == name)
        methods += [it for it in part.body if isinstance(it, ast.FunctionDef)]
    public = (it for it in methods if it.name[0] != "_" and it.name not in BY_HAND)
    return ASYNC + "".join(map(twin, (it for it in public if not is_overload(it))))


def is_overload(method: ast.FunctionDef) -> bool:
    """Whether a method only tells types."""
    return any(isinstance(it, ast.Name) and it.id == "overload" for it in method.decorator_list)


def twin(method: ast.FunctionDef) -> str:
    """Returns the method that does the same while other tasks run."""
    args = method.args
    passed = [it.arg for it in args.args[1:]]
    passed += [f"*{args.vararg.arg}"] if args.vararg else []
    passed += [f"{it.arg}={it.arg}" for it in args.kwonlyargs]
    passed += [f"**{args.kwarg.arg}"] if args.kwarg else []
    returns = ast.unparse(method.returns) if method.returns else "None"
    told = f'"""Does what `Store.{method.name}` does while other tasks run."""'
    if returns == "Store":
        return (
            f"\n    def {method.name}({ast.unparse(args)}) -> AsyncStore:\n"
            f'        """Returns the handle of `Store.{method.name}`."""\n'
            f"        return AsyncStore(self.store.{method.name}({', '.join(passed)}))\n"
        )
    call = f"lambda: self.store.{method.name}({', '.join(passed)})"
    return (
        f"\n    async def {method.name}({ast.unparse(args)}) -> {returns}:\n        {told}\n"
        f"        {'' if returns == 'None' else 'return '}await asyncio.to_thread({call})\n"
    )


WRITTEN = {"errors.pyi": errors_stub, "_async.py": async_store}


if __name__ == "__main__":
    for name, text in WRITTEN.items():
        (PACKAGE / name).write_text(text())
