/** The memory of Mastra in a store of grains. */
export { GrainMemory } from "./memory.js";
