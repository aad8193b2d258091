// The conditions of a view: fields of a form, the question in the address, the filter that /v1 takes.

import { field, h, view } from "/ui/dom.js";

const TYPES = ["belief", "event", "state", "workflow", "tool", "observation", "goal", "reasoning", "consensus", "consent"];

/** The conditions that a filter has, and those of the log. */
const FILTERS = { type: "Type", user: "Person", session: "Conversation", namespace: "Namespace", since: "From", until: "To" };
const LABELS = { ...FILTERS, operation: "Kind", by: "Author" };

function input(name, value) {
  if (name === "type") {
    return h("select", {}, ["", ...TYPES].map((one) => h("option", { value: one, selected: one === value }, one || "any")));
  }
  const isDate = name === "since" || name === "until";
  return h("input", { type: isDate ? "date" : "text", value: value ?? "", autocomplete: "off" });
}

/** The filter that a question in an address means. */
export function filterOf(query) {
  const given = Object.keys(FILTERS).filter((name) => query[name]).map((name) => [name, query[name]]);
  return { ...Object.fromEntries(given), ...(query.old && { superseded: true, expired: true }) };
}

/** The fields of the conditions with these names, and what they say. `told` hears of each change. */
export function conditions(names, query, told = () => {}) {
  const inputs = names.map((name) => [name, input(name, query[name])]);
  for (const [, one] of inputs) {
    one.addEventListener(one.type === "text" ? "input" : "change", told);
  }
  return {
    fields: inputs.map(([name, one]) => field(LABELS[name], one)),
    question: () => Object.fromEntries(inputs.map(([name, one]) => [name, one.value.trim()])),
  };
}

/** A form that opens the same page with other conditions. */
export function asking(parts, names, query) {
  const chosen = conditions(names, query);
  return h("form", {
    onsubmit: (event) => {
      event.preventDefault();
      location.hash = view(parts, chosen.question());
    },
  }, chosen.fields, h("button", { type: "submit" }, "Show"));
}
