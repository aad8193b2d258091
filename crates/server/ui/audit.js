// The ledger as a log, newest first, by author, kind, person and time.

import { post, short } from "/ui/api.js";
import { counted, h, link, page, say, show, text, view, when } from "/ui/dom.js";
import { asking } from "/ui/filters.js";
import { downloads } from "/ui/listing.js";

const LIMIT = 100;

const NAMES = ["operation", "by", "user", "since", "until"];

export async function open({ query, rights, isCurrent }) {
  if (!rights.operations.includes("admin") || rights.user || rights.namespaces.length > 0) {
    show("Audit log", h("p", {}, "The log is for a token with the operation admin that reaches the whole store."));
    return;
  }
  const asked = Object.fromEntries(NAMES.filter((name) => query[name]).map((name) => [name, query[name]]));
  const found = await post("/v1/audit", {
    operation: asked.operation, by: asked.by === "owner" ? "" : asked.by, person: asked.user, from: asked.since, to: asked.until,
    newest_first: true, limit: LIMIT, after: Number(query.after) || undefined,
  });
  if (!isCurrent()) return;
  show("Audit log", asking(["audit"], NAMES, query), found.entries.length === 0
    ? h("p", {}, "No entry passes. ", h("a", { href: page("audit") }, "Show all of them"), ".")
    : h("ol", { class: "log" }, found.entries.map((entry) => logged(entry, asked))),
  h("p", { class: "pager" }, query.after && h("a", { href: view(["audit"], asked), class: "step" }, "Newest"),
    found.next > 0 && h("a", { href: view(["audit"], { ...asked, after: String(found.next) }), class: "step" }, "Older")),
  downloads("audit", () => found.entries.map((entry) => ({ ...entry, at: new Date(entry.at).toISOString(), addresses: entry.addresses.join(" ") }))));
  say(`${counted(found.entries.length, "entry", "entries")}, newest first`);
}

/** One entry: its author and its kind lead to the entries of the same. */
function logged(entry, asked) {
  const by = entry.by ?? "owner";
  const grains = entry.addresses.slice(0, 5).map((one) => [" ", link(short(one, 12), "grain", one)]);
  return h("li", {}, when(entry.at), " ",
    h("a", { href: view(["audit"], { ...asked, operation: entry.operation }), class: "kind" }, entry.operation), " by ",
    h("a", { href: view(["audit"], { ...asked, by }) }, text(short(by || "a handle without an author", 60))),
    entry.user && [" for ", text(entry.user)], entry.token && [" with the token ", text(entry.token)],
    h("span", { class: "quiet" }, ` · ${entry.entry} · `, text(entry.detail), grains, entry.addresses.length > 5 && ` and ${entry.addresses.length - 5} more`));
}
