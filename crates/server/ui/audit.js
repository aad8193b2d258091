// The ledger as a log, oldest first, with filters.

import { post, short } from "/ui/api.js";
import { counted, field, h, link, say, show, table, text, time } from "/ui/dom.js";

export async function open({ rights, isCurrent }) {
  if (!rights.operations.includes("admin") || rights.user || rights.namespaces.length > 0) {
    show("Audit log", h("p", {}, "The log is for a token with the operation admin that reaches the whole store."));
    return;
  }
  const operation = h("input", { autocomplete: "off", placeholder: "store, deny, erase, import…" });
  const person = h("input", { autocomplete: "off" });
  const from = h("input", { type: "date" });
  const place = h("div", {});
  const next = h("button", { type: "button", hidden: true }, "Next page");
  let after = null;
  async function load(start) {
    const given = { operation: operation.value.trim(), person: person.value.trim(), from: from.value && `${from.value}T00:00:00Z` };
    const filter = Object.fromEntries(Object.entries(given).filter(([, value]) => value));
    const found = await post("/v1/audit", { ...filter, limit: 100, after: start ?? undefined });
    if (!isCurrent()) return;
    after = found.next;
    next.hidden = after === null;
    place.replaceChildren(table("Entries of the ledger", ["Entry", "Time", "By", "Operation", "Grains", "Facts"],
      found.entries.map((entry) => [
        String(entry.entry), time(entry.at), text(entry.by ?? "owner"), entry.operation,
        h("ul", { class: "plain" }, entry.addresses.slice(0, 5).map((one) => h("li", { class: "whole" }, link(short(one, 12), "grain", one)))),
        text(entry.detail),
      ])));
    say(`${counted(found.entries.length, "entry", "entries")}, oldest first`);
  }
  next.addEventListener("click", () => load(after));
  show("Audit log", h("form", {
    onsubmit: (event) => {
      event.preventDefault();
      load(null);
    },
  }, field("Operation", operation), field("Person", person), field("From", from), h("button", { type: "submit" }, "Show")),
  place, h("p", {}, next));
  await load(null);
}
