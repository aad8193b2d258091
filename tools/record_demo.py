#!/usr/bin/env python3
"""Records `grainstore demo` on a terminal of 80 columns as an animated SVG.

    tools/record_demo.py target/release/grainstore docs/demo.svg

Each step is a picture that stays for some seconds. Needs Python 3 alone.
"""

import os
import pty
import re
import shutil
import sys
import tempfile
from xml.sax.saxutils import escape

COLUMNS, SECONDS = 80, 6
LETTER, LINE, EDGE = 8.4, 19, 16

# The styles that the command uses: emphasis, detail, type, notice.
STYLES = {"1": "strong", "2": "faint", "36": "kind", "33": "notice"}

CSS = """
text { font: 14px ui-monospace, Menlo, Consolas, monospace; fill: #d7dce2; white-space: pre; }
.strong { font-weight: bold; fill: #ffffff; }
.faint { fill: #8b949e; }
.kind { fill: #56d4dd; }
.notice { fill: #e3b341; }
.command { fill: #7ee787; }
.step { opacity: 0; animation: step TOTALs steps(1) infinite; }
@keyframes step { 0% { opacity: 1; } SHARE% { opacity: 0; } 100% { opacity: 0; } }
"""


def record(program):
    """Runs the demo on a terminal in a directory of its own, and returns what it wrote."""
    folder = tempfile.mkdtemp(prefix="grainstore-recording-")
    chunks = []

    def keep(descriptor):
        chunk = os.read(descriptor, 65536)
        chunks.append(chunk)
        return chunk

    program = os.path.abspath(program)
    shell = f"stty rows 24 cols {COLUMNS}; cd '{folder}'; exec '{program}' demo --no-pause"
    silent = os.open(os.devnull, os.O_WRONLY)
    shown = os.dup(1)
    try:
        # The copy of the terminal's output that `spawn` prints is not wanted.
        os.dup2(silent, 1)
        status = pty.spawn(["sh", "-c", shell], keep)
    finally:
        os.dup2(shown, 1)
        shutil.rmtree(folder)
    if status != 0:
        sys.exit(f"the demo ended with status {os.waitstatus_to_exitcode(status)}")
    return b"".join(chunks).decode().replace("\r", "")


def spans(line):
    """Returns a line as SVG, with a class for each style."""
    kind, parts = ("command", []) if line.startswith("   $") else (None, [])
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        code = re.fullmatch(r"\x1b\[([0-9;]*)m", part)
        if code:
            kind = STYLES.get(code.group(1))
        elif part:
            name = f' class="{kind}"' if kind else ""
            parts.append(f"<tspan{name}>{escape(part)}</tspan>")
    return "".join(parts)


def picture(steps):
    """Returns the SVG: one group for each step, shown one after the other."""
    total = SECONDS * len(steps)
    rows = max(len(step) for step in steps)
    width, height = COLUMNS * LETTER + 2 * EDGE, rows * LINE + 2 * EDGE
    style = CSS.replace("TOTAL", str(total)).replace("SHARE", f"{100 / len(steps):.3f}")
    groups = []
    for number, step in enumerate(steps):
        lines = "\n".join(
            f'<text x="{EDGE}" y="{EDGE + LINE * row + 14}" xml:space="preserve">{spans(line)}</text>'
            for row, line in enumerate(step)
            if line.strip()
        )
        delay = f"animation-delay: {number * SECONDS}s"
        groups.append(f'<g class="step" style="{delay}">\n{lines}\n</g>')
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" '
            'role="img" aria-label="A recording of grainstore demo">',
            f"<style>{style}</style>",
            '<rect width="100%" height="100%" rx="8" fill="#0d1117"/>',
            *groups,
            "</svg>",
            "",
        ]
    )


def main():
    program, target = sys.argv[1:]
    text = record(program)
    # A blank line and a number begin a step; the introduction stands before the first.
    parts = re.split(r"\n\n(?=(?:\x1b\[1m)?(?:\d+\. |Done))", text.rstrip("\n"))
    steps = [part.split("\n") for part in parts]
    steps[:2] = [steps[0] + [""] + steps[1]]
    with open(target, "w", encoding="utf-8") as file:
        file.write(picture(steps))


if __name__ == "__main__":
    main()
