/** So many rows are asked for at once: to turn them into objects holds the event loop for two milliseconds. */
export const CHUNK = 500;

/** An answer of fewer rows waits for no other. */
const FEW = 50;

/** So many answers of many rows are made at once: all that are ready are turned into objects in one turn. */
const WIDTH = 2;

let free = WIDTH;
const waiting: (() => void)[] = [];

/**
 * Asks for an answer of so many rows. If they are many, others wait, and the event loop has its turn between two,
 * so that it is not held while dozens of answers are turned into objects.
 */
export async function inLane<T>(rows: number, work: () => Promise<T>): Promise<T> {
  if (rows <= FEW) return work();
  if (free > 0) free--;
  else await new Promise<void>((resolve) => waiting.push(resolve));
  try {
    return await work();
  } finally {
    setImmediate(leave);
  }
}

function leave(): void {
  const next = waiting.shift();
  if (next === undefined) free++;
  else next();
}
