"""The memory tool of the Anthropic SDK on a store of grains: files under `/memories`, with their history.

>>> import grainstore
>>> tool = GrainMemoryTool(grainstore.in_memory())
>>> tool.call({"command": "create", "path": "/memories/tea.md", "file_text": "green"})
'File created successfully at: /memories/tea.md'
"""

from __future__ import annotations

from typing import Any

from anthropic.lib.tools import BetaAbstractMemoryTool, ToolError

from ._store import Store


class GrainMemoryTool(BetaAbstractMemoryTool):
    """Answers the commands of the model as `grainstore mcp` does; a failure is a `ToolError`."""

    def __init__(self, store: Store, **options: Any) -> None:
        """Takes a store; the options are those of `BetaAbstractMemoryTool`."""
        super().__init__(**options)
        self._store = store

    def _run(self, command: Any) -> str:
        text, is_failure = self._store._native.memory_tool(command.to_dict())
        if is_failure:
            raise ToolError(text)
        return text

    view = create = str_replace = insert = delete = rename = _run

    def clear_all_memory(self) -> str:
        """Deletes all files; their versions stay in the history."""
        self._store._native.memory_tool({"command": "delete", "path": "/memories"})
        return "All memory cleared"
