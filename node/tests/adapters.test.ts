// The adapters, with the frameworks that they are for.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { anthropic } from "@ai-sdk/anthropic";
import type { AgentInputItem } from "@openai/agents-core";
import express from "express";
import { errors, Store } from "grainstore";
import { memoryFiles, memoryTools } from "grainstore/ai";
import { handlers, memoryTool } from "grainstore/anthropic";
import { newToken, StoreHandler } from "grainstore/http";
import { GrainSession } from "grainstore/openai-agents";
import { Hono } from "hono";

import { folder, memory } from "./place.js";

// OpenAI Agents.

const said = (content: string): AgentInputItem => ({ role: "user", content }) as AgentInputItem;

test("a session gives back what was said, in its order", async (t) => {
  const session = new GrainSession(await memory(t), "monday");
  assert.equal(await session.getSessionId(), "monday");
  assert.deepEqual(await session.getItems(), []);
  const items = ["one", "two", "two", "three"].map(said);
  await session.addItems(items.slice(0, 2));
  await session.addItems(items.slice(2));
  assert.deepEqual(await session.getItems(), items);
  assert.deepEqual(await session.getItems(2), items.slice(2));
  assert.deepEqual(await session.getItems(0), []);
});

test("an item of a session that is popped or cleared is gone", async (t) => {
  const store = await memory(t);
  const [session, other] = [new GrainSession(store, "monday"), new GrainSession(store, "tuesday")];
  assert.equal(await session.popItem(), undefined);
  await session.addItems(["one", "two"].map(said));
  await other.addItems([said("three")]);
  assert.deepEqual(await session.popItem(), said("two"));
  await session.clearSession();
  assert.deepEqual(await session.getItems(), []);
  assert.equal((await store.search("one OR two")).total, 0);
  assert.deepEqual(await other.getItems(), [said("three")]);
});

test("items without text come back whole", async (t) => {
  const session = new GrainSession(await memory(t), "monday");
  const call = { type: "function_call", callId: "c", name: "f", arguments: "{}", status: "completed" };
  const result = { type: "function_call_result", callId: "c", name: "f", output: { type: "text", text: "42" } };
  await session.addItems([call, result] as AgentInputItem[]);
  assert.deepEqual(await session.getItems(), [call, result]);
});

test("what was said is found with everything else", async (t) => {
  const store = await memory(t);
  await new GrainSession(store, "monday", { user: "ana" }).addItems([said("I moved to Porto")]);
  assert.match(String(await store.recall("Porto", { user: "ana" })), /I moved to Porto/);
});

// The memory tool.

test("the memory tool of Anthropic keeps files with their history", async (t) => {
  const store = await memory(t);
  const tool = memoryTool(store);
  assert.deepEqual([tool.type, tool.name], ["memory_20250818", "memory"]);
  const files = handlers(store);
  await files.create({ command: "create", path: "/memories/tea.md", file_text: "green\n" });
  await files.str_replace({ command: "str_replace", path: "/memories/tea.md", old_str: "green", new_str: "black" });
  await files.insert({ command: "insert", path: "/memories/tea.md", insert_line: 1, insert_text: "or white\n" });
  const seen = await files.view({ command: "view", path: "/memories/tea.md" });
  assert.match(String(seen), /black[\s\S]*or white/);
  await files.rename({ command: "rename", old_path: "/memories/tea.md", new_path: "/memories/drinks.md" });
  await files.delete({ command: "delete", path: "/memories/drinks.md" });
  await assert.rejects(async () => files.view({ command: "view", path: "/memories/drinks.md" }));
  await assert.rejects(async () => files.view({ command: "view", path: "/etc/passwd" }));
});

test("the memory tool of the AI SDK keeps the same files", async (t) => {
  const store = await memory(t);
  const files = memoryFiles(store);
  const tool = anthropic.tools.memory_20250818({ execute: files });
  assert.ok(tool);
  await files({ command: "create", path: "/memories/a.md", file_text: "hello" });
  assert.match(await files({ command: "view", path: "/memories/a.md", view_range: [1, 1] }), /hello/);
  assert.match(await files({ command: "view", path: "/memories/none.md" }), /not/);
  await assert.rejects(files({ command: "burn" }), RangeError);
  await assert.rejects(files({ command: "view" }), TypeError);
});

test("the tools of the AI SDK remember, recall and forget", async (t) => {
  const store = await memory(t);
  const { remember, recall, forget } = memoryTools(store, { user: "ana" });
  const options = { toolCallId: "c", messages: [], context: {} } as never;
  const { address } = (await remember.execute!({ text: "I like tea", tags: ["drink"] }, options)) as { address: string };
  assert.equal((await store.get(address))!.get("user_id"), "ana");
  assert.match(String(await recall.execute!({ question: "tea" }, options)), /I like tea/);
  await forget.execute!({ address, reason: "asked" }, options);
  assert.equal(await store.get(address), null);
});

// HTTP.

async function served(t: TestContext) {
  const store = await Store.open(join(folder(t), "memory.grains"));
  const handler = await StoreHandler.of(store);
  t.after(async () => {
    await handler.close();
    await store.close();
  });
  const token = await newToken(store, { actor: "did:web:bot.example", operations: ["read", "write"] });
  return { store, handler, headers: { authorization: `Bearer ${token}`, "content-type": "application/json" } };
}

test("Express answers the routes of a store", async (t) => {
  const { store, handler, headers } = await served(t);
  const app = express();
  app.use("/memory", handler.node);
  const server = createServer(app).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const site = `http://127.0.0.1:${(server.address() as AddressInfo).port}/memory`;
  const refused = await fetch(`${site}/v1/search`, { method: "POST" });
  assert.equal(refused.status, 401);
  const body = JSON.stringify({ type: "event", content: "hello" });
  const put = await fetch(`${site}/v1/grains`, { method: "POST", headers, body });
  assert.equal(put.status, 200, await put.clone().text());
  assert.equal(await store.count(), 1);
});

test("Hono answers the routes of a store", async (t) => {
  const { store, handler, headers } = await served(t);
  await store.remember("hello");
  const app = new Hono();
  app.all("/v1/*", (context) => handler.fetch(context.req.raw));
  const body = JSON.stringify({ question: "hello" });
  const found = await app.request("/v1/search", { method: "POST", headers, body });
  assert.equal(found.status, 200, await found.clone().text());
  assert.match(await found.text(), /hello/);
  assert.equal((await app.request("/v1/search", { method: "POST", body })).status, 401);
});

test("a handler needs a file of tokens, and ends with its store", async (t) => {
  const store = await memory(t);
  await assert.rejects(StoreHandler.of(store), errors.Usage);
  const tokens = join(folder(t), "tokens");
  await assert.rejects(newToken(store, { actor: "me", operations: ["read"] }, { tokens }));
  const handler = await StoreHandler.of(store, { tokens });
  assert.equal((await handler.fetch(new Request("http://localhost/v1/search", { method: "POST" }))).status, 401);
  await store.close();
  await assert.rejects(handler.fetch(new Request("http://localhost/healthz")));
  await handler.close();
});
