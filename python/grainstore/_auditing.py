"""The operations of the auditor: legal holds, notes of the ledger, and proofs."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from .results import Hold, moment

if TYPE_CHECKING:
    from . import _native
    from ._native import Grain, Note, Proof, SigningKey


class Auditing:
    """The part of `Store` about holds and the audit trail, which is the ledger itself."""

    __slots__ = ()

    _native: _native.Store

    def store_id(self) -> str:
        """Returns the id of the store, 32 hexadecimal digits: agreements and notes name it.

        >>> import grainstore
        >>> len(grainstore.in_memory().store_id())
        32

        Raises `AccessDenied` for a handle that is not the owner's.
        """
        return self._native.store_id()

    def place_hold(self, address: str | Grain, *, reason: str, authority: str) -> None:
        """Places a legal hold: the grain is not replaced, contradicted, verified, deleted or erased,
        whatever else permits it.

        >>> import grainstore
        >>> store = grainstore.in_memory()
        >>> note = store.remember("the contract was signed", user="ana")
        >>> store.place_hold(note, reason="Doe v. Acme", authority="counsel")
        >>> store.delete(note, reason="asked", authority="the office")
        Traceback (most recent call last):
        grainstore.errors.InvalidationDenied: ...

        Raises `NotFound`, `Authority` without a reason or an authority, and `AccessDenied` for a handle
        that is not the owner's.
        """
        self._native.place_hold(address, reason, authority)

    def lift_hold(self, address: str | Grain, *, reason: str, authority: str) -> bool:
        """Lifts every hold on a grain, also that of its own policy, and returns whether there was one.

        >>> import grainstore
        >>> store = grainstore.in_memory()
        >>> note = store.remember("the contract was signed", user="ana")
        >>> store.place_hold(note, reason="Doe v. Acme", authority="counsel")
        >>> store.lift_hold(note, reason="settled", authority="counsel")
        True

        Raises what `place_hold` raises.
        """
        return self._native.lift_hold(address, reason, authority)

    def holds(self) -> list[Hold]:
        """Returns the holds that were placed and stand, by address.

        >>> import grainstore
        >>> store = grainstore.in_memory()
        >>> note = store.remember("the contract was signed", user="ana")
        >>> store.place_hold(note, reason="Doe v. Acme", authority="counsel")
        >>> [hold.reason for hold in store.holds()]
        ['Doe v. Acme']

        Raises `AccessDenied` for a handle that is not the owner's.
        """
        return [
            Hold(address, moment(since), reason, authority)
            for address, since, reason, authority in self._native.holds()
        ]

    def audit_head(self, key: SigningKey | None = None, *, entries: int | None = None) -> Note:
        """Returns the note of the ledger, or of its first `entries`, to be kept elsewhere; signed, if there
        is a key, which must be Ed25519. `checkpoint` notes one in the ledger too.

        >>> import grainstore
        >>> store = grainstore.in_memory()
        >>> _ = store.remember("hello")
        >>> store.audit_head().entries
        1

        Raises `Range` past the end, `Key`, `StorageDamaged`, and `AccessDenied` for a handle that is not
        the owner's.
        """
        return self._native.audit_head(key, entries)

    def audit_extends(self, note: Note) -> bool:
        """Returns whether the ledger begins with the entries of a note, none changed, missing or moved.
        The signatures of the note are for `Note.is_signed_by`.

        >>> import grainstore
        >>> store = grainstore.in_memory()
        >>> monday = store.audit_head()
        >>> _ = store.remember("hello")
        >>> store.audit_extends(monday), grainstore.in_memory().audit_extends(monday)
        (True, False)

        Raises what `audit_head` raises.
        """
        return self._native.audit_extends(note)

    def audit_prove(self, of: int | str | Grain, *, entries: int | None = None) -> Proof:
        """Proves under the root of the ledger, or of its first `entries`, that an entry is there, by its
        number, or the one that stored a grain. The proof has no content: an erasure leaves it valid.

        >>> import grainstore
        >>> store = grainstore.in_memory()
        >>> store.audit_prove(store.remember("hello")).is_in(store.audit_head())
        True

        Raises `NotFound`, `Range` for an entry that is not among them; what `audit_head` raises.
        """
        return self._native.audit_prove(of, entries)

    def audit_growth(self, first: int, *, entries: int | None = None) -> Proof:
        """Proves that the ledger, or its first `entries`, begin with its first `first`.

        >>> import grainstore
        >>> store = grainstore.in_memory()
        >>> _ = store.remember("hello")
        >>> monday = store.audit_head()
        >>> _ = store.remember("hello again")
        >>> store.audit_growth(monday.entries).extends(monday, store.audit_head())
        True

        Raises `Range` if `first` is 0 or more than there are; what `audit_head` raises.
        """
        return self._native.audit_growth(first, entries)

    def audit_export(self, path: str | PathLike[str], *, key: SigningKey | None = None) -> Note:
        """Writes the trail to a new file for a verifier that has neither the store nor this program,
        `tools/verify_audit.py`, and returns the note of all entries; both are signed, if there is a key.

        >>> import grainstore, tempfile
        >>> store = grainstore.in_memory()
        >>> _ = store.remember("hello")
        >>> store.audit_export(tempfile.mkdtemp() + "/trail.jsonl").entries
        1

        Raises `FileExistsError` and other errors of the system, `StorageIo` while it is written; what
        `audit_head` raises.
        """
        return self._native.audit_export(path, key)
