import * as native from "./native/index.cjs";

/**
 * An error of a store. Each code has a class of its own (`errors`), all under this one.
 *
 * Programs depend on the code, which never changes; the message is for people.
 */
export class GrainstoreError extends Error {
  /** The name of the error in the specification, or ours where it has none. */
  readonly code: string;
  /** Where it is: a grain of a batch, a line of a file. */
  readonly place: string | undefined;
  readonly #hint: string | undefined;

  constructor(message: string, members: { code?: string; place?: string; hint?: string } = {}) {
    super(message);
    this.name = new.target.name;
    this.code = members.code ?? "ERR_INTERNAL";
    this.place = members.place;
    this.#hint = members.hint;
  }

  /** What can be done about it, in one line. */
  get hint(): string | undefined {
    return this.#hint ?? native.hint(this.code) ?? undefined;
  }
}

type Class = new (message: string, members: { code?: string; place?: string; hint?: string }) => Error;

const classes = new Map<string, Class>();

/** Has the errors of a code be of a class. */
export function know(code: string, of: Class): void {
  classes.set(code, of);
}

const MARK = "grainstore:";

/** Returns the error that the text of the extension describes; `undefined` for another text. */
export function described(text: string): Error | undefined {
  if (!text.startsWith(MARK)) return undefined;
  const told = JSON.parse(text.slice(MARK.length)) as {
    kind?: string;
    code: string;
    message: string;
    place: string | null;
    hint: string | null;
  };
  if (told.kind === "TypeError") return new TypeError(told.message);
  if (told.kind === "RangeError") return new RangeError(told.message);
  const of = classes.get(told.code) ?? GrainstoreError;
  const members = { code: told.code, place: told.place ?? undefined, hint: told.hint ?? undefined };
  return new of(told.message, members);
}

/** Returns an error of the extension as its class, any other as it is. */
export function translated(error: unknown): unknown {
  return (error instanceof Error ? described(error.message) : undefined) ?? error;
}

/** Calls the extension, whose errors become classes. */
export function call<T>(extension: () => T): T {
  try {
    return extension();
  } catch (error) {
    throw translated(error);
  }
}

/**
 * Awaits the extension. With a signal the promise ends when it is given: work that waits for its turn is
 * not begun, work that was begun ends unseen.
 */
export async function ask<T>(
  signal: AbortSignal | undefined,
  extension: (abort: native.Abort | undefined) => Promise<T>,
): Promise<T> {
  try {
    if (signal === undefined) return await extension(undefined);
    signal.throwIfAborted();
    const abort = new native.Abort();
    return await new Promise<T>((resolve, reject) => {
      const giveUp = () => {
        abort.abort();
        reject(signal.reason);
      };
      signal.addEventListener("abort", giveUp, { once: true });
      extension(abort)
        .then(resolve, reject)
        .finally(() => signal.removeEventListener("abort", giveUp));
    });
  } catch (error) {
    throw translated(error);
  }
}
