"""Prints the stub of `grainstore.errors` from the codes of the library.

`python stubs.py > grainstore/errors.pyi` writes it, and a test holds the file to it.
"""

from grainstore import _native, errors

HEAD = '''"""The exceptions of grainstore, one class for each code. Written by `stubs.py`."""

class GrainstoreError(Exception):
    code: str
    place: str | None
    def __init__(
        self, message: str, place: str | None = None, *, code: str | None = None
    ) -> None: ...
    @property
    def hint(self) -> str | None: ...

def class_name(code: str) -> str: ...
def of(code: str, message: str, place: str | None = None) -> GrainstoreError: ...
'''


def stub() -> str:
    """Returns the text of the stub."""
    names = sorted({errors.class_name(code) for code in _native.codes()} - {"GrainstoreError"})
    return HEAD + "".join(f"class {name}(GrainstoreError): ...\n" for name in names)


if __name__ == "__main__":
    print(stub(), end="")
