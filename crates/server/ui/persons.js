// Persons: all whose memories are here, those of the latest first.

import { post, short } from "/ui/api.js";
import { counted, field, h, page, say, show, text, when } from "/ui/dom.js";
import { downloads, happened, pager, walkable } from "/ui/listing.js";

const LIMIT = 60;

export async function open({ query, rights, isCurrent }) {
  const skip = Number(query.skip) || 0;
  const found = await post("/v1/groups", { by: "user_id", skip, limit: LIMIT });
  if (!isCurrent()) return;
  const rows = found.groups.map(({ value, count, grains }) => ({ person: value, memories: count, latest: happened(grains.at(-1).grain) }));
  show("Persons", chooser(""), rows.length === 0 ? none() : [
    walkable(h("ul", { class: "plain many" }, rows.map((row) => h("li", {},
      h("a", { href: page("person", row.person), class: "title" }, text(short(row.person, 60))),
      h("span", { class: "quiet" }, ` ${row.memories.toLocaleString("en")} · `, when(row.latest)))))),
    pager(["persons"], query, { skip, limit: LIMIT, total: found.total }),
    downloads("persons", () => rows.map((row) => ({ ...row, latest: new Date(row.latest).toISOString() })))]);
  say(`${found.is_cut ? "at least " : ""}${counted(found.total, "person", "persons")}${rights.user ? ", all that this token reaches" : ""}`);
}

function none() {
  return h("p", {}, "No memory names a person yet. A memory is of the person in its ", h("code", {}, "user_id"), ": an import sets it, and ",
    h("code", {}, "grainstore remember --user NAME"), " does.");
}

/** The field that opens the page of a person. */
export function chooser(user) {
  const input = h("input", { value: user, autocomplete: "off", required: true });
  return h("form", {
    onsubmit: (event) => {
      event.preventDefault();
      const to = page("person", input.value.trim());
      if (location.hash === to) dispatchEvent(new HashChangeEvent("hashchange"));
      else location.hash = to;
    },
  }, field("Person (user_id)", input, true), h("button", { type: "submit" }, "Show"));
}
