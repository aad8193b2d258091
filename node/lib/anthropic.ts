/** The memory tool of the Anthropic SDK on a store of grains: files under `/memories`, with their history. */
import { betaMemoryTool, type MemoryToolHandlers } from "@anthropic-ai/sdk/helpers/beta/memory";

import { run } from "./files.js";
import type { Store } from "./store.js";

/** Returns the tool, which answers the commands of the model as `grainstore mcp` does. */
export function memoryTool(store: Store): ReturnType<typeof betaMemoryTool> {
  return betaMemoryTool(handlers(store));
}

/** Returns what `betaMemoryTool` takes; the error of a command that fails is what the model is told. */
export function handlers(store: Store): MemoryToolHandlers {
  const answer = async (command: object) => {
    const { text, isFailure } = await run(store, command);
    if (isFailure) throw new Error(text);
    return text;
  };
  return { view: answer, create: answer, str_replace: answer, insert: answer, delete: answer, rename: answer };
}
