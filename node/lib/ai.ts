/** Memory for agents of the AI SDK: tools over a store of grains, and the memory tool of Anthropic's models. */
import { jsonSchema, tool } from "ai";

import { run } from "./files.js";
import type { Conditions, Fields } from "./options.js";
import type { Store } from "./store.js";

/** Whose memories the tools are about. */
export interface About {
  user?: string | undefined;
  namespace?: string | undefined;
  session?: string | undefined;
}

/**
 * Returns the tools `remember`, `recall` and `forget` for `tools` of `generateText`. What `forget` deletes is
 * erased from the files. Keep a model from other persons' memories by giving it a narrowed handle, such as
 * `store.ofUser("ana")`, which cannot delete; `about` only says what is stored and asked for.
 */
export function memoryTools(store: Store, about: About = {}) {
  const within: Conditions = { user: about.user, namespace: about.namespace };
  return {
    remember: tool({
      description: "Stores what is worth knowing in later conversations: one fact or preference, as a sentence.",
      inputSchema: jsonSchema<{ text: string; tags?: string[] }>({
        type: "object",
        required: ["text"],
        properties: {
          text: { type: "string" },
          tags: { type: "array", items: { type: "string" } },
        },
      }),
      execute: async ({ text, tags }) => ({ address: await store.remember(text, { ...about, tags }) }),
    }),
    recall: tool({
      description: "Returns the memories that a question calls for, each with the beginning of its address.",
      inputSchema: jsonSchema<{ question: string }>({
        type: "object",
        required: ["question"],
        properties: { question: { type: "string" } },
      }),
      execute: async ({ question }) => String(await store.recall(question, within)),
    }),
    forget: tool({
      description: "Deletes a memory for good, by its whole address.",
      inputSchema: jsonSchema<{ address: string; reason: string }>({
        type: "object",
        required: ["address", "reason"],
        properties: { address: { type: "string" }, reason: { type: "string" } },
      }),
      execute: async ({ address, reason }) => {
        await store.delete(address, { reason, authority: "the agent" });
        return "deleted";
      },
    }),
  };
}

/**
 * Returns the `execute` of `anthropic.tools.memory_20250818`: files under `/memories`, with their history. A
 * command that fails is told to the model as its text.
 *
 * ```ts
 * tools: { memory: anthropic.tools.memory_20250818({ execute: memoryFiles(store) }) }
 * ```
 */
export function memoryFiles(store: Store): (command: Fields) => Promise<string> {
  return async (command) => (await run(store, command)).text;
}
