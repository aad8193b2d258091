// Lists: one memory of a list, moving through it with keys, pages, and a file of what is shown.

import { short, summary } from "/ui/api.js";
import { h, link, page, save, text, view, when } from "/ui/dom.js";

/** The person or the program that said it. */
export function speaker(grain) {
  const names = [grain.observer_id, grain.role === "user" ? grain.user_id : undefined, grain.role, grain.author_did];
  return names.find((name) => typeof name === "string" && name !== "");
}

/** When it happened. */
export const happened = (grain) => grain.timestamp_ms ?? grain.created_at;

/** A memory of a list: what it says, and when, by whom and where it was said. */
export function item(address, grain, { marked, after } = {}) {
  const about = [
    when(happened(grain)), grain.type ?? "grain",
    speaker(grain) && ["by ", text(short(speaker(grain), 40))],
    typeof grain.session_id === "string" && ["in ", link(short(grain.session_id, 40), "thread", grain.session_id)],
    typeof grain.user_id === "string" && ["of ", link(short(grain.user_id, 40), "person", grain.user_id)],
    typeof grain.namespace === "string" && text(short(grain.namespace, 40)),
  ].filter(Boolean);
  return h("li", {}, h("a", { href: page("grain", address), class: "title" }, marked ?? text(short(summary(grain)))),
    h("p", { class: "quiet" }, about.map((one, at) => [at > 0 && " · ", one])), after);
}

/** Arrows move through the titles of a list; the one above the first is `above`. */
export function walkable(list, above) {
  const titles = () => [...list.querySelectorAll("a.title")];
  const step = (event, at) => {
    const to = titles()[at];
    if (!to) return;
    event.preventDefault();
    to.focus();
  };
  list.addEventListener("keydown", (event) => {
    const at = titles().indexOf(document.activeElement);
    if (event.key === "ArrowDown") step(event, at + 1);
    if (event.key === "ArrowUp" && at > 0) step(event, at - 1);
    if (event.key === "ArrowUp" && at === 0) above?.focus();
  });
  above?.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") step(event, 0);
  });
  return list;
}

/** Links to the pages before and after one of a list whose total is known. */
export function pager(parts, query, { skip, limit, total }, names = ["Newer", "Older"]) {
  const to = (name, at) => h("a", { href: view(parts, { ...query, skip: String(at) }), class: "step" }, name);
  if (total <= limit && skip === 0) return false;
  const last = Math.min(skip + limit, total);
  return h("p", { class: "pager" },
    skip > 0 && to(names[0], Math.max(0, skip - limit)),
    ` ${(skip + 1).toLocaleString("en")}–${last.toLocaleString("en")} of ${total.toLocaleString("en")} `,
    last < total && to(names[1], last));
}

/** The values of one condition with their numbers, the most frequent first: each narrows a view to it, and `all` widens it again. */
export function facets(parts, query, name, counts, all) {
  const to = (label, value) => [h("a", { href: view(parts, { ...query, [name]: value }), "aria-current": (query[name] ?? "") === value && "true" }, label), " "];
  return h("p", { class: "facets" }, to(all, ""),
    [...counts].sort((a, b) => b[1] - a[1]).map(([value, count]) => to(`${value} ${count.toLocaleString("en")}`, value)));
}

/** The row of a memory in a file. */
export const rowOf = (address, grain) => ({
  time: typeof happened(grain) === "number" ? new Date(happened(grain)).toISOString() : "", type: grain.type ?? "", speaker: speaker(grain) ?? "",
  conversation: grain.session_id ?? "", person: grain.user_id ?? "", namespace: grain.namespace ?? "", content: summary(grain), address,
});

/** Two buttons that save the rows that are shown; a text that a spreadsheet would take for a formula is guarded. */
export function downloads(name, rows) {
  const cell = (value) => {
    const line = String(value ?? "").replace(/\p{Cc}/gu, " ");
    return `"${/^[=+\-@]/.test(line) ? "'" : ""}${line.replaceAll("\"", "\"\"")}"`;
  };
  const csv = (all) => [Object.keys(all[0] ?? {}).join(","), ...all.map((row) => Object.values(row).map(cell).join(","))].join("\r\n");
  return h("p", { class: "actions" },
    h("button", { type: "button", onclick: () => save(`${name}.csv`, csv(rows()), "text/csv") }, "Save as CSV"),
    h("button", { type: "button", onclick: () => save(`${name}.json`, JSON.stringify(rows(), null, 1), "application/json") }, "Save as JSON"));
}
