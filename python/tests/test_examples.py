"""The examples run, and say what they are there to show."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parents[1]


def run(example: str, *arguments: str) -> list[str]:
    command = [sys.executable, str(HERE / "examples" / example), *arguments]
    told = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert told.returncode == 0, told.stderr
    return told.stdout.splitlines()


def test_the_chat_agent_knows_what_it_was_told_and_by_whom(folder: Path) -> None:
    known = "You moved to Porto."
    assert run("chat.py", str(folder)) == ["I will remember that.", known, "I will remember that."]


def test_the_history_of_another_assistant_is_recalled() -> None:
    pytest.importorskip("langgraph.graph")
    export = HERE.parent / "examples/data/pam"
    lines = run("history.py", str(export), "What about her peanut allergy?")
    assert any("memories, 0 records refused" in line for line in lines)
    assert any("peanut" in line.lower() for line in lines)
