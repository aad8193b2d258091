#!/usr/bin/env python3
"""Verifies an audit export of grainstore without grainstore.

    verify_audit.py EXPORT [--log-key KEY] [--note FILE] [--witness KEY]... [--witnesses N]
                    [--proof FILE]... [--receipt FILE]...

Needs Python 3.9 and `cryptography`. It reads docs/format.md and RFC 9162, and shares no code with the
program: the chain of leaves, the Merkle tree, notes (C2SP signed-note, tlog-cosignature), checkpoints
and receipts (COSE_Sign1 with did:key), proofs; that no hold is lifted before anything was held, no
withdrawal has an effect before a grain was stored, no erasure is complete before it began, and that the
erasures of a receipt are complete. Exit 0 if all holds, 4 if anything does not, 2 for
wrong usage. Without --log-key the signatures of notes are not checked, and the answer says so.
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
COUNTED = ("stored", "holds", "lifted", "withdrawals", "erasures", "completed")


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
        demand(head.get("format") == FORMAT and head.get("version") == 1, "not an audit export")
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
        self.counts, self.completed = dict.fromkeys(COUNTED, 0), []
        later = []
        for line in lines:
            entry = parse(line)
            if "entry" in entry:
                demand(not later, "an entry behind the statements")
                self.add(entry)
            else:
                later.append(entry)
        demand(self.tree.size == self.entries, "entries are missing")
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
        demand(set(entry) == {"entry", "header", "operation"}, "not an entry")
        header = unhex(entry["header"], 64)
        sequence, kind = struct.unpack(">Q", header[:8])[0], header[28]
        demand(sequence == self.tree.size == entry["entry"], "entries are not in their order")
        demand(kind in OPERATIONS and header[29:32] == b"\0\0\0", "not the header of an entry")
        allowed = OPERATIONS[kind]
        demand(
            isinstance(entry["operation"], str)
            and (allowed is None or entry["operation"] in allowed),
            "the operation is not of the kind of the entry",
        )
        self.follow(kind, entry["operation"], sequence)
        self.leaf = sha256(b"\x00", self.leaf, header)
        self.tree.push(self.leaf)
        self.headers.append(header)

    def follow(self, kind, operation, sequence):
        """Counts holds, effects of withdrawals and erasures, which come in an order."""
        name = {7: "withdrawals", 17: "erasures", 18: "completed"}.get(kind)
        if kind == 8:
            name = {"hold": "holds", "release": "lifted"}[operation]
        elif kind in (1, 2):
            name = "stored"
        if name is None:
            return
        counts = self.counts
        counts[name] += 1
        if kind == 18:
            self.completed.append(sequence)
        # The policy of a grain may hold it, without an entry of its own.
        held = counts["holds"] + counts["stored"]
        demand(counts["lifted"] <= held, "a hold is lifted where nothing could be held")
        demand(counts["withdrawals"] <= counts["stored"], "an effect without a withdrawal")
        demand(counts["completed"] <= counts["erasures"], "the end of an erasure that never began")

    def is_complete(self, begun):
        """Whether as many erasures ended behind these as there are."""
        return sum(1 for sequence in self.completed if sequence > min(begun)) >= len(begun)

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
        demand(found["store"] == export.store, "a receipt of another store")
        demand((found["head"], found["tree"]) == export.at(found["entries"]), "another ledger")
        demand(export.is_complete(found["begun"]), "an erasure of the receipt is not complete")
    return found, did


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
        "counts": export.counts,
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
