// The overview: what is in the store, how it grows, what is new, what waits, and its health.

import { get, metrics, post } from "/ui/api.js";
import { counted, h, page, say, show, table, view } from "/ui/dom.js";
import { chart } from "/ui/growth.js";
import { item, walkable } from "/ui/listing.js";

const DAYS = 30;

export async function open({ rights, isCurrent }) {
  const may = (name) => rights.operations.includes(name);
  const isWhole = may("admin") && !rights.user && rights.namespaces.length === 0;
  const groups = (by, filter = {}, limit = 1) => post("/v1/groups", { by, filter, limit });
  const since = new Date(Date.now() - DAYS * 86_400_000).toISOString().slice(0, 10);
  const [types, persons, talks, newest, gauges, unsettled] = await Promise.all([
    groups("type", {}, 20), groups("user_id"), groups("session_id", { type: "event" }),
    post("/v1/query", { sort: "stored", descending: true, limit: 8 }), isWhole ? metrics() : null, isWhole ? get("/v1/conflicts") : null,
  ]);
  if (!isCurrent()) return;
  const total = types.groups.reduce((sum, one) => sum + one.count, 0);
  if (total === 0) {
    show("Overview", ...empty(may, isWhole));
    return;
  }
  const growth = h("div", {}, h("p", { class: "quiet" }, "Counting…"));
  const mark = types.is_cut ? "at least " : "";
  const tile = (number, name, where) => h("a", { class: "tile", href: where }, h("strong", {}, number.toLocaleString("en")), ` ${name}`);
  show("Overview",
    h("div", { class: "tiles" }, tile(total, total === 1 ? "memory" : "memories", page("search")),
      tile(talks.total, talks.total === 1 ? "conversation" : "conversations", page("threads")),
      tile(persons.total, persons.total === 1 ? "person" : "persons", page("person")),
      gauges && tile(gauges.grains - gauges.grains_current, "replaced", view(["search"], { old: "1" }))),
    h("div", { class: "pair wide" },
      h("div", {}, part("What is in it", shares(types.groups, total)), isWhole && part("Waiting", waiting(gauges, unsettled.conflicts.length))),
      h("div", {}, part(`Growth of ${DAYS} days`, growth), isWhole && part("Health", health(gauges)))),
    h("h2", {}, "Newest"),
    walkable(h("ol", { class: "results" }, newest.results.map((one) => item(one.content_address, one.grain)))),
    h("p", {}, h("a", { href: page("changes") }, "What happened since yesterday")));
  say(`${mark}${counted(total, "memory", "memories")}`);
  const grown = await post("/v1/growth", { filter: { since } });
  if (isCurrent()) growth.replaceChildren(...drawn(grown));
}

const part = (title, ...content) => [h("h2", {}, title), content];

function drawn(grown) {
  const parts = chart(grown.days, "type", `Memories of the last ${DAYS} days`, true);
  return [...parts, h("p", {}, h("a", { href: page("growth") }, "All of the growth"))];
}

/** How much of each type there is, as bars with their numbers. */
function shares(groups, total) {
  const sorted = [...groups].sort((a, b) => b.count - a.count);
  return h("ul", { class: "shares" }, sorted.map(({ value, count }) => h("li", {},
    h("a", { href: view(["search"], { type: value }) }, value),
    h("meter", { min: "0", max: String(total), value: String(count), "aria-label": `${value}: ${count} of ${total}` }),
    h("span", {}, count.toLocaleString("en")))));
}

function waiting(gauges, conflicts) {
  const rows = [
    [gauges.reviews_open, "reviews to decide", "grainstore policy review list", null],
    [conflicts, "conflicts of imports to settle", null, page("imports")],
    [gauges.erasures_due, "erasures due", "grainstore consent due", null],
    [gauges.embeddings_waiting, "memories without a vector yet", null, null],
  ].filter(([count]) => count > 0);
  if (rows.length === 0) return h("p", { class: "good" }, "Nothing waits for a decision.");
  return h("ul", {}, rows.map(([count, name, command, where]) => h("li", {},
    where ? h("a", { href: where }, `${count} ${name}`) : `${count} ${name}`,
    command && [": ", h("code", {}, command)])));
}

const mib = (bytes) => (bytes < 1 << 20 ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / (1 << 20)).toFixed(1)} MiB`);

function health(gauges) {
  const bad = (line) => h("span", { class: "bad" }, line);
  const rows = [
    ["Ledger", `${mib(gauges.ledger_bytes)}, ${counted(gauges.entries, "entry", "entries")}`],
    ["Index", mib(gauges.index_bytes)],
    ["Search by words", gauges.text_unavailable ? bad("not available: grainstore check --repair") : "available"],
    gauges.last_backup_timestamp_seconds !== undefined && ["Last backup", age(gauges.last_backup_timestamp_seconds)],
    gauges.disk_free_bytes !== undefined && ["Free on the disk", mib(gauges.disk_free_bytes)],
  ].filter(Boolean);
  return [table("Health", ["Part", "State"], rows),
    h("p", { class: "quiet" }, "Damage and the age of a backup: ", h("code", {}, "grainstore doctor --backup DIR"), ".")];
}

const age = (seconds) => (seconds ? new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ") : h("span", { class: "bad" }, "never"));

function empty(may, isWhole) {
  return [h("p", {}, "There is nothing here yet", !isWhole && " that this token reaches", ". Three ways to begin:"),
    h("ul", {},
      h("li", {}, may("import") ? h("a", { href: page("imports") }, "Import a file") : "Import a file",
        ", such as the export of ChatGPT, Claude or Gemini."),
      h("li", {}, "Connect an agent: ", h("code", {}, "grainstore mcp install"), "."),
      h("li", {}, "Store a first memory: ", h("code", {}, "grainstore remember \"Ana lives in Porto\""), "."))];
}
