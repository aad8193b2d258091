#!/usr/bin/env python3
"""Measures the readers of other tools' memory: seconds, peak memory, and Python's parsers beside them.

    GRAINSTORE=target/release/grainstore tools/measure_readers.py --megabytes 500     # of each kind
    tools/measure_readers.py --megabytes 20 --store        # imports for real; --dry-run: previews
    tools/measure_readers.py --megabytes 1 mem0.db pi      # some kinds

For each kind it makes a file (or a folder) of that size in a temporary folder, reads it with --verify-only, has Python
parse the same file (json, sqlite3, tarfile) and count, and prints a row. The ratio is Python's seconds to those of the
command. Only the standard library is used.
"""

import argparse
import json
import os
import random
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import time

RANDOM = random.Random(42)
WORDS = "the build uses pnpm and tests run with just in Graz since May after a review of Lager seven by Ana Žofie".split()
SAID = [" ".join(RANDOM.choices(WORDS, k=RANDOM.randint(8, 90))) for _ in range(2000)]


def said(i):
    return f"{i}: {SAID[i % len(SAID)]}"


def iso(i):
    seconds = i % 86400
    return f"2026-05-{1 + i // 86400 % 28:02}T{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}Z"


def role(i):
    return "assistant" if i % 2 else "user"


def turns(i, make, count=200):
    """The messages of conversation i."""
    return [make(i * count + n) for n in range(count)]


LINES = {
    "mcp-memory": lambda i: {"type": "entity", "name": f"n{i}", "entityType": "thing", "observations": [said(i), said(i + 1)]},
    "langgraph": lambda i: {"prefix": "memories.ana", "key": f"k{i}", "value": {"kind": "Memory", "content": {"content": said(i)}},
                            "created_at": iso(i), "updated_at": iso(i)},
    "claude-code": lambda i: {"type": role(i), "uuid": f"u{i}", "parentUuid": f"u{i - 1}" if i % 500 else None,
                              "sessionId": f"s{i // 500}", "timestamp": iso(i), "cwd": "/w/app", "gitBranch": "main",
                              "version": "2.1.0", "isSidechain": False,
                              "message": {"role": role(i), "content": [{"type": "text", "text": said(i)}]}},
    "codex": lambda i: {"timestamp": iso(i), "type": "event_msg",
                        "payload": {"type": "agent_message" if i % 2 else "user_message", "message": said(i)}},
    "opencode": lambda i: {"id": f"m{i}", "sessionID": f"s{i // 500}", "role": role(i), "content": said(i),
                           "time": {"created": 1777622400000 + i}},
    "pi": lambda i: {"type": "message", "id": f"m{i}", "parentId": f"m{i - 1}" if i else None, "timestamp": iso(i),
                     "message": {"role": role(i), "content": said(i)}},
    "cursor-agent": lambda i: {"type": role(i), "timestamp": iso(i), "message": said(i)},
    "jan": lambda i: {"id": f"m{i}", "object": "thread.message", "thread_id": f"t{i // 500}", "role": role(i),
                      "content": [{"type": "text", "text": {"value": said(i), "annotations": []}}],
                      "status": "ready", "created_at": 1777622400 + i},
}
ARRAYS = {
    "mem0": ('{"results":[', "]}", lambda i: {"id": f"m{i}", "memory": said(i), "user_id": "ana", "metadata": {"by": "chat"},
                                            "categories": ["tooling"], "created_at": iso(i), "updated_at": None}),
    "openmemory": ('{"user":{"user_id":"ana"},"apps":[],"categories":[],"memories":[', '],"memory_categories":[]}',
                   lambda i: {"id": f"m{i}", "content": said(i), "metadata": {}, "state": "active", "created_at": iso(i)}),
    "mcp-memory-service": ('{"export_metadata":{"exporter_version":"8"},"memories":[', "]}",
                           lambda i: {"content": said(i), "content_hash": f"h{i}", "tags": ["tooling"], "created_at": 1777622400.5 + i,
                                      "updated_at": 1777622400.5 + i, "memory_type": "note", "metadata": {}}),
    "letta": ("[", "]", lambda i: {"id": f"passage-{i}", "text": said(i), "created_at": iso(i), "tags": ["home"], "metadata": {}}),
    "graphiti": ('{"episodes":[],"nodes":[],"edges":[', "]}",
                 lambda i: {"uuid": f"f{i}", "group_id": "ana", "source_node_uuid": f"n{i % 999}", "target_node_uuid": f"n{i % 998}",
                            "name": "USES", "fact": said(i), "episodes": [], "created_at": iso(i), "valid_at": iso(i), "invalid_at": None}),
    "chatgpt": ("[", "]", lambda i: {"id": f"c{i}", "title": "Tools", "create_time": 1777622400 + i, "mapping": {
        m["id"]: m for m in turns(i, lambda n: {"id": f"m{n}", "parent": f"m{n - 1}" if n % 200 else None, "children": [], "message": {
            "id": f"m{n}", "author": {"role": role(n)}, "create_time": 1777622400 + n,
            "content": {"content_type": "text", "parts": [said(n)]}}})}}),
    "claude": ("[", "]", lambda i: {"uuid": f"c{i}", "name": "Tools", "created_at": iso(i), "account": {"uuid": "ana"},
                                    "chat_messages": turns(i, lambda n: {"uuid": f"m{n}", "sender": "assistant" if n % 2 else "human",
                                                                         "text": said(n), "created_at": iso(n)})}),
    "gemini": ("[", "]", lambda i: {"header": "Gemini Apps", "title": f"Prompted {said(i)}", "time": iso(i),
                                    "titleUrl": f"https://gemini.google.com/app/c/c{i // 200}", "safeHtmlItem": [{"html": said(i + 1)}]}),
    "grok": ('{"conversations":[', "]}", lambda i: {
        "conversation": {"id": f"c{i}", "title": "Tools", "user_id": "ana", "create_time": iso(i)},
        "responses": turns(i, lambda n: {"response": {"_id": f"m{n}", "sender": "human" if n % 2 else "grok-3", "message": said(n),
                                                      "create_time": iso(n)}})}),
    "deepseek": ("[", "]", lambda i: {"id": f"c{i}", "title": "Tools", "inserted_at": iso(i), "mapping": {
        m["id"]: m for m in turns(i, lambda n: {"id": f"m{n}", "parent": f"m{n - 1}" if n % 200 else None, "children": [], "message": {
            "model": "m", "inserted_at": iso(n), "fragments": [{"type": "RESPONSE" if n % 2 else "REQUEST", "content": said(n)}]}})}}),
    "cursor": ('{"conversations":[', "]}", lambda i: {
        "composerId": f"c{i}", "name": "Tools", "createdAt": 1777622400000 + i,
        "conversation": turns(i, lambda n: {"type": 1 + n % 2, "bubbleId": f"b{n}", "text": said(n), "createdAt": 1777622400000 + n})}),
    "open-webui": ("[", "]", lambda i: {"id": f"c{i}", "title": "Tools", "chat": {"history": {"messages": {
        m["id"]: m for m in turns(i, lambda n: {"id": f"m{n}", "parentId": f"m{n - 1}" if n % 200 else None, "childrenIds": [],
                                                "role": role(n), "content": said(n), "timestamp": 1777622400 + n})}}},
        "created_at": 1777622400}),
    "chatbot-ui": ('{"version":4,"history":[', '],"folders":[],"prompts":[]}',
                   lambda i: {"id": f"c{i}", "name": "Tools", "messages": turns(i, lambda n: {"role": role(n), "content": said(n)})}),
    "le-chat": ("[", "]", lambda i: {"id": f"m{i}", "version": 0, "chatId": f"c{i // 500}", "content": said(i), "role": role(i),
                                     "createdAt": iso(i)}),
    "typingmind": ('{"data":{"chats":[', "]}}", lambda i: {"chatID": f"c{i}", "chatTitle": "Tools", "createdAt": iso(i),
                                                         "messages": turns(i, lambda n: {"role": role(n), "content": said(n)})}),
}
FOLDERS = {
    "hindsight": lambda i: {"id": f"d{i}", "original_text": said(i), "tags": [], "created_at": iso(i), "chunks": [],
                            "facts": turns(i, lambda n: {"text": said(n), "fact_type": "world", "mentioned_at": iso(n)})},
    "gemini-cli": lambda i: {"sessionId": f"s{i}", "projectHash": "79b6", "startTime": iso(i), "lastUpdated": iso(i),
                             "messages": turns(i, lambda n: {"id": f"m{n}", "timestamp": iso(n),
                                                             "type": "gemini" if n % 2 else "user", "content": said(n)})},
    "librechat": lambda i: {"conversationId": f"c{i}", "endpoint": "openAI", "title": "Tools", "exportAt": iso(i), "recursive": False,
                            "messages": turns(i, lambda n: {"messageId": f"m{n}", "parentMessageId": f"m{n - 1}", "text": said(n),
                                                            "isCreatedByUser": n % 2 == 0, "createdAt": iso(n)})},
    "lm-studio": lambda i: {"name": f"c{i}", "createdAt": 1777622400000 + i, "systemPrompt": "", "messages": turns(i, lambda n: {
        "versions": [{"type": "singleStep", "role": role(n), "content": [{"type": "text", "text": said(n)}]}], "currentlySelected": 0})},
    "perplexity": lambda i: {"status": "success", "thread_metadata": {"title": f"c{i}", "created_at": iso(i)},
                             "entries": turns(i, lambda n: {"uuid": f"e{n}", "query_str": said(n), "entry_created_datetime": iso(n),
                                                            "blocks": [{"markdown_block": {"answer": said(n + 1)}}]})},
    "ai-studio": lambda i: {"runSettings": {"model": "m"}, "chunkedPrompt": {"chunks": turns(i, lambda n: {
        "text": said(n), "role": "model" if n % 2 else "user", "tokenCount": 3})}},
    "vscode-copilot": lambda i: {"requesterUsername": "ana", "responderUsername": "GitHub Copilot", "requests": turns(i, lambda n: {
        "requestId": f"r{n}", "message": {"text": said(n), "parts": []}, "response": [{"value": said(n + 1)}],
        "timestamp": 1777622400000 + n})},
}
TABLES = {
    "mem0.db": ("CREATE TABLE history (id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT,"
                " created_at DATETIME, updated_at DATETIME, is_deleted INTEGER, actor_id TEXT, role TEXT);", "history",
                lambda i: (f"h{i}", f"m{i}", None, said(i), "ADD", iso(i), None, 0, None, "user")),
    "openmemory.db": ("CREATE TABLE users (id TEXT, user_id TEXT, name TEXT); CREATE TABLE categories (id TEXT, name TEXT);"
                      "CREATE TABLE memories (id TEXT PRIMARY KEY, user_id TEXT, app_id TEXT, content TEXT, vector TEXT, metadata TEXT,"
                      " state TEXT, created_at TEXT, updated_at TEXT, archived_at TEXT, deleted_at TEXT);"
                      "CREATE TABLE memory_categories (memory_id TEXT, category_id TEXT);", "memories",
                      lambda i: (f"m{i}", "u1", "a1", said(i), None, "{}", "active", iso(i), None, None, None)),
    "langgraph.db": ("CREATE TABLE store (prefix text, key text, value text, created_at TIMESTAMP, updated_at TIMESTAMP,"
                     " expires_at TIMESTAMP, ttl_minutes REAL);", "store",
                     lambda i: ("memories.ana", f"k{i}", json.dumps({"content": said(i)}), iso(i), iso(i), None, None)),
    "mcp-memory-service.db": ("CREATE TABLE memories (id INTEGER PRIMARY KEY, content_hash TEXT UNIQUE, content TEXT, tags TEXT,"
                              " memory_type TEXT, metadata TEXT, created_at REAL, updated_at REAL, created_at_iso TEXT,"
                              " updated_at_iso TEXT, deleted_at REAL, superseded_by TEXT);", "memories",
                              lambda i: (i, f"h{i}", said(i), "tooling", "note", "{}", 1777622400.5 + i, None, None, None, None, None)),
    "claude-mem.db": ("CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, content_session_id TEXT, memory_session_id TEXT, project TEXT);"
                      "CREATE TABLE observations (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, text TEXT, type TEXT,"
                      " title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT, created_at TEXT,"
                      " created_at_epoch INTEGER);", "observations",
                      lambda i: (i, "s1", "app", said(i), "discovery", None, None, None, None, None, None, iso(i), 1777622400000 + i)),
    "openai-agents.db": ("CREATE TABLE agent_sessions (session_id TEXT PRIMARY KEY, created_at TIMESTAMP, updated_at TIMESTAMP);"
                         "CREATE TABLE agent_messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, message_data TEXT,"
                         " created_at TIMESTAMP);", "agent_messages",
                         lambda i: (i + 1, f"s{i // 500}", json.dumps({"role": role(i), "content": said(i)}), iso(i))),
}


def cogx(i):
    return {"kind": "fact", "external_system": "zep", "external_id": f"f{i}", "scope": {"user_id": "ana"}, "created_at": iso(i),
            "metadata": {}, "subject_ref": f"n{i % 999}", "predicate": "uses", "object_ref": f"o{i}", "fact_text": said(i)}


def write_lines(path, size, make):
    with open(path, "w", encoding="utf-8") as out:
        i = 0
        while out.tell() < size if i % 1000 == 0 else True:
            out.write(json.dumps(make(i), ensure_ascii=False) + "\n")
            i += 1


def write_opencode(folder, size):
    """A storage folder, whose files have the parts of messages apart."""
    written, i = 0, 0

    def put(path, value):
        nonlocal written
        path = os.path.join(folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        text = json.dumps(value, ensure_ascii=False)
        written += len(text)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)

    while written < size:
        session, message = f"ses_{i // 500:06}", f"msg_{i:08}"
        if i % 500 == 0:
            put(f"session/p1/{session}.json", {"id": session, "projectID": "p1", "directory": "/w", "title": "T",
                                               "time": {"created": 1777622400000 + i}})
        put(f"message/{session}/{message}.json", {"id": message, "sessionID": session, "role": role(i),
                                                  "time": {"created": 1777622400000 + i}})
        put(f"part/{message}/prt_{i:08}.json", {"id": f"prt_{i}", "sessionID": session, "messageID": message, "type": "text",
                                                "text": "\n".join(said(i + n) for n in range(12))})
        i += 1


def make(kind, folder, size):
    """Writes the file of a kind; returns its path, and how Python reads it."""
    path = os.path.join(folder, "file")
    if kind in LINES:
        write_lines(path, size, LINES[kind])
        return path, "lines"
    if kind in ARRAYS:
        begin, end, one = ARRAYS[kind]
        with open(path, "w", encoding="utf-8") as out:
            out.write(begin)
            i, length = 0, len(begin)
            while length < size:
                text = (",\n" if i else "") + json.dumps(one(i), ensure_ascii=False)
                out.write(text)
                length += len(text)
                i += 1
            out.write(end)
        return path, "document"
    if kind in TABLES:
        schema, table, one = TABLES[kind]
        base = sqlite3.connect(path)
        base.executescript(schema)
        places = ",".join("?" * len(one(0)))
        i = 0
        while not os.path.exists(path) or os.path.getsize(path) < size:
            base.executemany(f"INSERT INTO {table} VALUES ({places})", (one(i + n) for n in range(2000)))
            base.commit()
            i += 2000
        base.close()
        return path, f"table:{table}"
    if kind == "memory-list":
        with open(path, "w", encoding="utf-8") as out:
            length, i = 0, 0
            while length < size:
                length += out.write(f"[{iso(i)[:10]}] - {said(i)}\n")
                i += 1
        return path, "text"
    os.makedirs(path)
    if kind in FOLDERS:
        length, i = 0, 0
        while length < size:
            with open(os.path.join(path, f"{i:06}.json"), "w", encoding="utf-8") as out:
                length += out.write(json.dumps(FOLDERS[kind](i), ensure_ascii=False))
            i += 1
        return path, "folder"
    if kind == "opencode-folder":
        write_opencode(path, size)
        return path, "folder"
    with open(os.path.join(path, "manifest.json"), "w", encoding="utf-8") as out:
        json.dump({"cogx_version": "0.1", "source_system": "zep", "counts": {}}, out)
    write_lines(os.path.join(path, "facts.jsonl"), size, cogx)
    if kind == "cogx":
        return path, "folder"
    packed = os.path.join(folder, "m.cogx.tar.gz")
    with tarfile.open(packed, "w:gz", compresslevel=1) as tar:
        tar.add(path, arcname=".")
    return packed, "tar"


KINDS = [*LINES, *ARRAYS, "memory-list", *FOLDERS, "opencode-folder", "cogx", "cogx.tar.gz", *TABLES]


def parse(path, how):
    """Reads a file as Python's own parsers do, and counts what is in it."""
    count = 0
    if how == "lines":
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                json.loads(line)
                count += 1
    elif how == "text":
        with open(path, encoding="utf-8") as lines:
            count = sum(1 for line in lines if line.startswith("["))
    elif how == "document":
        with open(path, encoding="utf-8") as file:
            value = json.load(file)
        count = max(len(value), max((len(it) for it in value.values() if isinstance(it, (list, dict))), default=0) if isinstance(value, dict) else 0)
    elif how == "folder":
        for below, _, names in os.walk(path):
            for name in names:
                if name.endswith(".jsonl"):
                    count += parse(os.path.join(below, name), "lines")
                else:
                    with open(os.path.join(below, name), encoding="utf-8") as file:
                        json.load(file)
                    count += 1
    elif how == "tar":
        with tarfile.open(path) as tar:
            for member in tar:
                if member.name.endswith(".jsonl"):
                    for line in tar.extractfile(member):
                        json.loads(line)
                        count += 1
    else:
        table = how.removeprefix("table:")
        for _ in sqlite3.connect(path).execute(f"SELECT * FROM {table}"):
            count += 1
    return count


def measured(command, folder):
    """Runs a program; returns its output, seconds, processor time in seconds, and in MiB its peak memory with the
    pages of files that it maps, and without them as far as the system tells."""
    begun = time.monotonic()
    own = 0
    with open(os.path.join(folder, "out"), "w+b") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
        ended = 0
        while not ended:
            own = max(own, anonymous(process.pid))
            ended, status, usage = os.wait4(process.pid, os.WNOHANG)
            time.sleep(0 if ended else 0.01)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read().decode(errors="replace")
    if process.returncode:
        sys.exit(f"{' '.join(command)}: exit {process.returncode}\n{text[-2000:]}")
    return text, time.monotonic() - begun, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, own / 1024


def anonymous(process):
    """Returns the memory of a process without the pages of files that it maps, in KiB; 0 where nothing tells."""
    try:
        with open(f"/proc/{process}/status", encoding="utf-8") as status:
            found = [line.split()[1] for line in status if line.startswith("RssAnon:")]
    except OSError:
        found = []
    return int(found[0]) if found else 0


def length(path):
    if os.path.isfile(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(os.path.join(below, name)) for below, _, names in os.walk(path) for name in names)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("kinds", nargs="*", metavar="kind", help=f"some of: {' '.join(KINDS)}")
    arguments.add_argument("--megabytes", type=float, default=500, help="MB of each kind")
    arguments.add_argument("--grainstore", default=os.environ.get("GRAINSTORE", "target/release/grainstore"), help="the command")
    how_far = arguments.add_mutually_exclusive_group()
    how_far.add_argument("--store", action="store_true", help="import into a store")
    how_far.add_argument("--dry-run", action="store_true", help="preview an import")
    arguments.add_argument("--memory", type=float, default=128, help="fail where more MiB are used")
    given = arguments.parse_args()
    print("| kind | MB | grains | s | MB/s | processor s | peak MiB | of it own | Python: s | processor s | peak MiB | ratio |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    failed = []
    for kind in given.kinds or KINDS:
        with tempfile.TemporaryDirectory() as folder:
            path, how = make(kind, folder, int(given.megabytes * 1e6))
            size = length(path) / 1e6
            source = kind.removesuffix(".db").removesuffix("-folder").removesuffix(".tar.gz")
            grainstore = [given.grainstore, "--json", "--store", os.path.join(folder, "store")]
            measured([*grainstore, "init"], folder)
            command = [*grainstore, "import", "--from", source, path]
            option = [] if given.store else ["--dry-run" if given.dry_run else "--verify-only"]
            text, seconds, processor, peak, private = measured(command + option, folder)
            result = json.loads(text.splitlines()[-1])
            grains = result["inserted" if given.store or given.dry_run else "grains"]
            own = [sys.executable, __file__, "--parse", path, how]
            _, own_seconds, own_processor, own_peak, _ = measured(own, folder)
            print(f"| {kind} | {size:.0f} | {grains} | {seconds:.1f} | {size / seconds:.1f} | {processor:.1f} | {peak:.0f} | {private:.0f} "
                  f"| {own_seconds:.1f} | {own_processor:.1f} | {own_peak:.0f} | {own_seconds / seconds:.2f} |", flush=True)
            if grains == 0 or peak > given.memory:
                failed.append(kind)
    if failed:
        sys.exit(f"no grains, or more than {given.memory:.0f} MiB: {' '.join(failed)}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--parse"]:
        print(parse(*sys.argv[2:4]))
    else:
        main()
