// Conversations: the sessions of the newest events, and one session in its order.

import { post, short, summary } from "/ui/api.js";
import { counted, h, link, say, show, text, time } from "/ui/dom.js";

export async function list({ isCurrent }) {
  const sessions = new Map();
  let cursor = null;
  const items = h("ul", { class: "plain results" });
  const more = h("button", { type: "button" }, "Older");
  async function next() {
    const found = await post("/v1/query", { filter: { type: "event" }, sort: "stored", descending: true, limit: 500, cursor: cursor ?? undefined });
    if (!isCurrent()) return;
    for (const { grain } of found.results) {
      if (typeof grain.session_id !== "string") continue;
      const known = sessions.get(grain.session_id) ?? { count: 0, newest: grain };
      known.count += 1;
      sessions.set(grain.session_id, known);
    }
    cursor = found.next_cursor;
    more.hidden = !cursor;
    items.replaceChildren(...[...sessions].map(([id, { count, newest }]) => h("li", {},
      link(short(id, 80), "thread", id),
      h("p", { class: "quiet" }, `${counted(count, "message")}${cursor ? " or more" : ""} · `, time(newest.created_at), " · ", text(short(summary(newest), 100))))));
    say(counted(sessions.size, "conversation"));
  }
  more.addEventListener("click", next);
  show("Conversations", items, h("p", {}, more));
  await next();
}

export async function open({ parts, isCurrent }) {
  const id = parts[0] ?? "";
  const turns = h("ol", { class: "turns" });
  const more = h("button", { type: "button", hidden: true }, "More");
  let cursor = null;
  async function next() {
    const found = await post("/v1/query", { filter: { session: id }, limit: 200, cursor: cursor ?? undefined });
    if (!isCurrent()) return;
    turns.append(...found.results.map(({ grain, content_address }) => h("li", { class: grain.role === "user" ? "user" : undefined },
      h("p", { class: "quiet" }, text(grain.role ?? grain.type ?? ""), " · ", time(grain.created_at), " · ", link("open", "grain", content_address)),
      h("p", {}, text(summary(grain))))));
    cursor = found.next_cursor;
    more.hidden = !cursor;
    say(counted(found.total, "message"));
  }
  more.addEventListener("click", next);
  show(`Conversation ${id}`, h("p", {}, h("a", { href: "#/threads" }, "All conversations")), turns, h("p", {}, more));
  await next();
}
