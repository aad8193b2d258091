#!/usr/bin/env python3
"""Does ten tasks as a stranger would, who has the program and nothing else, and says how long each took.

    tools/stranger.py target/release/grainstore                  # a history of ChatGPT of 10 MB
    tools/stranger.py target/release/grainstore --megabytes 100

The program runs in an empty home directory with an empty environment; only its own folder is on the path. A command that
README.md or docs/guide.md has is taken from there: the script ends if the document no longer has it. A task that takes longer
than its limit, or answers something else, is a failure. Only the standard library is used.
"""

import argparse
import json
import os
import pathlib
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
import zipfile

HERE = pathlib.Path(__file__).resolve().parent.parent
PAGES = [(HERE / name).read_text() for name in ("README.md", "docs/guide.md")]
WORDS = "the build uses pnpm and tests run with just in Graz since May after a review of the ferry to Hvar by Ana".split()


class Stranger:
    """A person with a home directory and the program."""

    def __init__(self, program, home):
        self.home = home
        binaries = home / "bin"
        binaries.mkdir()
        shutil.copy(program, binaries / "grainstore")
        self.environment = {"HOME": str(home), "PATH": str(binaries)}

    def run(self, line, stdin="", status=0):
        """Runs a command line as a shell would, and returns what it prints."""
        words = [os.path.join(self.home, word[2:]) if word.startswith("~/") else word for word in shlex.split(line)]
        words[0] = str(self.home / "bin" / "grainstore") if words[0] == "grainstore" else words[0]
        done = subprocess.run(words, cwd=self.home, env=self.environment, input=stdin, capture_output=True, text=True)
        if done.returncode != status:
            sys.exit(f"`{line}` ended with {done.returncode}: {done.stderr or done.stdout}")
        return done.stdout

    def written(self, line, **how):
        """Runs a command line that the documents have."""
        if not any(line in page for page in PAGES):
            sys.exit(f"neither README.md nor docs/guide.md has `{line}`")
        return self.run(line, **how)


def holds(answer, words):
    if words not in answer:
        sys.exit(f"'{words}' is not in the answer: {answer}")


def remembers(me):
    me.written("grainstore init")
    me.written("grainstore remember Lisbon --subject ana --relation lives_in --user ana")
    holds(me.written('grainstore recall "Where does Ana live?" --user ana'), "Lisbon")


def corrects(me):
    me.written("grainstore remember Porto --subject ana --relation lives_in --user ana --if-same supersede")
    answer = me.written('grainstore recall "Where does Ana live?" --user ana')
    holds(answer, "Porto")
    if "Lisbon" in answer:
        sys.exit(f"the old home is told as if it were the new one: {answer}")


def imports_a_sample(me):
    shutil.copytree(HERE / "examples", me.home / "examples")
    holds(me.written("grainstore import examples/data/pam"), "78 inserted")
    holds(me.written('grainstore recall "Which restaurant suits Mira?" --budget 150'), "peanut")


def imports_chatgpt(me, megabytes):
    chance, conversations, size = random.Random(1), [], 0
    while size < megabytes << 20:
        turns, number = {}, len(conversations)
        for at in range(60):
            text = " ".join(chance.choices(WORDS, k=chance.randint(8, 120)))
            size += len(text) + 200
            turns[f"m{at}"] = {"id": f"m{at}", "parent": f"m{at - 1}" if at else None, "children": [], "message": {
                "id": f"{number}-{at}", "author": {"role": "assistant" if at % 2 else "user"},
                "create_time": 1777622400 + 60 * at + 86400 * number,
                "content": {"content_type": "text", "parts": [text]}}}
        conversations.append({"id": f"c{number}", "title": f"Talk {number}", "create_time": 1777622400, "mapping": turns})
    turns["m7"]["message"]["content"]["parts"] = ["The wisteria on the balcony needs pruning in February."]
    with zipfile.ZipFile(me.home / "chatgpt.zip", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("conversations.json", json.dumps(conversations))
    began = time.monotonic()
    me.run("grainstore --store history.grains init")
    me.run("grainstore --store history.grains import chatgpt.zip")
    holds(me.run('grainstore --store history.grains search "when to prune wisteria"'), "February")
    return time.monotonic() - began


def connects_an_agent(me):
    me.written("grainstore --store ~/memory.grains mcp install --client claude-code")
    settings = json.loads((me.home / ".claude.json").read_text())["mcpServers"]["grainstore"]
    calls = [("remember", {"text": "The spare key is at the baker's", "user": "ana"}),
             ("recall", {"question": "Where is the spare key?", "filter": {"user": "ana"}})]
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "stranger", "version": "1"}}
    messages = [{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello},
                {"jsonrpc": "2.0", "method": "notifications/initialized"}]
    messages += [{"jsonrpc": "2.0", "id": 1 + at, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
                 for at, (name, arguments) in enumerate(calls)]
    agent = subprocess.Popen([settings["command"], *settings["args"]], env=me.environment, cwd=me.home, text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    answer = ""
    for message in messages:
        print(json.dumps(message), file=agent.stdin, flush=True)
        # One after another, as an agent does: the second call needs what the first stored.
        answer = agent.stdout.readline() if "id" in message else answer
    agent.communicate()
    holds(answer, "baker")


def hooks_remember(me):
    me.written("grainstore --store ~/memory.grains hook install claude-code")
    hooks = json.loads((me.home / ".claude/settings.json").read_text())["hooks"]
    command = {name: groups[0]["hooks"][0]["command"] for name, groups in hooks.items()}
    transcript = me.home / "turns.jsonl"
    said = [("user", "We deploy on Tuesdays from the branch harbour"), ("assistant", "Noted: harbour, on Tuesdays.")]
    transcript.write_text("".join(json.dumps({
        "type": role, "uuid": f"u{at}", "parentUuid": None, "sessionId": "s1", "timestamp": f"2026-05-01T10:00:0{at}Z",
        "cwd": str(me.home), "version": "2.1.0", "isSidechain": False, "message": {"role": role, "content": text},
    }) + "\n" for at, (role, text) in enumerate(said)))
    event = {"session_id": "s1", "transcript_path": str(transcript), "cwd": str(me.home)}
    me.run(command["Stop"], stdin=json.dumps(event | {"hook_event_name": "Stop"}))
    asked = event | {"session_id": "s2", "hook_event_name": "UserPromptSubmit", "prompt": "From which branch do we deploy?"}
    holds(me.run(command["UserPromptSubmit"], stdin=json.dumps(asked)), "harbour")


def serves(me):
    token = me.written("grainstore token add --as did:web:bot.acme.example --user mira-okafor --allow read,write").split()[-1]
    server = subprocess.Popen([me.home / "bin" / "grainstore", "serve", "--listen", "127.0.0.1:0"], cwd=me.home,
                              env=me.environment, text=True, stdout=subprocess.PIPE)
    try:
        place = server.stdout.readline().strip()
        request = urllib.request.Request(f"{place}/v1/search", data=b'{"question":"peanut allergy"}', headers={
            "Authorization": f"Bearer {token}", "Content-Type": "application/json"})
        holds(urllib.request.urlopen(request).read().decode(), "peanut")
    finally:
        server.terminate()
        server.communicate()


def backs_up(me):
    me.written("grainstore backup copy.grains")
    me.written("grainstore restore copy.grains again.grains")
    holds(me.run('grainstore --store again.grains recall "Where does Ana live?" --user ana'), "Porto")


def forgets(me):
    me.written('grainstore user erase ana --reason "asked by letter" --authority "the office" --yes')
    me.written('grainstore recall "Where does Ana live?" --user ana', status=1)
    me.written("grainstore check")


def shows_a_demonstration(me):
    if not me.run("grainstore demo").strip():
        sys.exit("the demonstration shows nothing")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--megabytes", type=int, default=10)
    options = parser.parse_args()
    tasks = [
        ("the first memory is found again", 60, remembers),
        ("a fact that changed is told as it is", 60, corrects),
        ("memories of another program come in", 60, imports_a_sample),
        (f"{options.megabytes} MB of ChatGPT can be searched", 120, lambda me: imports_chatgpt(me, options.megabytes)),
        ("an agent is connected", 120, connects_an_agent),
        ("hooks keep the turns and recall them", 120, hooks_remember),
        ("a program asks over HTTP", 60, serves),
        ("a backup is restored", 60, backs_up),
        ("a person is forgotten", 60, forgets),
        ("the demonstration is seen", 60, shows_a_demonstration),
    ]
    with tempfile.TemporaryDirectory() as home:
        me = Stranger(options.program, pathlib.Path(home))
        for name, limit, task in tasks:
            began = time.monotonic()
            seconds = task(me) or time.monotonic() - began
            print(f"{seconds:7.2f} s of {limit:3}  {name}", flush=True)
            if seconds > limit:
                sys.exit(f"this took longer than {limit} s")


main()
