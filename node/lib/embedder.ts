import * as native from "./native/index.cjs";
import { type Embedder, floats } from "./options.js";

/** Returns a model as the extension asks it. */
export function model(of: Embedder): native.Model {
  const answer = async (texts: string[], areQuestions: boolean) => {
    const embedded =
      areQuestions && of.embedQuery !== undefined
        ? await Promise.all(texts.map((text) => of.embedQuery!(text)))
        : await of.embed(texts);
    return embedded.map(floats);
  };
  return {
    model: of.model,
    dimensions: of.dimensions,
    ask: (question, texts, areQuestions) => {
      answer(texts, areQuestions).then(
        (vectors) => native.embedded(question, vectors),
        (error: unknown) => native.embedded(question, [], String(error)),
      );
    },
  };
}
