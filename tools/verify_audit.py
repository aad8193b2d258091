#!/usr/bin/env python3
"""Verifies an audit export of grainstore without grainstore.

    verify_audit.py EXPORT [--log-key KEY] [--note FILE] [--witness KEY]... [--witnesses N]
                    [--proof FILE]... [--receipt FILE]...

Needs Python 3.9 and `cryptography`. It reads docs/format.md and RFC 9162, and shares no code with the
program. Checked are the chain of leaves, the Merkle tree, notes (C2SP signed-note, tlog-cosignature),
checkpoints and receipts (COSE_Sign1 with did:key), and proofs. Proven by their headers are the entries of
erasures: what each blanked, that it ended, and what a receipt says of it: the entries, the number of grains,
the destroyed key. Told, under the signature of the export, are the grains of holds and of withdrawn
consents: each is stored, none is erased, no hold is lifted where none stands, and none is left out unless
an erasure blanked it. Grains are named by the entries that stored them. Exit 0 if all holds, 4 if anything
does not, 2 for wrong usage. Without --log-key the signatures are not checked, and the answer says so.
"""

import argparse
import base64
import hashlib
import json
import struct
import sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, utils


class Refused(Exception):
    """Something does not hold."""


def demand(condition, message):
    if not condition:
        raise Refused(message)


def sha256(*parts):
    hash_ = hashlib.sha256()
    for part in parts:
        hash_.update(part)
    return hash_.digest()


def unhex(text, length=None):
    demand(isinstance(text, str) and text == text.lower(), "not lower-case hexadecimal digits")
    try:
        data = bytes.fromhex(text)
    except ValueError:
        raise Refused("not hexadecimal digits") from None
    demand(data.hex() == text and (length is None or len(data) == length), "wrong length")
    return data


def unbase64(text):
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        raise Refused("not base64") from None
    demand(base64.b64encode(data).decode() == text, "not canonical base64")
    return data


def number(value):
    demand(isinstance(value, int) and not isinstance(value, bool), "not a number")
    demand(0 <= value < 2**63, "not a number of entries")
    return value


# ---------------------------------------------------------------- RFC 9162, 2.1


class Tree:
    """The roots of full subtrees, largest first, as in binary counting."""

    def __init__(self):
        self.size, self.full = 0, []

    def push(self, leaf):
        size = self.size
        while size & 1:
            leaf = sha256(b"\x01", self.full.pop(), leaf)
            size >>= 1
        self.full.append(leaf)
        self.size += 1

    def root(self):
        if not self.full:
            return sha256(b"")
        root = self.full[-1]
        for left in reversed(self.full[:-1]):
            root = sha256(b"\x01", left, root)
        return root


def verify_inclusion(index, size, leaf, path, root):
    demand(index < size, "the entry is not among those under the root")
    at, last, found = index, size - 1, leaf
    for sibling in path:
        demand(last != 0, "the path is too long")
        if at & 1 or at == last:
            found = sha256(b"\x01", sibling, found)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            found = sha256(b"\x01", found, sibling)
        at, last = at >> 1, last >> 1
    demand(last == 0 and found == root, "the entry is not proven")


def verify_consistency(first, second, old, new, path):
    demand(0 < first <= second, "nothing is proven of these sizes")
    if first == second:
        demand(not path and old == new, "growth is not proven")
        return
    if first & (first - 1) == 0:
        path = [old] + path
    demand(path, "growth is not proven")
    at, last = first - 1, second - 1
    while at & 1:
        at, last = at >> 1, last >> 1
    older = newer = path[0]
    for sibling in path[1:]:
        demand(last != 0, "the path is too long")
        if at & 1 or at == last:
            older, newer = sha256(b"\x01", sibling, older), sha256(b"\x01", sibling, newer)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            newer = sha256(b"\x01", newer, sibling)
        at, last = at >> 1, last >> 1
    demand(last == 0 and older == old and newer == new, "growth is not proven")


# ---------------------------------------------------------------- notes (C2SP)


class NoteKey:
    def __init__(self, text):
        parts = text.strip().split("+", 2)
        demand(len(parts) == 3, "not a key of notes")
        self.name, key = parts[0], unbase64(parts[2])
        demand(len(key) == 33 and key[0] in (1, 4), "not an Ed25519 key of notes")
        self.kind, self.raw = key[0], key[1:]
        self.id = sha256(self.name.encode(), b"\n", key)[:4]
        demand(self.id.hex() == parts[1], "the id is not that of name and key")
        self.key = ed25519.Ed25519PublicKey.from_public_bytes(self.raw)

    def verify(self, signature, message):
        try:
            self.key.verify(signature, message)
        except InvalidSignature:
            raise Refused(f"the signature of {self.name} does not verify") from None


class Note:
    def __init__(self, text):
        body, gap, lines = text.partition("\n\n")
        if not gap:
            demand(text.endswith("\n"), "not a note")
            body = text[:-1]
        self.text = body + "\n"
        head = body.split("\n")
        demand(len(head) >= 3 and head[0].startswith("grainstore/"), "not a note of a store")
        self.origin, self.store = head[0], unhex(head[0][len("grainstore/"):], 16)
        demand(head[1].isascii() and head[1].isdigit(), "not a number of entries")
        self.entries = int(head[1])
        demand(str(self.entries) == head[1], "not a number of entries")
        self.root = unbase64(head[2])
        demand(len(self.root) == 32, "not a root")
        self.signatures = []
        demand(not gap or lines.endswith("\n"), "a signature line is cut short")
        for line in lines.split("\n")[:-1]:
            parts = line.split(" ")
            demand(len(parts) == 3 and parts[0] == "\u2014", "not a signature line")
            self.signatures.append((parts[1], unbase64(parts[2])))

    def check(self, key):
        """Verifies the signatures of a key, of which there must be one."""
        count = 0
        for name, data in self.signatures:
            if name != key.name or data[:4] != key.id:
                continue
            data, message = data[4:], self.text
            if key.kind == 4:
                demand(len(data) == 72, "not a cosignature")
                seconds = struct.unpack(">Q", data[:8])[0]
                data, message = data[8:], f"cosignature/v1\ntime {seconds}\n{self.text}"
            key.verify(data, message.encode())
            count += 1
        demand(count > 0, f"{key.name} has not signed")

    def check_witnesses(self, keys, wanted):
        seen = set()
        for key in keys:
            try:
                self.check(key)
                seen.add(key.raw)
            except Refused:
                continue
        demand(len(seen) >= wanted, f"{len(seen)} witnesses have signed, {wanted} are demanded")


# ------------------------------------------------- COSE_Sign1, did:key, MessagePack


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        demand(0 <= count <= len(self.data) - self.at, "cut short")
        self.at += count
        return self.data[self.at - count : self.at]

    def uint(self, count):
        return int.from_bytes(self.take(count), "big")

    def end(self):
        demand(self.at == len(self.data), "bytes follow")


def cbor(reader, depth=0):
    demand(depth < 8, "too deep")
    first = reader.uint(1)
    major, low = first >> 5, first & 31
    demand(low < 28, "not deterministic CBOR")
    value = low if low < 24 else reader.uint(1 << (low - 24))
    if major in (0, 1, 2, 3, 4, 5):
        demand(low < 24 or value >= (24, 2**8, 2**16, 2**32)[low - 24], "not in its shortest form")
    if major == 0:
        return value
    if major == 1:
        return -1 - value
    if major == 2:
        return reader.take(value)
    if major == 3:
        return reader.take(value).decode()
    if major == 4:
        return [cbor(reader, depth + 1) for _ in range(value)]
    if major == 5:
        found = {}
        for _ in range(value):
            key = cbor(reader, depth + 1)
            demand(key not in found, "a label twice")
            found[key] = cbor(reader, depth + 1)
        return found
    demand(first == 0xF6, "not a value of COSE_Sign1")
    return None


def msgpack(reader, depth=0):
    demand(depth < 8, "too deep")
    first = reader.uint(1)
    if first < 0x80:
        return first
    if first >= 0xE0:
        return first - 256
    if 0xA0 <= first < 0xC0:
        return reader.take(first & 31).decode()
    if 0x90 <= first < 0xA0:
        return [msgpack(reader, depth + 1) for _ in range(first & 15)]
    if 0x80 <= first < 0x90:
        return msgpack_map(reader, first & 15, depth)
    if first in (0xC0, 0xC2, 0xC3):
        return {0xC0: None, 0xC2: False, 0xC3: True}[first]
    if first == 0xCB:
        return struct.unpack(">d", reader.take(8))[0]
    if 0xC4 <= first <= 0xC6:
        return reader.take(reader.uint(1 << (first - 0xC4)))
    if 0xCC <= first <= 0xCF:
        return reader.uint(1 << (first - 0xCC))
    if 0xD0 <= first <= 0xD3:
        size = 1 << (first - 0xD0)
        return int.from_bytes(reader.take(size), "big", signed=True)
    if 0xD9 <= first <= 0xDB:
        return reader.take(reader.uint(1 << (first - 0xD9))).decode()
    if first in (0xDC, 0xDD):
        return [msgpack(reader, depth + 1) for _ in range(reader.uint(2 << (first - 0xDC)))]
    demand(first in (0xDE, 0xDF), "not a value of a statement")
    return msgpack_map(reader, reader.uint(2 << (first - 0xDE)), depth)


def msgpack_map(reader, count, depth):
    found = {}
    for _ in range(count):
        key = msgpack(reader, depth + 1)
        demand(isinstance(key, str) and key not in found, "a key twice")
        found[key] = msgpack(reader, depth + 1)
    return found


BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def did_key(did):
    demand(did.startswith("did:key:z"), f"the key of {did} is not in its name")
    value = 0
    for digit in did[len("did:key:z"):]:
        demand(digit in BASE58, "not a did:key")
        value = value * 58 + BASE58.index(digit)
    return value.to_bytes((value.bit_length() + 7) // 8, "big")


def open_statement(message, kind):
    """Returns the map in a signed statement, and its signer."""
    reader = Reader(message)
    parts = cbor(reader)
    reader.end()
    demand(isinstance(parts, list) and len(parts) == 4, "not a COSE_Sign1 message")
    protected, unprotected, payload, signature = parts
    demand(unprotected == {}, "something is not covered by the signature")
    demand(isinstance(protected, bytes) and isinstance(payload, bytes), "not a signed statement")
    head = Reader(protected)
    header = cbor(head)
    head.end()
    demand(isinstance(header, dict), "not a header")
    expected = f"application/vnd.grainstore.{kind}+msgpack"
    demand(header.get(3) == expected, "a statement of another kind")
    demand(isinstance(header.get(4), bytes) and isinstance(signature, bytes), "no signer")
    did = header[4].decode()
    text = lambda data: cbor_head(2, len(data)) + data
    signed = b"\x84\x6aSignature1" + text(protected) + b"\x40" + text(payload)
    key = did_key(did)
    try:
        if header.get(1) == -8 and key[:2] == b"\xed\x01":
            ed25519.Ed25519PublicKey.from_public_bytes(key[2:]).verify(signature, signed)
        elif header.get(1) == -7 and key[:2] == b"\x80\x24":
            demand(len(signature) == 64, "not a signature")
            r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
            curve = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), key[2:])
            curve.verify(utils.encode_dss_signature(r, s), signed, ec.ECDSA(hashes.SHA256()))
        else:
            raise Refused("the signer has no key of the algorithm")
    except (InvalidSignature, ValueError):
        raise Refused("the signature of a statement does not verify") from None
    body = Reader(payload)
    found = msgpack(body)
    body.end()
    demand(isinstance(found, dict), "not a statement")
    return found, did


def cbor_head(major, value):
    for low, limit, size in ((24, 2**8, 1), (25, 2**16, 2), (26, 2**32, 4)):
        if value < 24:
            return bytes([major << 5 | value])
        if value < limit:
            return bytes([major << 5 | low]) + value.to_bytes(size, "big")
    return bytes([major << 5 | 27]) + value.to_bytes(8, "big")


# ---------------------------------------------------------------- the export

OPERATIONS = {
    1: {"store"}, 2: None, 3: {"status", "supersede", "contradict", "verify"}, 4: {"flag"},
    5: {"name"}, 6: {"embed"}, 7: {"withdraw"}, 8: {"hold", "release"}, 9: {"review", "clear"},
    10: {"deny"}, 11: {"import"}, 12: {"export"}, 13: {"trust", "distrust", "sign"},
    14: {"policy", "clock", "check"}, 15: {"actor"}, 16: {"key"}, 17: {"erase"}, 18: {"erased"},
    19: {"restore"}, 20: {"checkpoint"}, 21: {"sign"}, 22: {"read"},
}
FORMAT = "grainstore-audit-export/v1"
# What no erasure blanks: keys, erasures, restorations, checkpoints.
LASTING = {16, 17, 18, 19, 20}


class Export:
    """The trail in a file; all of it is checked when it is read."""

    def __init__(self, data, log_key=None, sizes=()):
        demand(data.endswith(b"\n"), "the export is cut short")
        body, _, last = data[:-1].rpartition(b"\n")
        body += b"\n"
        end = parse(last)
        demand(set(end) == {"sha256", "signature"}, "the export has no end")
        demand(end["sha256"] == hashlib.sha256(body).hexdigest(), "the checksum does not fit")
        lines = iter(body.split(b"\n")[:-1])
        head = parse(next(lines))
        demand(head.get("format") == FORMAT and head.get("version") == 2, "not an audit export")
        self.store, self.entries = unhex(head["store"], 16), number(head["entries"])
        origin = "grainstore/" + self.store.hex()
        if log_key is not None:
            demand(log_key.name == origin and log_key.kind == 1, "the key is another store's")
            demand(end["signature"] is not None, "the export is not signed")
            log_key.verify(
                unhex(end["signature"], 64), f"{FORMAT}\n{origin}\n{end['sha256']}\n".encode()
            )
        self.leaf, self.tree = sha256(self.store), Tree()
        self.heads, wanted = {}, set(sizes)
        self.checkpoints, self.notes, self.headers = [], [], []
        self.operations, self.opened, self.facts = [], {}, {}
        later = []
        for line in lines:
            entry = parse(line)
            if "entry" in entry:
                demand(not later, "an entry behind the statements")
                self.add(entry)
            else:
                later.append(entry)
        demand(self.tree.size == self.entries, "entries are missing")
        self.check_erasures()
        self.check_holds()
        self.check_effects()
        for entry in later:
            if set(entry) == {"checkpoint"}:
                self.checkpoints.append(open_statement(unhex(entry["checkpoint"]), "checkpoint"))
            else:
                demand(set(entry) == {"note"}, "not a line of an export")
                self.notes.append(Note(entry["note"]))
        wanted |= {number(found["entries"]) for found, _ in self.checkpoints}
        wanted |= {note.entries for note in self.notes}
        self.compute(wanted)
        for found, _ in self.checkpoints:
            demand(found.get("store") == self.store, "a checkpoint of another store")
            at = self.at(found["entries"])
            demand((found["head"], found["root"]) == at, "a checkpoint of another ledger")
        demand(len(self.notes) == 1, "the export has no note")
        for note in self.notes:
            demand(note.entries == self.entries, "the note is not of all entries")
            self.agrees(note)
            if log_key is not None:
                note.check(log_key)

    def add(self, entry):
        demand(
            set(entry) - {"facts", "opened"} == {"entry", "header", "operation"}, "not an entry"
        )
        header = unhex(entry["header"], 64)
        sequence, kind = struct.unpack(">Q", header[:8])[0], header[28]
        demand(sequence == self.tree.size == entry["entry"], "entries are not in their order")
        demand(kind in OPERATIONS and header[29:32] == b"\0\0\0", "not the header of an entry")
        allowed, operation = OPERATIONS[kind], entry["operation"]
        demand(
            isinstance(operation, str) and (allowed is None or operation in allowed),
            "the operation is not of the kind of the entry",
        )
        if "opened" in entry:
            demand(kind in (16, 17, 18), "an entry is opened that an erasure may blank")
            self.opened[sequence] = open_entry(unhex(entry["opened"]), header)
        demand(kind not in (17, 18) or "opened" in entry, "the entry of an erasure is not opened")
        if "facts" in entry:
            members = FACTS.get(operation)
            demand(kind in (2, 7, 8) and members is not None, "facts of another entry")
            demand(set(entry["facts"]) == members, "not the facts of the operation")
            self.facts[sequence] = entry["facts"]
        self.operations.append(operation)
        self.leaf = sha256(b"\x00", self.leaf, header)
        self.tree.push(self.leaf)
        self.headers.append(header)

    def kind(self, sequence):
        return self.headers[sequence][28]

    def is_grain(self, sequence):
        """Whether an entry stored a grain; of a sealed one that was blanked it is not known."""
        demand(number(sequence) < self.entries, "an entry that is not there")
        return self.kind(sequence) in (1, 2) and self.operations[sequence] == "store"

    def check_erasures(self):
        """What the opened entries say: what was blanked, what is complete, which keys are gone."""
        self.erasures, self.ended, self.destroyed = {}, {}, []
        self.blanked = set()
        for sequence, body in self.opened.items():
            if self.kind(sequence) == 17:
                rows = body.get("r")
                demand(isinstance(rows, bytes) and len(rows) % 8 == 0, "not an erasure")
                rows = {row for (row,) in struct.iter_unpack(">Q", rows)}
                for row in rows:
                    demand(row < sequence, "an erasure of what was not there")
                    demand(self.kind(row) not in LASTING, "an erasure blanked what stays")
                self.erasures[sequence] = rows
                self.blanked |= rows
            elif self.kind(sequence) == 18:
                begun = body.get("e")
                demand(begun in self.erasures, "the end of an erasure that never began")
                self.ended.setdefault(begun, sequence)
            else:
                demand(body.get("op") == "erase", "an entry about keys is opened")
                self.destroyed.append((sequence, body))

    def told(self, operations):
        """The facts of entries of some operations; they may lack where nothing can be read."""
        self.unread = getattr(self, "unread", 0)
        for sequence, operation in enumerate(self.operations):
            if operation not in operations:
                continue
            if sequence in self.facts:
                demand(sequence not in self.blanked, "facts of an entry that was blanked")
                yield sequence, operation, self.facts[sequence]
            elif sequence not in self.blanked:
                # Those of a sealed person are read while the person is unlocked.
                demand(self.kind(sequence) == 2, f"a {operation} without what it is about")
                self.unread += 1

    def named(self, sequence, before=None):
        """A grain that facts name: stored, and not blanked."""
        demand(self.is_grain(sequence), "facts about what is no grain")
        demand(sequence not in self.blanked, "facts about a grain that was erased")
        demand(before is None or sequence < before, "facts about a grain that came later")

    def is_partial(self):
        """Whether what facts name may be gone: with damage, or with a restoration."""
        return "restore" in self.operations

    def check_holds(self):
        standing = {}
        for sequence, operation, facts in self.told({"hold", "release"}):
            demand(isinstance(facts["by"], str) and facts["by"], "a hold by none")
            of = facts["of"]
            if of is None:
                demand(self.is_partial(), "a hold of no grain")
                continue
            self.named(of, sequence)
            if operation == "hold":
                standing.setdefault(of, []).append({"by": facts["by"], "entry": sequence})
                continue
            # The policy of a grain may hold it, without an entry of its own.
            lifted = standing.pop(of, None) or facts["own"] is True or self.is_partial()
            demand(lifted, "a hold is lifted where none stands")
        self.holds = [{"of": of, "placed": placed} for of, placed in sorted(standing.items())]

    def check_effects(self):
        self.effects = []
        for sequence, _, facts in self.told({"withdraw"}):
            consent, withdrawal = facts["consent"], facts["withdrawal"]
            if withdrawal is None:
                demand(self.blanked or self.is_partial(), "an effect without a withdrawal")
            else:
                self.named(withdrawal, sequence)
            if consent is not None:
                self.named(consent)
            demand(consent is None or consent != withdrawal, "a consent that withdraws itself")
            resting = facts["resting"]
            demand(isinstance(resting, list) and resting == sorted(set(resting)), "not a list")
            demand(isinstance(facts["counts"], bool), "not whether a withdrawal counts")
            demand(facts["counts"] or not resting, "grains rest on a consent that stands")
            for row in resting:
                self.named(row)
                demand(row not in (consent, withdrawal), "a consent rests on itself")
            self.effects.append({"entry": sequence, **facts})

    def counts(self):
        kinds = [self.kind(sequence) for sequence in range(self.entries)]
        return {
            "blanked": len(self.blanked),
            "completed": len(self.ended),
            "erasures": len(self.erasures),
            "stored": sum(map(self.is_grain, range(self.entries))),
            "unread": self.unread,
            "withdrawals": kinds.count(7),
        }

    def compute(self, sizes):
        """The leaf and root after some numbers of entries."""
        missing = {size for size in sizes if size not in self.heads and size < self.entries}
        self.heads[self.entries] = (self.leaf, self.tree.root())
        if not missing:
            return
        leaf, tree = sha256(self.store), Tree()
        if 0 in missing:
            self.heads[0] = (leaf, tree.root())
        for header in self.headers:
            leaf = sha256(b"\x00", leaf, header)
            tree.push(leaf)
            if tree.size in missing:
                self.heads[tree.size] = (leaf, tree.root())

    def at(self, size):
        demand(size <= self.entries, "more entries are stated than there are: the trail was cut")
        self.compute({size})
        return self.heads[size]

    def agrees(self, note):
        demand(note.store == self.store, "the note is of another store")
        demand(self.at(note.entries)[1] == note.root, "the note is of another ledger")


FACTS = {
    "hold": {"by", "of"},
    "release": {"by", "of", "own"},
    "withdraw": {"consent", "counts", "resting", "withdrawal"},
}


def open_entry(opening, header):
    """The map in the body of an entry, which its header commits to."""
    salt, body = opening[:16], opening[16:]
    committed = sha256(b"\x02", salt, sha256(body))
    demand(len(salt) == 16 and committed == header[32:], "an opened entry is another one")
    reader = Reader(body)
    found = msgpack(reader)
    reader.end()
    demand(isinstance(found, dict), "not the body of an entry")
    return found


def parse(line):
    def once(pairs):
        found = dict(pairs)
        demand(len(found) == len(pairs), "a member twice")
        return found

    try:
        text = line.decode()
        found = json.loads(text, object_pairs_hook=once)
    except ValueError:
        raise Refused("not a line of JSON") from None
    demand(isinstance(found, dict), "not an object")
    return found


def check_proof(proof, roots):
    """`roots` returns the root after a number of entries, or refuses."""
    path = [unhex(it, 32) for it in proof["path"]]
    size = number(proof["entries"])
    store, root = roots(size)
    demand(proof["origin"] == "grainstore/" + store.hex(), "a proof of another store")
    demand(unhex(proof["root"], 32) == root, "a proof under another root")
    if proof["proof"] == "inclusion":
        header = unhex(proof["header"], 64)
        index = struct.unpack(">Q", header[:8])[0]
        demand(index == number(proof["entry"]), "the proof is of another entry")
        leaf = sha256(b"\x00", unhex(proof["before"], 32), header)
        verify_inclusion(index, size, leaf, path, root)
    else:
        demand(proof["proof"] == "consistency", "not a proof")
        first = number(proof["first"])
        old = roots(first)[1]
        demand(unhex(proof["first_root"], 32) == old, "a proof from another root")
        verify_consistency(first, size, old, root, path)


def check_receipt(message, export=None):
    """Verifies the receipt for an erasure; returns it and its signer."""
    found, did = open_statement(message, "erasure")
    demand("tree" in found and isinstance(found.get("proofs"), list), "a receipt without proofs")
    demand(len(found["proofs"]) == len(found["begun"]), "a receipt without all proofs")
    for proof, begun in zip(found["proofs"], found["begun"]):
        demand(len(proof) >= 96 and len(proof) % 32 == 0, "not a proof")
        header, before, path = proof[:64], proof[64:96], proof[96:]
        demand(struct.unpack(">Q", header[:8])[0] == begun, "the proof is of another entry")
        demand(header[28] == 17, "the entry began no erasure")
        path = [path[at : at + 32] for at in range(0, len(path), 32)]
        leaf = sha256(b"\x00", before, header)
        verify_inclusion(begun, found["entries"], leaf, path, found["tree"])
    if export is not None:
        compare_receipt(found, export)
    return found, did


def compare_receipt(found, export):
    """Verifies what a receipt says against the trail."""
    demand(found["store"] == export.store, "a receipt of another store")
    demand((found["head"], found["tree"]) == export.at(found["entries"]), "another ledger")
    demand(len(set(found["begun"])) == len(found["begun"]), "the receipt has an erasure twice")
    rows, marks, persons = set(), 0, False
    for begun in found["begun"]:
        demand(begun in export.erasures, "the receipt has an erasure that never began")
        ended = export.ended.get(begun, export.entries)
        demand(ended < found["entries"], "an erasure of the receipt is not complete")
        body = export.opened[begun]
        rows |= export.erasures[begun]
        marks += len(body["t"]) // 32
        persons = persons or "u" in body
    demand(found["blanked"] == len(rows), "the receipt has another number of blanked entries")
    plain = sum(1 for row in rows if export.kind(row) == 1)
    sealed = sum(1 for row in rows if export.kind(row) == 2)
    # Which sealed entries are grains is not known any more; each erased grain has a mark.
    most = min(plain + sealed, marks)
    demand(plain <= found["erased"] <= most, "the receipt has another number of grains")
    demand(persons == ("kcv" in found), "the receipt and the trail differ on a destroyed key")
    if persons:
        checks = [
            (body["kcv"], body["e"]) for sequence, body in export.destroyed
            if sequence < found["entries"]
        ]
        wanted = (found["kcv"], found["epochs"][1])
        demand(wanted in checks, "the key of the receipt was not destroyed")


def read_note(path):
    text = open(path, encoding="utf-8", newline="").read()
    if text.startswith("{"):
        text = parse(text.strip().split("\n")[-1].encode())["note"]
    return Note(text)


def run(options):
    key = NoteKey(options.log_key) if options.log_key else None
    witnesses = [NoteKey(text) for text in options.witness]
    with open(options.export, "rb") as file:
        export = Export(file.read(), key)
    for path in options.note:
        note = read_note(path)
        export.agrees(note)
        if key is not None:
            note.check(key)
        note.check_witnesses(witnesses, options.witnesses)
    for path in options.proof:
        with open(path, "rb") as file:
            proof = parse(file.read().strip())
        check_proof(proof, lambda size: (export.store, export.at(size)[1]))
    for path in options.receipt:
        with open(path, "rb") as file:
            check_receipt(unhex(parse(file.read().strip())["receipt"]), export)
    return {
        "entries": export.entries,
        "root": export.tree.root().hex(),
        "checkpoints": [did for _, did in export.checkpoints],
        "is_signed": True if key is not None else None,
        "anchored": bool(options.note),
        "counts": export.counts(),
        "holds": export.holds,
        "effects": export.effects,
    }


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("export")
    arguments.add_argument("--log-key")
    arguments.add_argument("--note", action="append", default=[])
    arguments.add_argument("--witness", action="append", default=[])
    arguments.add_argument("--witnesses", type=int, default=0)
    arguments.add_argument("--proof", action="append", default=[])
    arguments.add_argument("--receipt", action="append", default=[])
    options = arguments.parse_args()
    try:
        print(json.dumps(run(options)))
    except (Refused, OSError, KeyError, TypeError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(4)


if __name__ == "__main__":
    main()
