import { createHash } from "node:crypto";

/** A name of a grain has no more characters than this: fields of the store end at 512 bytes. */
export const NAME_MAX = 480;

/** Returns JSON in ASCII, which keeps what a grain does not: null in maps, text that is not NFC. */
export function ascii(value: unknown): string {
  const escaped = (letter: string) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(value).replace(/[^\x20-\x7e]/g, escaped);
}

/** Returns a text for names, in ASCII, which no normalisation changes, and short enough for a field. */
export function short(names: readonly unknown[]): string {
  const name = ascii(names);
  return name.length <= NAME_MAX ? name : digest(name);
}

/** Returns the SHA-256 of a text. */
export function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
