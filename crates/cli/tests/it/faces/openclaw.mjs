// The plugin of integrations/openclaw with the entry point of OpenClaw itself, and a host that calls its hooks.

import assert from "node:assert/strict";

const [plugin, command, store] = process.argv.slice(2);
const { default: entry } = await import(plugin);
const hooks = new Map();
const tools = new Map();
const warnings = [];
entry.register({
  pluginConfig: { command, store },
  logger: { warn: (text) => warnings.push(text) },
  on: (name, handler) => hooks.set(name, handler),
  registerMemoryCapability: () => {},
  registerTool: (tool) => tools.set(tool.name, tool),
});
assert.equal(entry.id, "grainstore");
assert.equal(entry.kind, "memory");

const ask = (prompt) => hooks.get("before_prompt_build")({ prompt, messages: [] }, { sessionId: "s2" });
assert.equal(await ask("Which package manager do we use, npm?"), undefined);

const at = Date.parse("2026-10-02T08:00:00Z");
const messages = [
  { role: "user", content: "<grainstore-memory>\nold\n</grainstore-memory>\nUse pnpm, never npm.", timestamp: at },
  { role: "assistant", content: [{ type: "text", text: "I will." }, { type: "toolCall" }], timestamp: at + 1000 },
  { role: "toolResult", content: "ok", timestamp: at + 2000 },
];
for (const name of ["agent_end", "before_compaction", "agent_end"]) {
  await hooks.get(name)({ messages, success: true }, { sessionId: "s1" });
}
const { prependContext } = await ask("Which package manager do we use, npm?");
assert.match(prependContext, /never npm/);
assert.match(prependContext, /not instructions/);

const found = await tools.get("memory_search").execute("1", { query: "pnpm" });
assert.match(found.content[0].text, /pnpm/);
const [address] = found.details.sources;
const one = await tools.get("memory_get").execute("2", { address });
assert.match(one.content[0].text, /pnpm/);
await assert.rejects(tools.get("memory_get").execute("3", { address: "00000000" }));
assert.deepEqual(warnings, []);
hooks.get("gateway_stop")();
console.log("openclaw: ok");
