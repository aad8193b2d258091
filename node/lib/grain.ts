import { Grain } from "./native/index.cjs";

/** The name of the method that says what `console.log` shows. */
export const INSPECT = Symbol.for("nodejs.util.inspect.custom");

// An object of the extension has no members of its own: without these it is shown, and is as JSON, as one without any.
Object.defineProperties(Grain.prototype, {
  toJSON: {
    value(this: Grain): unknown {
      return JSON.parse(this.toText());
    },
  },
  [INSPECT]: {
    value(this: Grain): string {
      return this.toString();
    },
  },
});

export { Grain };
