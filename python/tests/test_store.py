"""What a store keeps, answers and refuses."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import grainstore
from grainstore import Store, errors

NOWHERE = "0" * 64


def belief(store: Store, object: str = "tea", **fields: object) -> str:
    return store.remember(object, subject="ana", relation="likes", **fields)  # type: ignore[arg-type]


# Grains.


def test_a_grain_says_what_it_is(store: Store) -> None:
    grain = store.get(belief(store, confidence=0.5))
    assert grain is not None
    assert (grain.type, grain["subject"], grain.get("relation")) == ("belief", "ana", "likes")
    assert grain.fields["confidence"] == 0.5
    assert "object" in grain and "user_id" not in grain
    assert grain.get("user_id") is None and grain.get("user_id", 1) == 1
    assert repr(grain).startswith("Grain(belief: 'ana likes tea', ")
    assert '"object":"tea"' in grain.to_json()
    with pytest.raises(KeyError, match="user_id"):
        grain["user_id"]


def test_the_fields_of_a_grain_are_a_copy(store: Store) -> None:
    grain = store.get(belief(store))
    assert grain is not None
    grain.fields["object"] = "milk"
    assert grain["object"] == "tea"


def test_equal_grains_are_equal_and_have_one_hash(store: Store) -> None:
    address = belief(store)
    one, two = store.get(address), store.get(address)
    other = store.get(belief(store, "milk"))
    assert one == two and hash(one) == hash(two)
    assert one != other and one != address
    assert len({one, two, other}) == 2


def test_a_grain_is_an_address_where_one_is_asked_for(store: Store) -> None:
    grain = store.get(belief(store))
    assert grain is not None
    assert store.get(grain) == grain
    child = store.put({"type": "event", "content": "x", "derived_from": [grain]})
    assert [found.address for found in store.query(derived_from=grain)] == [child]


def test_a_grain_that_is_put_twice_has_one_address(store: Store) -> None:
    grain = {"type": "event", "content": "x", "created_at": 1}
    assert store.put(grain) == store.put(dict(reversed(grain.items())))
    assert store.insert(grain) == (store.put(grain), False)
    assert store.insert({**grain, "content": "y"})[1]
    assert store.count() == 2


def test_an_address_that_is_not_here_is_none(store: Store) -> None:
    assert store.get(NOWHERE) is None
    assert store.get([NOWHERE]) == [None]
    with pytest.raises(errors.NotFound):
        store.status(NOWHERE)
    with pytest.raises(errors.NotFound):
        store.history(NOWHERE)


def test_text_that_is_no_address_is_refused(store: Store) -> None:
    with pytest.raises(errors.HashLength):
        store.get("abc")
    with pytest.raises(errors.HashFormat):
        store.get("z" * 64)
    with pytest.raises(TypeError):
        store.get(1)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    "fields, error",
    [
        ({}, errors.NoType),
        ({"type": "dream"}, errors.UnknownType),
        ({"type": 1}, errors.Schema),
        ({"type": "event"}, errors.Schema),
        ({"type": "event", "content": ""}, errors.Empty),
        (
            {"type": "belief", "subject": "a", "relation": "b", "object": "c", "confidence": 2.0},
            errors.Range,
        ),
        ([], errors.NotMap),
    ],
    ids=str,
)
def test_a_grain_that_is_none_is_refused_with_its_code(
    store: Store, fields: dict[str, object], error: type[Exception]
) -> None:
    with pytest.raises(error):
        store.put(fields)


def test_a_batch_is_stored_whole_or_not_at_all(store: Store) -> None:
    good = {"type": "event", "content": "x"}
    with pytest.raises(errors.Schema) as raised:
        store.put_batch([good, good, {"type": "event"}])
    assert raised.value.place == "grain 2"
    assert store.count() == 0
    with pytest.raises(ZeroDivisionError):
        store.put_batch({"type": "event", "content": str(1 // n)} for n in (1, 0))
    assert store.count() == 0


def test_a_belief_needs_both_subject_and_relation(store: Store) -> None:
    with pytest.raises(TypeError, match="both, or neither"):
        store.remember("tea", subject="ana")


# Search, query, recall.


def test_a_search_finds_words_of_the_person_who_is_named(store: Store) -> None:
    belief(store, "green tea", user="ana")
    belief(store, "black tea", user="ben")
    found = store.search("tea", user="ana")
    assert (len(found), found.total) == (1, 1)
    assert found[0].grain["object"] == "green tea"
    assert found[0].matched_fields == ["object"]
    assert 0 < found[0].score <= 1
    assert [hit.address for hit in found] == [found[0].address]


def test_a_query_that_is_none_is_an_error_unless_it_is_plain(store: Store) -> None:
    store.remember("what about tea (or coffee")
    with pytest.raises(errors.SearchSyntax):
        store.search("tea (")
    assert store.search("tea (", plain=True).total == 1


def test_pages_follow_each_other_and_show_one_moment(store: Store) -> None:
    store.put_batch({"type": "event", "content": str(n), "created_at": n + 1} for n in range(25))
    seen = []
    for found in store.query(page=10):
        if not seen:
            store.remember("later")
        seen.append(int(found.grain["content"]))
    assert seen == list(range(25))
    assert store.count() == 26


def test_a_query_is_sorted_by_what_is_asked_for(store: Store) -> None:
    for n in (2, 1, 3):
        store.remember(str(n), at=n)
    ordered = [found.grain["content"] for found in store.query(sort="-created_at")]
    assert ordered == ["3", "2", "1"]
    with pytest.raises(ValueError, match="there is no sort"):
        next(store.query(sort="colour"))


@pytest.mark.parametrize(
    "condition, count",
    [
        ({"type": "belief"}, 1),
        ({"type": "event"}, 1),
        ({"subject": "ana"}, 1),
        ({"subject": "ana", "relation": "likes", "object": "tea"}, 1),
        ({"tag": "drinks"}, 1),
        ({"tag": ["drinks", "hot"]}, 1),
        ({"tag": ["drinks", "cold"]}, 0),
        ({"without_tag": "drinks"}, 1),
        ({"user": "ana"}, 1),
        ({"session": "monday"}, 1),
        ({"namespace": "home"}, 1),
        ({"confidence": (0.5, None)}, 1),
        ({"confidence": (None, 0.5)}, 0),
        ({"since": 2_000}, 1),
        ({"until": 1_999}, 1),
        ({"since": None}, 2),
        ({"verification": "verified"}, 0),
        ({"verification": "unverified"}, 2),
        ({"superseded": "only"}, 0),
        ({"superseded": "include"}, 2),
        ({"verified": True}, 0),
        ({"verified": False}, 2),
        ({"expired": True, "unreviewed": True}, 2),
        ({"source_type": "user_explicit"}, 1),
        ({"among": [NOWHERE]}, 0),
    ],
    ids=str,
)
def test_conditions_select_grains(store: Store, condition: dict[str, object], count: int) -> None:
    belief(
        store, tags=["drinks", "hot"], user="ana", at=1_000, namespace="home", confidence=0.8
    )
    store.remember("hello", session="monday", at=2_000, source_type="user_explicit")
    assert store.count(**condition) == count  # type: ignore[arg-type]
    assert len(list(store.query(**condition))) == count  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "condition, error",
    [
        ({"colour": "red"}, TypeError),
        ({"type": "dream"}, ValueError),
        ({"superseded": "maybe"}, ValueError),
        ({"since": "yesterday"}, ValueError),
        ({"since": 1.5}, TypeError),
        ({"user": 1}, TypeError),
        ({"among": ["x"]}, errors.HashLength),
    ],
    ids=str,
)
def test_a_condition_that_is_none_is_refused(
    store: Store, condition: dict[str, object], error: type[Exception]
) -> None:
    with pytest.raises(error):
        store.count(**condition)  # type: ignore[arg-type]


def test_a_recall_is_text_for_a_prompt_and_lines_for_a_program(store: Store) -> None:
    address = store.remember("I moved to Porto in May", user="ana", role="user", session="monday")
    known = store.recall("Where did Ana move?", user="ana")
    assert [line.address for line in known] == [address]
    line = known.lines[0]
    assert line.text == "I moved to Porto in May" and line.is_turn and line.standing is None
    assert "Porto" in str(known) and known.render("json").startswith("{")
    assert known.tokens > 0 and not known.is_cut and known
    assert not store.recall("Where did Ana move?", user="ben")
    with pytest.raises(ValueError, match="no such format"):
        known.render("html")  # type: ignore[arg-type]


# Versions.


def test_a_correction_keeps_what_it_does_not_name(store: Store) -> None:
    old = belief(store, confidence=0.5, tags=["drinks"], user="ana")
    new = store.correct(old, object="milk", structural_tags=None, reason="said so")
    grain = store.get(new)
    assert grain is not None
    assert (grain["object"], grain["confidence"], grain["user_id"]) == ("milk", 0.5, "ana")
    assert grain["derived_from"] == [old] and "structural_tags" not in grain
    assert store.status(old).superseded_by == new and not store.status(old).is_current
    assert [version.grain["object"] for version in store.history(new)] == ["tea", "milk"]
    with pytest.raises(errors.Conflict):
        store.correct(old, object="water")
    with pytest.raises(errors.NotFound):
        store.correct(NOWHERE, object="water")


def test_a_grain_of_ones_own_supersedes_another(store: Store) -> None:
    old = store.get(store.remember("It rains"))
    assert old is not None
    new = store.supersede(old, {"type": "event", "content": "It stopped"}, reason="seen")
    assert [found.address for found in store.query()] == [new]
    assert store.count(superseded="include") == 2


def test_a_policy_denies_what_it_protects(store: Store) -> None:
    kept = belief(store, invalidation_policy={"mode": "locked"})
    for change in (
        lambda: store.correct(kept, object="milk"),
        lambda: store.contradict(kept),
        lambda: store.verify(kept, "retracted"),
    ):
        with pytest.raises(errors.InvalidationDenied) as raised:
            change()
        assert raised.value.code == "ERR_INVALIDATION_DENIED"
    assert store.status(kept).is_current


def test_a_contradicted_grain_is_no_longer_current(store: Store) -> None:
    address = belief(store)
    store.contradict(address, reason="said so")
    status = store.status(address)
    assert status.is_contradicted and not status.is_current and status.verification == "contested"


def test_a_verification_is_recorded(store: Store) -> None:
    address = belief(store)
    store.verify(address)
    assert store.status(address).verification == "verified"
    with pytest.raises(ValueError, match="verification"):
        store.verify(address, "perhaps")  # type: ignore[arg-type]


def test_what_is_deleted_is_gone_and_not_stored_again(store: Store) -> None:
    grain = {"type": "event", "content": "secret", "created_at": 1}
    address = store.put(grain)
    with pytest.raises(errors.NotFound):
        store.delete(address, NOWHERE, reason="asked for", authority="the user")
    assert store.get(address) is None and store.search("secret").total == 0
    with pytest.raises(errors.Erased):
        store.put(grain)


# Handles.


def test_a_handle_of_a_person_sees_nothing_of_others(store: Store) -> None:
    mine = store.of_user("ana").remember("I like tea")
    ben = store.of_user("ben")
    assert ben.get(mine) is None and ben.search("tea").total == 0 and ben.count() == 0
    with pytest.raises(errors.AccessDenied):
        ben.remember("hello", user="ana")
    with pytest.raises(errors.AccessDenied):
        ben.delete(mine, reason="x", authority="y")


def test_an_author_is_on_what_the_handle_stores(store: Store) -> None:
    bot = store.as_actor("did:web:bot.example")
    address = bot.remember("hello")
    assert [version.stored_by for version in store.history(address)] == ["did:web:bot.example"]
    with pytest.raises(errors.Did):
        store.as_actor("bot")


# The feed.


def test_the_feed_tells_what_happened_and_goes_on(store: Store) -> None:
    feed = store.changes()
    tea = belief(store)
    milk = store.correct(tea, object="milk")
    kinds = [(change.kind, change.address) for change in feed]
    assert kinds == [("stored", tea), ("stored", milk), ("status", tea)]
    position = feed.position
    assert not feed.wait(0) and next(feed, None) is None
    store.remember("later")
    assert feed.wait(0)
    assert [change.entry for change in store.changes(first=position)] == [position]
    assert [change.kind for change in store.changes(subject="ana")] == ["stored"]


# Files.


def test_a_file_is_imported_with_progress_and_exported(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "memory.jsonl"
    lines = ['{"type":"event","content":"hi","created_at":1}', "no json"]
    file.write_text("\n".join(lines))
    seen: list[int] = []
    preview = store.import_file(file, preview=True)
    assert preview.inserted == 1 and store.count() == 0
    outcome = store.import_file(file, progress=seen.append)
    assert (outcome.inserted, outcome.is_complete, seen) == (1, False, [1])
    assert [(record.place, record.code) for record in outcome.refused] == [("line 2", "ERR_JSON")]
    exported = store.export(tmp_path / "copy.jsonl", format="jsonl")
    assert (exported.grains, exported.files) == (1, 1)
    with grainstore.in_memory() as other:
        assert other.import_file(tmp_path / "copy.jsonl").inserted == 1
        assert [found.address for found in other.query()] == [it.address for it in store.query()]


def test_the_exception_of_a_progress_callback_is_raised(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "memory.jsonl"
    file.write_text('{"type":"event","content":"hi","created_at":1}')
    with pytest.raises(ZeroDivisionError):
        store.import_file(file, progress=lambda done: 1 // 0)


def test_a_file_that_is_not_there_says_so(store: Store, tmp_path: Path) -> None:
    for call in (store.import_file, store.export):
        missing = tmp_path / "nowhere" / "memory.jsonl"
        with pytest.raises(errors.Io) as raised:
            call(missing)
        assert raised.value.place == str(missing) and str(missing) in str(raised.value)
    with pytest.raises(ValueError, match="there is no format"):
        store.export(tmp_path / "x", format="docx")


# Opening and closing.


def test_a_store_is_there_when_it_is_opened_again(folder: Path) -> None:
    with grainstore.open(folder) as store:
        address = store.remember("hello")
    assert store.is_closed and "closed" in repr(store)
    with grainstore.open(str(folder), create="never") as store:
        assert store.get(address) is not None
    with pytest.raises(errors.StoreExists):
        grainstore.open(folder, create="new")


def test_a_folder_without_a_store_is_refused(folder: Path) -> None:
    with pytest.raises(errors.NotAStore):
        grainstore.open(folder, create="never")
    with pytest.raises(ValueError, match="durability"):
        grainstore.open(folder, durability="never")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="create mode"):
        grainstore.open(folder, create="perhaps")  # type: ignore[arg-type]


def test_a_closed_store_says_so_and_its_handles_too(store: Store) -> None:
    narrowed, feed = store.of_user("ana"), store.changes()
    store.close()
    store.close()
    calls = (lambda: store.count(), lambda: narrowed.count(), lambda: next(feed))
    for call in calls:
        with pytest.raises(errors.Usage, match="closed"):
            call()


def test_a_store_that_may_only_be_read_is_read(folder: Path) -> None:
    with grainstore.open(folder) as store:
        store.remember("hello")
        with grainstore.open(folder, read_only=True) as reader:
            assert reader.count() == 1
            with pytest.raises(grainstore.GrainstoreError):
                reader.remember("x")


def test_two_openings_see_what_the_other_has_stored(folder: Path) -> None:
    with grainstore.open(folder) as one, grainstore.open(folder) as two:
        address = one.remember("hello")
        assert two.get(address) is not None and two.search("hello").total == 1


def test_threads_share_a_store(store: Store) -> None:
    def work(name: str) -> None:
        for n in range(50):
            store.remember(f"{name} {n}", user=name)
            assert store.search(str(n), user=name).total >= 1

    threads = [threading.Thread(target=work, args=(f"user{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.count() == 200


def test_a_feed_is_for_one_thread_at_a_time(store: Store) -> None:
    feed = store.changes(first=None)
    waiting = threading.Thread(target=feed.wait, args=(60,))
    waiting.start()
    with pytest.raises(RuntimeError):
        while waiting.is_alive():
            time.sleep(0.01)
            _ = feed.position
    store.remember("hello")
    waiting.join()
    assert len(list(feed)) == 1


CHILD = """
import os, sys, grainstore
store = grainstore.open(sys.argv[1])
store.remember("of the parent")
feed = store.changes()
child = os.fork()
if child == 0:
    for use in (store.count, lambda: next(feed), lambda: store.of_user("ana")):
        try:
            use()
            os._exit(1)
        except grainstore.errors.Usage as error:
            assert "fork" in str(error)
    del store, feed, use
    with grainstore.open(sys.argv[1]) as own:
        own.remember("of the child")
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
store.remember("of the parent again")
print(store.count())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_a_child_gets_an_error_and_may_open_the_store_itself(folder: Path) -> None:
    # Since Python 3.12 a fork beside threads is a warning of its own.
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", CHILD, str(folder)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stdout, run.stderr) == (0, "3\n", "")


MANY = """
import os, sys, grainstore


def stores():
    return [grainstore.open(f"{sys.argv[1]}/{n}") for n in range(16)]


def batch(word):
    return [{"type": "event", "content": f"{word} {n}"} for n in range(300)]


of_parent = stores()
for store in of_parent:
    store.put_batch(batch("parent"))
child = os.fork()
if child == 0:
    # Threads of the parent wait for work here, and their memory is given to threads of the child.
    for own in stores():
        own.put_batch(batch("child"))
        own.close()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print(sorted({store.count() for store in of_parent}))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_a_child_works_though_the_parent_has_many_threads(folder: Path) -> None:
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", MANY, str(folder)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stdout, run.stderr) == (0, "[600]\n", "")


KILLED = """
import os, sys, grainstore
store = grainstore.open(sys.argv[1])
for n in range(20):
    print(store.remember(f"note {n}"), flush=True)
os.kill(os.getpid(), 9)
"""


def test_a_killed_interpreter_loses_no_acknowledged_put(folder: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", KILLED, str(folder)], capture_output=True, text=True, timeout=60
    )
    acknowledged = run.stdout.split()
    assert len(acknowledged) == 20
    with grainstore.open(folder) as store:
        assert None not in store.get(acknowledged)


# Errors.


def test_there_is_one_class_for_each_code() -> None:
    from grainstore import _native

    for code in _native.codes():
        error = errors.of(code, "message", "line 3")
        assert type(error) is getattr(errors, errors.class_name(code))
        assert (error.code, error.place, str(error)) == (code, "line 3", "message")
        assert isinstance(error, grainstore.GrainstoreError)


@pytest.mark.parametrize("name", ["errors.pyi", "_async.py"])
def test_a_file_that_follows_from_others_is_what_they_say(name: str) -> None:
    path = Path(__file__).parents[1]
    sys.path.insert(0, str(path))
    try:
        import stubs
    finally:
        sys.path.remove(str(path))
    assert (path / "grainstore" / name).read_text() == stubs.WRITTEN[name]()


def test_a_handle_says_what_it_is(store: Store, folder: Path) -> None:
    bot, key = "did:web:bot.example", grainstore.SigningKey.generate()
    narrowed = store.as_actor(bot).of_user("ana").in_namespace("work").read_only()
    assert repr(store) == "<grainstore.Store in memory>"
    assert repr(narrowed) == f"<grainstore.Store in memory, as {bot}, of ana, in work, read only>"
    assert repr(store.signed_by(key)) == f"<grainstore.Store in memory, signed by {key.did}>"
    assert repr(grainstore.AsyncStore(store)) == "AsyncStore(<grainstore.Store in memory>)"
    with grainstore.open(folder) as opened:
        assert repr(opened) == f"<grainstore.Store {folder}>"
    assert repr(opened) == f"<grainstore.Store {folder}, closed>"


def test_results_say_what_they_hold(store: Store) -> None:
    belief(store)
    assert "ana likes tea" in repr(store.search("tea"))
    assert "Recollection(lines=[Line(" in repr(store.recall("tea"))
    assert store.search("tea") == store.search("tea")
    assert store.search("tea")[:1] == [store.search("tea")[0]]
    assert pickle.loads(pickle.dumps(store.status(belief(store)))).is_current
