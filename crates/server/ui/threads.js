// Conversations: all of them, the latest first, and one in its order.

import { post, short, summary } from "/ui/api.js";
import { counted, h, link, page, say, show, text, view, when } from "/ui/dom.js";
import { asking, filterOf } from "/ui/filters.js";
import { downloads, happened, pager, rowOf, speaker, walkable } from "/ui/listing.js";

const NAMES = ["user", "namespace", "since", "until"];
const LIMIT = 30;

export async function list({ query, isCurrent }) {
  const skip = Number(query.skip) || 0;
  const filter = filterOf(query);
  const found = await post("/v1/groups", { by: "session_id", filter: { ...filter, type: "event" }, skip, limit: LIMIT });
  if (!isCurrent()) return;
  const rows = found.groups.map(({ value, title, count, grains }) => ({
    conversation: value, title: title ?? opening(grains), messages: count, participants: participants(grains),
    from: happened(grains[0].grain), to: happened(grains.at(-1).grain),
  }));
  show("Conversations", asking(["threads"], NAMES, query), rows.length === 0 ? none(query) : [
    walkable(h("ol", { class: "results" }, rows.map((row) => h("li", {},
      h("a", { href: page("thread", row.conversation), class: "title" }, text(short(row.title, 120))),
      h("p", { class: "quiet" }, when(row.to), ` · ${counted(row.messages, "message")} · `, text(row.participants.join(", "))))))),
    pager(["threads"], query, { skip, limit: LIMIT, total: found.total }),
    downloads("conversations", () => rows.map((row) => ({
      ...row, participants: row.participants.join(", "), from: new Date(row.from).toISOString(), to: new Date(row.to).toISOString(),
    })))]);
  say(`${found.is_cut ? "at least " : ""}${counted(found.total, "conversation")}, the latest first`);
}

function none(query) {
  const isNarrowed = NAMES.some((name) => query[name]);
  return h("p", {}, isNarrowed
    ? ["No conversation passes. ", h("a", { href: page("threads") }, "Show all of them"), "."]
    : ["There are no conversations yet. ", h("a", { href: page("imports") }, "Import one"), ", such as the export of ChatGPT, or connect an agent: ", h("code", {}, "grainstore mcp install"), "."]);
}

/** The title that an import brought, which is in a state beside the messages. */
async function titleOf(session) {
  const states = await post("/v1/query", { filter: { session, type: "state" }, limit: 5 });
  return states.results.map(({ grain }) => grain.context?.title).find((title) => typeof title === "string" && title !== "");
}

/** The first thing that a person says, or else the first thing that is said. */
function opening(grains) {
  const said = grains.find(({ grain }) => grain.role === "user") ?? grains[0];
  return summary(said.grain);
}

const participants = (grains) => [...new Set(grains.map(({ grain }) => speaker(grain)).filter(Boolean))];

export async function open({ parts, isCurrent }) {
  const id = parts[0] ?? "";
  const filter = { session: id };
  const [types, title] = await Promise.all([post("/v1/groups", { by: "type", filter, limit: 20 }), titleOf(id)]);
  if (!isCurrent()) return;
  const total = types.groups.filter((one) => one.value !== "state").reduce((sum, one) => sum + one.count, 0);
  const turns = h("ol", { class: "turns" });
  const more = h("button", { type: "button", hidden: true }, "More");
  const who = h("p", { class: "quiet" });
  let shown = [];
  let cursor = null;
  async function next() {
    const found = await post("/v1/query", { filter, limit: 200, cursor: cursor ?? undefined });
    if (!isCurrent()) return;
    const said = found.results.filter(({ grain }) => grain.type !== "state");
    shown = [...shown, ...said];
    turns.append(...said.map(({ grain, content_address }) => h("li", { class: grain.role === "user" ? "user" : undefined },
      h("p", { class: "quiet" }, text(speaker(grain) ?? grain.type ?? ""), " · ", when(happened(grain)), " · ", link("open", "grain", content_address)),
      h("p", {}, text(summary(grain))))));
    cursor = found.next_cursor;
    more.hidden = !cursor;
    who.replaceChildren(...about(total, shown));
    say(`${counted(shown.length, "message")} of ${total.toLocaleString("en")}`);
  }
  more.addEventListener("click", next);
  show(title ?? `Conversation ${id}`, h("p", {}, h("a", { href: page("threads") }, "All conversations")), who,
    title && h("p", { class: "quiet" }, h("code", {}, text(id))),
    turns, h("p", {}, more),
    total === 0 && h("p", {}, "No message of it is here."),
    downloads("conversation", () => shown.map((one) => rowOf(one.content_address, one.grain))),
    h("p", {}, h("a", { href: view(["search"], { session: id }) }, "Search in this conversation")));
  await next();
}

function about(total, shown) {
  const names = participants(shown);
  if (shown.length === 0) return [];
  return [`${counted(total, "message")} · `, text(names.join(", ")), " · ", when(happened(shown[0].grain)), " to ", when(happened(shown.at(-1).grain))];
}
