import { randomBytes } from "node:crypto";

import { ascii, digest, NAME_MAX } from "../names.js";
import type { Grain } from "../native/index.cjs";
import type { Fields } from "../options.js";

// A namespace of grains has 64 parts at most.
const PARTS_MAX = 60;

/** An item as it is stored. */
export interface Stored {
  address: string;
  namespace: string[];
  key: string;
  value: Record<string, any>;
  createdAt: Date;
  updatedAt: Date;
  /** The parts of the value that have a vector. */
  paths: string[];
}

/** Returns the namespace of the grains of an item, and whether it says all of the item's. */
export function pathOf(root: string, namespace: readonly string[]): [string, boolean] {
  let path = root;
  for (const [count, label] of namespace.entries()) {
    const hex = (letter: string) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`;
    const quoted = encodeURIComponent(label).replace(/[!'()*]/g, hex);
    const longer = `${path}:${quoted}`;
    if (longer.length > NAME_MAX || count === PARTS_MAX) return [path, false];
    path = longer;
  }
  return [path, true];
}

/** Returns the entity that the versions of an item are about. */
export function idOf(root: string, namespace: readonly string[], key: string): string {
  const name = ascii([root, ...namespace, key]);
  if (name.length <= NAME_MAX) return name;
  return `${root}#${digest(name)}`;
}

/** Returns the grain of an item. */
export function toGrain(
  root: string,
  { namespace, key, value, createdAt, updatedAt, paths }: Omit<Stored, "address">,
): Fields {
  // A member whose name begins with `x-` is not searched.
  const context = {
    json: ascii(value),
    "x-namespace": ascii(namespace),
    "x-key": ascii(key),
    "x-created_at": createdAt.getTime(),
    "x-paths": paths.length > 0 ? paths : undefined,
    // Two versions of one millisecond are two grains, and one that was deleted may come again.
    "x-revision": randomBytes(8).toString("hex"),
  };
  return {
    type: "state",
    context,
    namespace: pathOf(root, namespace)[0],
    entity_id: idOf(root, namespace, key),
    created_at: updatedAt,
  };
}

/** Returns the item of a grain. */
export function fromGrain(grain: Grain): Stored {
  const context = grain.get("context") as Fields;
  return {
    address: grain.address,
    namespace: JSON.parse(context["x-namespace"]),
    key: JSON.parse(context["x-key"]),
    value: JSON.parse(context["json"]),
    createdAt: new Date(context["x-created_at"]),
    updatedAt: new Date(grain.createdAt),
    paths: context["x-paths"] ?? [],
  };
}
