"""The exceptions of grainstore: one class for each error code, all under `GrainstoreError`.

The name of a class is that of its code: `ERR_INVALIDATION_DENIED` is `InvalidationDenied`. Codes of
file formats, which do not begin with `ERR_`, have no class of their own. Programs depend on the code,
which never changes; the message is for people.

>>> import grainstore
>>> store = grainstore.in_memory()
>>> try:
...     store.put({"type": "belief"})
... except grainstore.errors.Schema as error:
...     error.code
'ERR_SCHEMA'
"""

from __future__ import annotations

from . import _native


class GrainstoreError(Exception):
    """An error of a store.

    `code` is the name of the error in the specification, or ours where it has none. `place` says
    where it is: a grain of a batch, a line of a file. `hint` says what can be done about it.

    >>> import grainstore
    >>> try:
    ...     grainstore.in_memory().put_batch([{"type": "event", "content": "x"}, {"type": "event"}])
    ... except grainstore.GrainstoreError as error:
    ...     error.code, error.place
    ('ERR_SCHEMA', 'grain 1')
    """

    code: str = "ERR_INTERNAL"

    def __init__(
        self,
        message: str,
        place: str | None = None,
        *,
        code: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.place = place
        self._hint = hint
        if code is not None:
            self.code = code

    @property
    def hint(self) -> str | None:
        """What can be done about it, in one line."""
        return self._hint or _native.hint(self.code)

    def __repr__(self) -> str:
        place = f", place={self.place!r}" if self.place else ""
        return f"{type(self).__name__}({str(self)!r}, code={self.code!r}{place})"


def class_name(code: str) -> str:
    """Returns the name of the class of a code.

    >>> class_name("ERR_INVALIDATION_DENIED"), class_name("PAM_SCHEMA")
    ('InvalidationDenied', 'GrainstoreError')
    """
    if not code.startswith("ERR_"):
        return GrainstoreError.__name__
    if code == "ERR_CONSENT":
        return "ConsentRequired"
    words = code.removeprefix("ERR_").split("_")
    return "".join(word.capitalize() for word in words)


_CLASSES: dict[str, type[GrainstoreError]] = {}
for _code in _native.codes():
    if class_name(_code) == GrainstoreError.__name__:
        continue
    _class = type(class_name(_code), (GrainstoreError,), {"code": _code, "__doc__": f"`{_code}`."})
    _class.__module__ = __name__
    _CLASSES[_code] = globals()[_class.__name__] = _class


def of(
    code: str, message: str, place: str | None = None, hint: str | None = None
) -> GrainstoreError:
    """Returns the exception of a code; `hint` stands for that of the code."""
    return _CLASSES.get(code, GrainstoreError)(message, place, code=code, hint=hint)


__all__ = ["GrainstoreError", *sorted(found.__name__ for found in _CLASSES.values())]
