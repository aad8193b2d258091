"""The command that the package carries."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import grainstore


def run(*arguments: str, store: Path | None = None) -> subprocess.CompletedProcess[str]:
    where = ["--store", str(store)] if store else []
    command = [sys.executable, "-m", "grainstore", *where, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_the_module_is_the_command() -> None:
    told = run("--version")
    assert told.returncode == 0 and told.stdout.startswith("grainstore 0.")


def test_the_script_that_is_installed_is_the_command() -> None:
    script = Path(sys.executable).with_name("grainstore")
    told = subprocess.run([script, "--version"], capture_output=True, text=True, timeout=120)
    assert told.stdout == run("--version").stdout != ""


def test_the_command_and_the_package_see_the_same_store(folder: Path) -> None:
    assert run("init", store=folder).returncode == 0
    with grainstore.open(folder, create="never") as store:
        address = store.remember("I moved to Porto")
    told = run("get", address, "--json", store=folder)
    assert "I moved to Porto" in told.stdout and json.loads(told.stdout)


def test_a_failure_has_the_exit_code_of_the_command(folder: Path) -> None:
    told = run("list", store=folder)
    assert told.returncode == 2 and "ERR_NOT_A_STORE" in told.stderr


def test_a_client_is_told_to_start_the_script() -> None:
    told = run("mcp", "install", "--client", "cursor", "--print")
    script = str(Path(sys.executable).with_name("grainstore"))
    assert json.loads(told.stdout)["mcpServers"]["grainstore"]["command"] == script


def test_an_error_says_what_can_be_done_about_it() -> None:
    hint = grainstore.errors.of("ERR_NOT_A_STORE", "").hint
    assert hint is not None and "grainstore init" in hint
    assert grainstore.errors.of("ERR_OF_TOMORROW", "").hint is None
