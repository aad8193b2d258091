// A process of `load.test.ts` that stores notes, and says the address of each, until it is killed.
import { Store } from "grainstore";

const store = await Store.open(process.argv[2]!);
for (let n = 0; ; n++) {
  const addresses = await Promise.all([0, 1, 2, 3].map((part) => store.remember(`note ${n}, part ${part}`)));
  process.stdout.write(`${addresses.join("\n")}\n`);
}
