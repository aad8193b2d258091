"""Holds, hold keys, notes of the ledger and proofs."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

import grainstore
from grainstore import AsyncStore, Note, Proof, SigningKey, Store, errors

ASKED = {"reason": "request 17", "authority": "the DPO"}
COUNSEL = {"reason": "Doe v. Acme", "authority": "counsel"}


@pytest.fixture
def key() -> SigningKey:
    return SigningKey.generate()


# Holds.


def test_a_hold_keeps_a_grain_until_it_is_lifted(store: Store) -> None:
    note = store.remember("the contract was signed", subject="acme", relation="said")
    store.place_hold(note, **COUNSEL)
    (hold,) = store.holds()
    assert (hold.address, hold.reason, hold.authority) == (note, "Doe v. Acme", "counsel")
    for change in (
        lambda: store.correct(note, object="nothing"),
        lambda: store.delete(note, **ASKED),
        lambda: store.contradict(note),
    ):
        with pytest.raises(errors.InvalidationDenied, match="hold"):
            change()
    assert store.lift_hold(note, **COUNSEL) and not store.lift_hold(note, **COUNSEL)
    assert store.holds() == []
    store.delete(note, **ASKED)
    with pytest.raises(errors.NotFound):
        store.place_hold(note, **COUNSEL)
    with pytest.raises(errors.Authority):
        store.place_hold(store.remember("x"), reason="", authority="")
    with pytest.raises(errors.AccessDenied):
        store.of_user("ana").holds()


def test_what_is_held_of_an_erased_person_stays_under_a_hold_key() -> None:
    with grainstore.in_memory(master_key=bytes(range(32))) as store:
        store.add_keys("ana", "ben")
        store.unlock("ben")
        store.remember("I know ana", user="ben")
        store.lock("ben")
        store.unlock("ana")
        held, gone = store.remember("evidence", user="ana"), store.remember("tea", user="ana")
        store.place_hold(held, **COUNSEL)
        with pytest.raises(errors.InvalidationDenied):
            store.erase_person("ana", **ASKED)
        done = store.erase_person("ana", reseal_held=True, **ASKED)
        assert (done.erased, done.kept, done.held) == ([gone], [held], [held])
        assert done.locked_persons == 1 and not done.is_vault_damaged
        ben, name = store.users()
        assert ben == "ben" and name.startswith("hold:")
        assert store.get(held) is None and store.person_report("ana").about == []
        with pytest.raises(errors.UserUnknown):
            store.unlock("ana")
        store.unlock(name)
        assert store.get(held) is not None
        assert store.lift_hold(held, **COUNSEL)
        store.delete(held, **ASKED)
        assert store.get(held) is None


def test_a_report_says_how_many_locked_persons_it_did_not_look_into() -> None:
    with grainstore.in_memory(master_key=bytes(range(32))) as store:
        store.add_keys("ana", "ben")
        store.unlock("ana")
        store.unlock("ben")
        store.remember("I know ana", user="ben")
        store.lock("ben")
        assert store.person_report("ana").locked_persons == 1
        store.unlock("ben")
        assert store.person_report("ana").locked_persons == 0


# Notes.


def test_a_note_tells_whether_the_store_goes_on_from_it(store: Store, key: SigningKey) -> None:
    store.remember("one")
    monday = store.audit_head(key)
    store.remember("two")
    read = Note.read(str(monday))
    assert read == monday and read != store.audit_head() and repr(read) == repr(monday)
    assert (read.entries, read.root) == (1, store.audit_head(entries=1).root)
    assert read.origin == f"grainstore/{store.store_id()}"
    public = read.log_key(key)
    other = read.log_key(SigningKey.generate())
    assert read.is_signed_by(public) and not read.is_signed_by(other)
    assert not store.audit_head().is_signed_by(public)
    assert read.signers([public, public, other]) == 1
    assert store.audit_extends(read)
    with grainstore.in_memory() as another:
        another.remember("one")
        assert not another.audit_extends(read)


def test_a_text_that_is_no_note_is_refused(store: Store) -> None:
    note = store.audit_head()
    for text in ("", "no note", str(note) + "\n", str(note)[1:]):
        with pytest.raises(errors.Corrupt):
            Note.read(text)
    with pytest.raises(errors.Key):
        note.is_signed_by("ana")
    with pytest.raises(errors.Key, match="Ed25519"):
        note.log_key(SigningKey.generate("P-256"))
    with pytest.raises(errors.Range):
        store.audit_head(entries=9)
    with pytest.raises(errors.AccessDenied):
        store.of_user("ana").audit_head()


def test_a_store_that_was_rolled_back_does_not_open(folder: Path) -> None:
    earlier = folder.with_name("earlier.grains")
    with grainstore.open(folder) as store:
        store.remember("one")
        store.backup(earlier)
        store.remember("two")
        note = store.audit_head()
    with grainstore.open(folder, since=note) as store:
        assert store.count() == 2
    with pytest.raises(errors.StorageDamaged, match="rolled back"):
        grainstore.open(earlier, since=note)


# Proofs.


def test_an_entry_is_proven_also_when_its_content_is_erased(store: Store) -> None:
    hello, again = store.remember("hello"), store.remember("hello again")
    note = store.audit_head()
    proof = store.audit_prove(again)
    assert (proof.entry, proof.first, proof.entries) == (1, None, 2)
    store.delete(again, **ASKED)
    read = Proof.from_json(proof.to_json())
    assert read == proof and read.is_in(note) and "hello" not in proof.to_json()
    assert store.audit_prove(1, entries=2) == proof
    assert store.audit_prove(hello, entries=2) != proof
    assert not read.is_in(store.audit_head()) and not read.extends(note, note)
    assert repr(proof) == "Proof(entry=1, entries=2)"
    with pytest.raises(errors.NotFound):
        store.audit_prove("0" * 64)
    with pytest.raises(errors.Range):
        store.audit_prove(99)


def test_growth_is_proven_between_two_notes(store: Store) -> None:
    notes = []
    for number in range(3):
        store.remember(f"note {number}")
        notes.append(store.audit_head())
    first, second, third = notes
    proof = store.audit_growth(1)
    assert (proof.entry, proof.first, proof.entries) == (None, 1, 3)
    assert proof.extends(first, third) and not proof.extends(second, third)
    assert not proof.extends(first, second) and not proof.is_in(third)
    assert store.audit_growth(1, entries=2).extends(first, second)
    for wrong in (0, 9):
        with pytest.raises(errors.Range):
            store.audit_growth(wrong)


def test_a_proof_that_was_changed_proves_nothing(store: Store) -> None:
    store.put_batch({"type": "event", "content": f"turn {n}"} for n in range(2))
    note, whole = store.audit_head(), json.loads(store.audit_prove(0).to_json())
    header = f"{int(whole['header'], 16) ^ 1:0128x}"
    changed = {"header": header, "entry": 1, "entries": 1, "origin": "grainstore/0"}
    for name, value in changed.items():
        assert not Proof.from_json(json.dumps({**whole, name: value})).is_in(note), name
    for document in ([], {}, {**whole, "proof": "other"}, {**whole, "path": [1]}, {**whole, "root": "00"}):
        with pytest.raises(errors.Corrupt):
            Proof.from_json(json.dumps(document))
    with pytest.raises(errors.Corrupt):
        Proof.from_json("no json")


def run(*arguments: str, folder: Path) -> dict[str, object]:
    command = [sys.executable, "-m", "grainstore", *arguments, "--json"]
    told = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=120)
    assert told.returncode == 0, told.stderr
    return json.loads(told.stdout)  # type: ignore[no-any-return]


def test_the_command_verifies_the_files_of_python(
    folder: Path, key: SigningKey, tmp_path: Path
) -> None:
    with grainstore.open(folder) as store:
        note = store.remember("hello")
        monday = store.audit_head(key)
        store.remember("hello again")
        now = store.audit_head(key)
        files = {
            "monday.txt": str(monday),
            "now.txt": str(now),
            "proof.json": store.audit_prove(note).to_json(),
            "growth.json": store.audit_growth(monday.entries).to_json(),
        }
        for name, text in files.items():
            (tmp_path / name).write_text(text)
        public = now.log_key(key)
        trail = store.audit_export(tmp_path / "trail.jsonl", key=key)
        assert trail.entries == now.entries and trail.is_signed_by(public)
        with pytest.raises(FileExistsError):
            store.audit_export(tmp_path / "trail.jsonl")
        with pytest.raises(errors.Key):
            store.audit_export(tmp_path / "other.jsonl", key=SigningKey.generate("P-256"))
    lines = (tmp_path / "trail.jsonl").read_text().splitlines()
    assert json.loads(lines[-2]) == {"note": str(trail)} and "hello" not in "".join(lines)
    verify = ("audit", "verify")
    signed = ("--note", "now.txt", "--log-key", public)
    told = run(*verify, "proof.json", *signed, folder=tmp_path)
    assert told["is_proven"] and told["is_signed"]
    assert run(*verify, "growth.json", "--since", "monday.txt", *signed, folder=tmp_path)["is_proven"]
    head = run("--store", str(folder), "audit", "prove", note, "--entries", "2", folder=tmp_path)
    assert Proof.from_json(json.dumps(head)).is_in(now)


def test_the_async_twin_proves(store: Store) -> None:
    async def main() -> None:
        twin = AsyncStore(store)
        note = await twin.remember("hello")
        assert (await twin.audit_prove(note)).is_in(await twin.audit_head())
        await twin.place_hold(note, **COUNSEL)
        assert len(await twin.holds()) == 1

    asyncio.run(main())
