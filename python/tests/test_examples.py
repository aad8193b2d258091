"""The examples run, and say what they are there to show."""

from __future__ import annotations

import json
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


def test_a_history_of_chatgpt_is_recalled_by_an_agent() -> None:
    pytest.importorskip("langgraph.graph")
    export = HERE.parent / "test-vectors/interchange/chatgpt"
    lines = run("history.py", str(export), "When do I graft a pear?")
    assert any("memories, 0 records refused" in line for line in lines)
    assert any("In late winter" in line for line in lines)


def test_the_notebook_plots_what_is_remembered_and_answers() -> None:
    pytest.importorskip("matplotlib")
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    path = HERE / "examples" / "timeline.ipynb"
    assert all(not cell.get("outputs") for cell in json.loads(path.read_text())["cells"])
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(
        notebook, timeout=120, resources={"metadata": {"path": str(path.parent)}}
    )
    client.execute()
    outputs = [out for cell in notebook.cells for out in cell.get("outputs", [])]
    shown = [out["data"] for out in outputs if "data" in out]
    assert any("image/png" in data for data in shown)
    assert any("peanut" in data.get("text/html", "").lower() for data in shown)
