// The command, which the package carries, and its example.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { Store } from "grainstore";

import { folder } from "./place.js";

const package_ = fileURLToPath(new URL("../..", import.meta.url));
const program = join(package_, "bin/grainstore.mjs");
const run = (...words: string[]) => promisify(execFile)(process.execPath, words);

test("the command stores what the package reads", async (t) => {
  const path = join(folder(t), "memory.grains");
  await run(program, "--store", path, "remember", "I moved to Porto");
  await using store = await Store.open(path, { create: "never" });
  assert.equal((await store.search("Porto")).total, 1);
});

test("the exit code is that of the command", async (t) => {
  const path = join(folder(t), "none.grains");
  await assert.rejects(run(program, "--store", path, "get", "abc"), (error: { code?: number; stderr?: string }) => {
    assert.ok(error.code! > 0);
    assert.match(error.stderr!, /grainstore/);
    return true;
  });
  assert.match((await run(program, "--version")).stdout, /^grainstore \d/);
});

test("a client speaks MCP with it", async (t) => {
  const path = join(folder(t), "memory.grains");
  const server = spawn(process.execPath, [program, "--store", path, "mcp"], { stdio: ["pipe", "pipe", "ignore"] });
  const about = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } };
  server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: about })}\n`);
  const [answer] = (await once(server.stdout, "data")) as [Buffer];
  assert.equal(JSON.parse(String(answer).split("\n")[0]!).result.serverInfo.name, "grainstore");
  server.stdin.end();
  assert.equal((await once(server, "exit"))[0], 0);
});

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  test(`a browser sees the inspector of the command, until ${signal}`, { timeout: 60_000 }, async (t) => {
    const path = join(folder(t), "memory.grains");
    const words = ["--store", path, "serve", "--ui", "--listen", "127.0.0.1:0"];
    const server = spawn(process.execPath, [program, ...words], { stdio: ["ignore", "pipe", "pipe"] });
    t.after(() => server.kill("SIGKILL"));
    let told = "";
    let site: string | undefined;
    for (const output of [server.stdout, server.stderr]) {
      output.on("data", (more: Buffer) => {
        told += String(more);
        site ??= told.match(/inspector is at (\S+)\s/)?.[1];
        if (site !== undefined) server.emit("served");
      });
    }
    await once(server, "served");
    const page = await fetch(site!);
    assert.deepEqual([page.status, page.headers.get("content-type")?.split(";")[0]], [200, "text/html"]);
    server.kill(signal);
    assert.equal((await once(server, "exit"))[0], 0);
  });
}

test("the example of a chat agent remembers between its runs", async (t) => {
  const path = join(folder(t), "memory.grains");
  const example = join(package_, "examples/chat.mjs");
  const first = await run(example, path, "I moved to Porto in May");
  assert.match(first.stdout, /nothing yet/);
  const second = await run(example, path, "Where did I move?");
  assert.match(second.stdout, /I moved to Porto in May/);
});
