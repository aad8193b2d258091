// A chat agent that remembers: `node examples/chat.mjs memory.grains "I moved to Porto"`, and then
// `node examples/chat.mjs memory.grains "Where did I move?"`. The model is scripted, so that it runs without a
// network: put a real one in its place.
import { Store } from "grainstore";
import { memoryTools } from "grainstore/ai";

/** Answers as a model would that was told to repeat what it knows. */
function model(prompt) {
  const known = prompt.match(/^- .*$/gm)?.map((line) => line.slice(2)) ?? [];
  return known.length > 0 ? `I know: ${known.join("; ")}` : "I know nothing yet.";
}

const [path = "memory.grains", said = "Hello"] = process.argv.slice(2);
const store = await Store.open(path);
const memories = store.ofUser("ana");
const { remember, recall } = memoryTools(memories);
const options = { toolCallId: "1", messages: [] };
const context = await recall.execute({ question: said }, options);
console.log(model(`You remember:\n${context}\n\nThe user says: ${said}`));
await remember.execute({ text: said }, options);
await store.close();
