"""The memory tool of a Pydantic-AI agent: files under `/memories` on a store, with their history.

>>> import grainstore
>>> from pydantic_ai import Agent
>>> agent = Agent(tools=[memory_tool(grainstore.in_memory())])

Of Anthropic's models the tool may be native: `Agent(..., capabilities=[NativeTool(MemoryTool())])` beside it
has the model write the commands that it was trained on, and they come to this one.
"""

from __future__ import annotations

from typing import Any

from pydantic_ai import Tool
from pydantic_ai.exceptions import ToolFailed

from ._store import Store

_TEXT = {"type": "string"}
_LINE = {"type": "integer"}
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["command"],
    "properties": {
        "command": {
            "type": "string",
            "enum": ["view", "create", "str_replace", "insert", "delete", "rename"],
        },
        "path": {**_TEXT, "description": "A file or folder, from /memories on."},
        "view_range": {
            "type": "array",
            "items": _LINE,
            "description": "view: the first and the last line.",
        },
        "file_text": {**_TEXT, "description": "create: the whole text."},
        "old_str": {**_TEXT, "description": "str_replace: what stands there once."},
        "new_str": {**_TEXT, "description": "str_replace: what stands there then."},
        "insert_line": {**_LINE, "description": "insert: the line behind which; 0 is the beginning."},
        "insert_text": {**_TEXT, "description": "insert: the lines."},
        "old_path": {**_TEXT, "description": "rename: the file or folder."},
        "new_path": {**_TEXT, "description": "rename: its new path."},
    },
}

_ABOUT = (
    "Your memory: text files under /memories that outlive this conversation. View /memories before you "
    "answer, and write down what will matter later."
)


def memory_tool(store: Store) -> Tool[Any]:
    """Returns the tool named `memory`; a command that fails is a `ToolFailed`, of which the model is told."""

    def memory(**command: Any) -> str:
        text, is_failure = store._native.memory_tool(command)
        if is_failure:
            raise ToolFailed(text)
        return text

    return Tool.from_schema(memory, "memory", _ABOUT, _SCHEMA)
