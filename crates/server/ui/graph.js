// The graph around a subject, its facts, and how each came to be what it is.

import { newest, post, short, summary } from "/ui/api.js";
import { counted, field, h, link, page, say, show, text, view, when } from "/ui/dom.js";
import { drawing } from "/ui/drawing.js";
import { downloads, rowOf } from "/ui/listing.js";

const LIMIT = 60;

/** The subjects around one whose own facts are asked for. */
const NEIGHBOURS = 12;

const plain = (value) => (typeof value === "string" ? value : JSON.stringify(value));

export async function open({ parts, query, isCurrent }) {
  const name = parts[0] ?? "";
  const input = h("input", { value: name, autocomplete: "off", required: true });
  const form = h("form", {
    onsubmit: (event) => {
      event.preventDefault();
      location.hash = page("subject", input.value.trim());
    },
  }, field("Subject", input, true), h("button", { type: "submit" }, "Show"));
  if (!name) {
    const known = await newest("subject");
    if (!isCurrent()) return;
    show("Subjects", form, known.length === 0 ? h("p", {}, "No fact is stored yet: ", h("code", {}, "grainstore remember \"Ana lives in Porto\""), " stores one.") : [
      h("h2", {}, "Subjects of the newest memories"),
      h("ul", { class: "plain many" }, known.map(([value, count]) => h("li", {}, link(short(value, 60), "subject", value), ` (${count})`)))]);
    input.focus();
    return;
  }
  const [of, to, all] = await Promise.all([facts({ subject: name }), facts({ object: name }),
    facts({ subject: name, superseded: true }, { sort: "created_at" })]);
  const found = [...of.results, ...to.results];
  const isFar = query.hops === "2";
  const further = isFar ? await around(name, found) : [];
  if (!isCurrent()) return;
  const edges = [...found, ...further].map(({ grain }) => ({ from: plain(grain.subject), to: plain(grain.object), relation: plain(grain.relation) }));
  const total = (of.total ?? 0) + (to.total ?? 0);
  show(name, form,
    h("p", { class: "facets" }, [["One hop", ""], ["Two hops", "2"]].map(([label, hops]) => [
      h("a", { href: view(["subject", name], { hops }), "aria-current": (hops === "2") === isFar && "true" }, label), " "]),
    h("a", { href: page("person", name) }, "As a person")),
    edges.length > 0 && drawing(name, edges),
    h("h2", {}, "Facts"),
    found.length === 0 ? h("p", { class: "quiet" }, "Nothing is believed about it.") : h("ul", {}, found.map((one) =>
      h("li", {}, link(short(summary(one.grain)), "grain", one.content_address),
        one.grain.confidence !== undefined && ` · confidence ${one.grain.confidence}`))),
    over(all.results),
    downloads("facts", () => found.map((one) => rowOf(one.content_address, one.grain))));
  say(`${counted(found.length, "fact")}${total > found.length ? " of more" : ""}`);
}

const facts = (filter, more) => post("/v1/query", { filter: { type: "belief", ...filter }, limit: LIMIT, ...more });

/** The facts of the neighbours. */
async function around(name, found) {
  const names = [...new Set(found.flatMap(({ grain }) => [plain(grain.subject), plain(grain.object)]))].filter((one) => one !== name);
  const asked = names.slice(0, NEIGHBOURS).map((subject) => post("/v1/query", { filter: { type: "belief", subject }, limit: 8 }));
  return (await Promise.all(asked)).flatMap((one) => one.results);
}

/** The relations in which something was replaced or ended, with their objects in the order of time. */
function over(results) {
  const relations = new Map();
  for (const one of results) {
    const relation = plain(one.grain.relation);
    relations.set(relation, [...(relations.get(relation) ?? []), one]);
  }
  const changed = [...relations].filter(([, all]) => all.length > 1 && all.some((one) => one.superseded_by || one.grain.valid_to));
  if (changed.length === 0) return false;
  const since = ({ grain }) => grain.valid_from ?? grain.created_at;
  return [h("h2", {}, "Over time"), changed.map(([relation, all]) => h("details", { open: changed.length < 4 },
    h("summary", {}, text(relation)),
    h("ol", { class: "versions" }, [...all].sort((a, b) => since(a) - since(b)).map((one) => h("li", { class: one.superseded_by ? undefined : "current" },
      h("p", {}, link(short(plain(one.grain.object), 80), "grain", one.content_address)),
      h("p", { class: "quiet" }, "since ", when(since(one)), one.grain.valid_to && [" to ", when(one.grain.valid_to)],
        one.superseded_by && [", ", link("replaced", "grain", one.superseded_by)]))))))];
}
