"""The adapters, each against the framework that is installed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from typing import Any, TypeVar

import pytest

import grainstore
from grainstore import Store
from grainstore.mem0 import Memory
from grainstore.openai_agents import GrainSession

T = TypeVar("T")


def run(awaitable: Awaitable[T]) -> T:
    async def main() -> T:
        return await awaitable

    return asyncio.run(main())


# OpenAI Agents.


def said(number: int) -> Any:
    return {"role": "user", "content": f"turn {number}"}


def test_a_session_returns_its_newest_items_in_order(store: Store) -> None:
    session = GrainSession(store, "monday")
    run(session.add_items([said(1), said(2), said(2)]))
    run(GrainSession(store, "tuesday").add_items([said(9)]))
    assert run(session.get_items()) == [said(1), said(2), said(2)]
    assert run(session.get_items(2)) == [said(2), said(2)]
    assert run(session.get_items(0)) == []


def test_a_popped_or_cleared_item_is_erased(store: Store) -> None:
    session = GrainSession(store, "monday")
    run(session.add_items([said(1), said(2)]))
    assert run(session.pop_item()) == said(2)
    run(session.clear_session())
    assert run(session.pop_item()) is None and run(session.get_items()) == []
    assert store.count() == 0 and store.search("turn").total == 0


def test_items_without_text_and_with_parts_come_back_whole(store: Store) -> None:
    items: list[Any] = [
        {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "1", "output": "21 degrees"},
        {"role": "assistant", "content": [{"type": "output_text", "text": "warm", "x": None}]},
    ]
    session = GrainSession(store, "monday", user="ana")
    run(session.add_items(items))
    assert run(session.get_items()) == items
    for word in ("warm", "degrees"):
        assert word in store.search(word, user="ana")[0].grain["content"]


def test_the_runner_of_openai_agents_takes_the_session(store: Store) -> None:
    agents = pytest.importorskip("agents")
    from agents import Agent, ModelResponse, Runner, Usage
    from openai.types.responses import ResponseOutputMessage, ResponseOutputText

    seen: list[Any] = []

    class Scripted(agents.Model):  # type: ignore[misc, name-defined]
        async def get_response(self, *rest: Any, **more: Any) -> Any:
            seen.append(more["input"])
            text = ResponseOutputText(text="hello", type="output_text", annotations=[])
            message = ResponseOutputMessage(
                id="1", content=[text], role="assistant", status="completed", type="message"
            )
            return ModelResponse(output=[message], usage=Usage(), response_id=None)

        def stream_response(self, *rest: Any, **more: Any) -> Any:
            raise NotImplementedError

    agents.set_tracing_disabled(True)
    session = GrainSession(store, "monday")
    assert isinstance(session, agents.memory.Session)
    agent = Agent(name="a", model=Scripted())
    for text in ("one", "two"):
        assert run(Runner.run(agent, text, session=session)).final_output == "hello"
    assert [it.get("content") for it in seen[1] if it["role"] == "user"] == ["one", "two"]
    assert len(run(session.get_items())) == 4


# Mem0.


def test_a_memory_is_added_found_updated_and_deleted(store: Store) -> None:
    memory = Memory(store)
    told = [{"role": "user", "content": "I like tea"}, {"role": "assistant", "content": "Noted"}]
    added = memory.add(told, user_id="ana", metadata={"of": "drinks"})["results"]
    assert [(it["memory"], it["event"]) for it in added] == [("I like tea", "ADD"), ("Noted", "ADD")]
    name = added[0]["id"]
    found = memory.search("tea", filters={"user_id": "ana"})["results"]
    assert [it["id"] for it in found] == [name] and found[0]["metadata"] == {"of": "drinks"}
    made = memory.get(name)
    for text in ("I like milk", "I like coffee"):
        time.sleep(0.002)
        memory.update(name, text=text)
    item = memory.get(name)
    assert made is not None and item is not None
    assert (item["memory"], item["user_id"]) == ("I like coffee", "ana")
    assert item["created_at"] == made["created_at"] < item["updated_at"]
    assert item["metadata"] == {"of": "drinks"}
    events = [(it["event"], it["old_memory"], it["new_memory"]) for it in memory.history(name)]
    assert events == [
        ("ADD", None, "I like tea"),
        ("UPDATE", "I like tea", "I like milk"),
        ("UPDATE", "I like milk", "I like coffee"),
    ]
    memory.delete(name)
    assert memory.get(name) is None and memory.history(name) == []
    with pytest.raises(ValueError, match="not found"):
        memory.delete(name)


def test_memories_of_others_are_not_seen(store: Store) -> None:
    memory = Memory(store)
    memory.add("I like tea", user_id="ana", agent_id="bot")
    memory.add("I like tea too", user_id="ben", metadata={"n": 1})
    assert len(memory.get_all(filters={"user_id": "ana"})["results"]) == 1
    assert len(memory.get_all(agent_id="bot")["results"]) == 1
    assert memory.get_all(filters={"user_id": "ben", "n": 2})["results"] == []
    memory.delete_all(user_id="ana")
    assert memory.get_all(user_id="ana")["results"] == []
    assert len(memory.get_all(user_id="ben")["results"]) == 1
    with pytest.raises(ValueError, match="user_id"):
        memory.search("tea")


def test_the_methods_have_the_arguments_that_mem0_has(store: Store) -> None:
    import inspect

    theirs = pytest.importorskip("mem0.memory.main").Memory
    names = ("add", "search", "get", "get_all", "update", "delete", "delete_all", "history")
    for name in names:
        ours = inspect.signature(getattr(Memory, name)).parameters
        takes_any = any(it.kind is it.VAR_KEYWORD for it in ours.values())
        asked = set(inspect.signature(getattr(theirs, name)).parameters)
        assert takes_any or asked - {"kwargs"} <= set(ours), name


# Anthropic and Pydantic-AI.


def test_the_memory_tool_answers_each_command(store: Store) -> None:
    pytest.importorskip("anthropic")
    from anthropic.lib.tools import ToolError

    from grainstore.anthropic import GrainMemoryTool

    tool = GrainMemoryTool(store)
    assert tool.to_dict() == {"type": "memory_20250818", "name": "memory"}
    path = "/memories/tea.md"
    tool.call({"command": "create", "path": path, "file_text": "green\ntea\n"})
    tool.call({"command": "str_replace", "path": path, "old_str": "green", "new_str": "black"})
    tool.call({"command": "insert", "path": path, "insert_line": 0, "insert_text": "hot\n"})
    tool.call({"command": "rename", "old_path": path, "new_path": "/memories/drink.md"})
    told = tool.call({"command": "view", "path": "/memories/drink.md", "view_range": [1, 2]})
    assert "hot" in told and "black" in told and "tea" not in str(told).split("numbers:")[1]
    with pytest.raises(ToolError):
        tool.call({"command": "view", "path": path})
    tool.call({"command": "delete", "path": "/memories/drink.md"})
    tool.call({"command": "create", "path": path, "file_text": "x"})
    tool.clear_all_memory()
    with pytest.raises(ToolError):
        tool.call({"command": "view", "path": path})


# Google ADK.


def test_the_memory_service_finds_what_a_session_said(store: Store) -> None:
    pytest.importorskip("google.adk")
    from google.adk.events.event import Event
    from google.adk.memory.memory_entry import MemoryEntry
    from google.adk.sessions.session import Session
    from google.genai import types

    from grainstore.adk import GrainMemoryService

    def content(text: str) -> types.Content:
        return types.Content(role="user", parts=[types.Part(text=text)])

    events = [Event(author="user", content=content(it)) for it in ("I like tea", "It rains")]
    session = Session(id="s", app_name="app", user_id="ana", events=events)
    service = GrainMemoryService(store)

    def found(user: str, query: str) -> list[Any]:
        search = service.search_memory(app_name="app", user_id=user, query=query)
        return list(run(search).memories)

    run(service.add_session_to_memory(session))
    run(service.add_session_to_memory(session))
    assert store.count() == 2
    memory = found("ana", "tea")[0]
    assert memory.content.parts[0].text == "I like tea" and memory.author == "user"
    assert found("ben", "tea") == []
    run(service.delete_memory(app_name="app", user_id="ben", memory_id=memory.id))
    assert found("ana", "tea")
    run(service.delete_memory(app_name="app", user_id="ana", memory_id=memory.id))
    run(service.add_session_to_memory(session))
    assert found("ana", "tea") == []
    entry = MemoryEntry(content=content("She lives in Porto"))
    run(service.add_memory(app_name="app", user_id="ana", memories=[entry]))
    assert found("ana", "Porto")


# LlamaIndex.


def test_a_memory_block_recalls_what_left_the_short_term_memory(store: Store) -> None:
    pytest.importorskip("llama_index.core")
    from llama_index.core.base.llms.types import ChatMessage

    from grainstore.llama_index import GrainMemoryBlock

    block = GrainMemoryBlock(store=store, user="ana")
    said = [ChatMessage(role="user", content="I moved to Porto in May")]
    run(block.aput(said, from_short_term_memory=True, session_id="monday"))
    assert store.count(session="monday", user="ana") == 1
    asked = [ChatMessage(role="user", content="Where did I move?")]
    told = run(block.aget(asked))
    assert "Porto" in told and run(block.aget([])) == ""
    assert run(block.atruncate(told, 10_000)) is None
    assert run(block.atruncate(told + "\n" + "x" * 400, 100)) == told


# Microsoft Agent Framework.


def test_the_history_of_a_session_is_told_to_the_model_again(store: Store) -> None:
    pytest.importorskip("agent_framework")
    from agent_framework import AgentSession, Message
    from agent_framework._sessions import SessionContext

    from grainstore.agent_framework import GrainContextProvider, GrainHistoryProvider

    history = GrainHistoryProvider(store, user="ana")
    messages = [Message("user", ["I moved to Porto in May"]), Message("assistant", ["Noted"])]
    run(history.save_messages("monday", messages))
    told = run(history.get_messages("monday"))
    assert [(str(it.role), it.text) for it in told] == [
        ("user", "I moved to Porto in May"),
        ("assistant", "Noted"),
    ]
    assert run(history.get_messages("tuesday")) == []
    context = SessionContext(input_messages=[Message("user", ["Where did I move?"])])
    provider = GrainContextProvider(store, user="ana")
    session: Any = AgentSession()
    run(provider.before_run(agent=None, session=session, context=context, state={}))
    assert any("Porto" in it for it in context.instructions)


# Pydantic-AI.


def test_an_agent_of_pydantic_ai_keeps_files_and_is_told_of_a_failure(store: Store) -> None:
    pytest.importorskip("pydantic_ai")
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    from grainstore.pydantic_ai import memory_tool

    path = "/memories/tea.md"
    script: list[dict[str, Any]] = [
        {"command": "view", "path": path},
        {"command": "create", "path": path, "file_text": "green tea"},
        {"command": "view", "path": path},
    ]
    told: list[str] = []

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        assert [tool.name for tool in info.function_tools] == ["memory"]
        told.extend(
            str(part.content) for part in messages[-1].parts if part.part_kind == "tool-return"
        )
        done = len(told)
        if done == len(script):
            return ModelResponse(parts=[TextPart("noted")])
        return ModelResponse(parts=[ToolCallPart("memory", script[done])])

    agent = Agent(FunctionModel(model), tools=[memory_tool(store)])
    assert run(agent.run("remember my tea")).output == "noted"
    assert "does not exist" in told[0] and "created" in told[1] and "green tea" in told[2]
    assert "green tea" in store.search("tea")[0].grain.summary


def test_a_store_that_is_closed_says_so_in_every_adapter() -> None:
    store = grainstore.in_memory()
    session, memory = GrainSession(store, "a"), Memory(store)
    store.close()
    with pytest.raises(grainstore.errors.Usage):
        run(session.get_items())
    with pytest.raises(grainstore.errors.Usage):
        memory.get("x")
