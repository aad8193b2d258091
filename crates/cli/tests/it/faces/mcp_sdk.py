"""Drives every tool, resource and prompt of the MCP server with the official SDK for Python.

Usage: mcp_sdk.py MODE stdio PROGRAM STORE_DIRECTORY, or mcp_sdk.py MODE http URL TOKEN. MODE is
`legacy` (a handshake, 2025-11-25) or a later revision (2026-07-28). The SDK validates every
structured answer against its schema.
"""

import asyncio
import json
import sys

from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client
from mcp_types import ElicitResult

MODE, TRANSPORT, WHERE, WITH = sys.argv[1:]


def server():
    if TRANSPORT == "stdio":
        return StdioServerParameters(command=WHERE, args=["--quiet", "--store", WITH, "mcp"])
    http = create_mcp_http_client(headers={"Authorization": f"Bearer {WITH}"})
    return streamable_http_client(WHERE, http_client=http)


def text(result):
    return result.content[0].text


async def ok(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, (tool, text(result))
    assert result.structured_content is not None, tool
    return result.structured_content


async def refused(client, tool, code, **arguments):
    result = await client.call_tool(tool, arguments)
    assert result.is_error and code in text(result), (tool, text(result))


async def tools(client):
    listed = (await client.list_tools()).tools
    assert len(listed) == 12, [tool.name for tool in listed]
    for tool in listed:
        assert tool.title and tool.description, tool.name
        assert bool(tool.annotations.destructive_hint) == (tool.name == "forget"), tool.name
        assert tool.annotations.open_world_hint is False, tool.name

    belief = await ok(client, "remember", subject="mira", relation="prefers", object="tea", user="mira")
    address = belief["address"]
    assert "mira prefers tea" in (await ok(client, "recall", question="tea?"))["markdown"]
    assert (await ok(client, "search", question="tea"))["items"][0]["address"] == address[:8]
    assert (await ok(client, "query", filter={"subject": "mira"}))["total"] == 1
    assert (await ok(client, "get", address=address))["grain"]["object"] == "tea"
    new = await ok(client, "correct", address=address, text="coffee", reason="changed")
    assert new["supersedes"] == address
    assert len((await ok(client, "history", address=address))["versions"]) == 2
    await refused(client, "correct", "ERR_CONFLICT", address=address, text="water")
    await refused(client, "get", "ERR_USAGE", adress=address)
    messages = [{"role": "user", "content": "where is my hat?", "time": "2026-01-15T10:00:00Z"}]
    said = await ok(client, "import_conversation", messages=messages, session="hats", user="mira")
    assert said["stored"] == 1, said
    assert (await ok(client, "report", user="mira"))["about_total"] == 3
    return new["address"]


async def files(client):
    async def run(**arguments):
        return (await ok(client, "memory", **arguments))["result"]

    path = "/memories/notes.md"
    await run(command="create", path=path, file_text="one\ntwo\n")
    assert "     2\ttwo" in await run(command="view", path=path, view_range=[2, 2])
    await run(command="str_replace", path=path, old_str="two", new_str="three")
    await run(command="insert", path=path, insert_line=1, insert_text="two")
    await run(command="rename", old_path=path, new_path="/memories/new.md")
    assert "/memories/new.md" in await run(command="view", path="/memories")
    await run(command="delete", path="/memories/new.md")
    await refused(client, "memory", "does not exist", command="view", path=path)


async def resources(client):
    listed = await client.list_resources()
    assert listed.resources, listed
    for resource in listed.resources:
        read = await client.read_resource(resource.uri)
        assert read.contents[0].text, resource.uri
    assert "hat" in (await client.read_resource("session://hats")).contents[0].text
    templates = (await client.list_resource_templates()).resource_templates
    assert len(templates) == 2, templates
    try:
        await client.read_resource("grain://" + "0" * 64)
    except MCPError as error:
        assert "no grain" in str(error), error
    else:
        raise AssertionError("a missing grain was read")


async def prompts(client):
    listed = (await client.list_prompts()).prompts
    assert len(listed) == 3, listed
    for prompt in listed:
        got = await client.get_prompt(prompt.name, {prompt.arguments[0].name: "the garden"})
        assert "the garden" in got.messages[0].content.text, prompt.name


async def main():
    async with Client(server(), mode=MODE) as client:
        address = await tools(client)
        await files(client)
        await resources(client)
        await prompts(client)
        # Without a way to ask its user, the model confirms by a second call.
        assert (await ok(client, "forget", address=address, confirm=True))["needs_confirmation"]
        assert (await ok(client, "forget", address=address, confirm=True))["deleted"]

    answers = [ElicitResult(action="decline"), ElicitResult(action="accept", content={"delete": True})]
    asked = []

    async def ask(_context, params):
        asked.append(params.message)
        return answers[len(asked) - 1]

    async with Client(server(), mode=MODE, elicitation_callback=ask) as client:
        address = (await ok(client, "remember", text="the hat is red"))["address"]
        assert not (await ok(client, "forget", address=address))["deleted"]
        assert (await ok(client, "forget", address=address))["deleted"]
        assert len(asked) == 2 and "the hat is red" in asked[0], asked
        print(json.dumps({"revision": client.session.protocol_version, "asked": len(asked)}))


asyncio.run(main())
