// LangGraph's validation of checkpointers: `vitest run` in this folder.
import { validate } from "@langchain/langgraph-checkpoint-validation";
import { Store } from "grainstore";
import { GrainSaver } from "grainstore/langgraph";

const stores = new Map();

validate({
  checkpointerName: "GrainSaver",
  createCheckpointer: async () => {
    const store = await Store.inMemory();
    const saver = new GrainSaver(store);
    stores.set(saver, store);
    return saver;
  },
  destroyCheckpointer: (saver) => stores.get(saver).close(),
});
