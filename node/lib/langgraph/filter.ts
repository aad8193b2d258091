/** Returns whether a value satisfies a filter of LangGraph: each name with a value or with operators. */
export function passes(value: Record<string, any>, filter: Record<string, any> = {}): boolean {
  return Object.entries(filter).every(([name, wanted]) => satisfies(value[name], wanted));
}

const OPERATORS: Record<string, (value: unknown, wanted: any) => boolean> = {
  $eq: (value, wanted) => value === wanted,
  $ne: (value, wanted) => value !== wanted,
  $gt: (value, wanted) => Number(value) > Number(wanted),
  $gte: (value, wanted) => Number(value) >= Number(wanted),
  $lt: (value, wanted) => Number(value) < Number(wanted),
  $lte: (value, wanted) => Number(value) <= Number(wanted),
  $in: (value, wanted) => Array.isArray(wanted) && wanted.includes(value),
  $nin: (value, wanted) => !Array.isArray(wanted) || !wanted.includes(value),
};

function satisfies(value: unknown, wanted: unknown): boolean {
  if (typeof wanted === "object" && wanted !== null && Object.keys(wanted).every((name) => Object.hasOwn(OPERATORS, name))) {
    return Object.entries(wanted).every(([name, operand]) => OPERATORS[name]!(value, operand));
  }
  return value === wanted;
}
