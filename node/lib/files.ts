import { ask } from "./failure.js";
import type * as native from "./native/index.cjs";
import type { Fields } from "./options.js";
import type { Store } from "./store.js";

/** Runs a command of the common memory tool: files under `/memories`, with their history. */
export function run(store: Store, command: Fields): Promise<native.ToolAnswer> {
  return ask(undefined, async (abort) => store.native.memoryTool(command, abort));
}
