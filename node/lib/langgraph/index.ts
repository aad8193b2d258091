/** The memory and the checkpoints of LangGraph in a store of grains. */
export { GrainSaver } from "./saver.js";
export { GrainStore } from "./store.js";
