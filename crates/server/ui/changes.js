// The changes since a time: what was stored, and by whom. A memory that is stored meanwhile appears on top.

import { follow, short, summary } from "/ui/api.js";
import { counted, field, h, page, say, show, text, view, when } from "/ui/dom.js";
import { downloads, facets, rowOf, walkable } from "/ui/listing.js";

/** The newest that are kept on the page. */
const SHOWN = 200;

export async function open({ query, isCurrent, signal }) {
  const since = query.since ?? "yesterday";
  const input = h("input", { value: since, autocomplete: "off", required: true, placeholder: "yesterday, 2 hours ago, 2026-01-15" });
  const form = h("form", {
    onsubmit: (event) => {
      event.preventDefault();
      location.hash = view(["changes"], { since: input.value.trim() });
    },
  }, field("Since", input, true), h("button", { type: "submit" }, "Show"),
  ["today", "yesterday", "last week", "last month"].map((name) => h("a", { href: view(["changes"], { since: name, by: query.by }), class: "step" }, name)));
  const authors = h("div", {});
  const list = walkable(h("ol", { class: "results" }));
  const counts = new Map();
  let kept = [];
  const newest = () => kept.slice(-SHOWN);
  let total = 0;
  let waiting = 0;
  const draw = () => {
    waiting = 0;
    if (!isCurrent()) return;
    authors.replaceChildren(facets(["changes"], { since, by: query.by }, "by", counts, "everyone"));
    list.replaceChildren(...newest().reverse().map((version) => stored(version)));
    if (total === 0) list.replaceChildren(h("li", { class: "quiet" }, "Nothing was stored since then."));
    say(`${counted(total, "memory", "memories")} stored since ${since}${total > SHOWN ? `, the newest ${SHOWN} shown` : ""}`);
  };
  show("What happened", form, authors, list, downloads("changes", () => newest().reverse().map((one) => ({ stored: new Date(one.stored_at).toISOString(), by: author(one), ...rowOf(one.address, one.grain) }))));
  const told = (version) => {
    const by = author(version);
    counts.set(by, (counts.get(by) ?? 0) + 1);
    if (!query.by || query.by === by) {
      total += 1;
      kept.push(version);
      if (kept.length > 2 * SHOWN) kept = newest();
    }
    // The first is shown at once.
    waiting ||= setTimeout(draw, counts.size === 1 && counts.get(by) === 1 ? 0 : 150);
  };
  // The feed does not end: the page is complete without it.
  const feed = follow(`/v1/changes?${new URLSearchParams({ from: since })}`, told, signal);
  const isQuiet = new Promise((resolve) => { setTimeout(resolve, 400); });
  await Promise.race([feed, isQuiet]);
  feed.catch((error) => { if (isCurrent() && error.name !== "AbortError") say(`${error.code ?? ""} ${error.message}`, true); });
  if (total === 0) draw();
}

const author = (version) => version.stored_by || version.grain.author_did || "owner";

function stored(version) {
  const { grain, address } = version;
  return h("li", {}, h("a", { href: page("grain", address), class: "title" }, text(short(summary(grain)))),
    h("p", { class: "quiet" }, when(version.stored_at), ` · ${grain.type ?? "grain"} · by `, text(author(version)),
      typeof grain.user_id === "string" && [" · of ", h("a", { href: page("person", grain.user_id) }, text(short(grain.user_id, 40)))],
      typeof grain.session_id === "string" && [" · in ", h("a", { href: page("thread", grain.session_id) }, text(short(grain.session_id, 40)))],
      version.status?.superseded_by && " · replaced"));
}
