"""The command `grainstore`: `python -m grainstore`, or the script that pip installs."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from . import _native


def main() -> int:
    """Runs the command with the arguments of this process, and returns its exit code."""
    # Ctrl-C is the command's: the interpreter would only note it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # What `mcp install` and others write into files of others.
    program = Path(sys.executable).with_name("grainstore")
    return _native.command(program, ["grainstore", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
