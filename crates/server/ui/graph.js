// The graph around a subject: what is said of it, and what is said of others that names it.

import { newest, post, short, summary } from "/ui/api.js";
import { drawingWidth, field, h, link, page, show, svg, shown } from "/ui/dom.js";

export async function open({ parts, isCurrent }) {
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
    show("Subjects", form, known.length > 0 && [h("h2", {}, "Subjects of the newest memories"),
      h("ul", { class: "plain many" }, known.map(([value, count]) => h("li", {}, link(short(value, 60), "subject", value), ` (${count})`)))]);
    input.focus();
    return;
  }
  const [of, to] = await Promise.all([
    post("/v1/query", { filter: { type: "belief", subject: name }, limit: 60 }),
    post("/v1/query", { filter: { type: "belief", object: name }, limit: 60 }),
  ]);
  if (!isCurrent()) return;
  const plain = (value) => (typeof value === "string" ? value : JSON.stringify(value));
  const edges = [
    ...of.results.map((one) => ({ other: plain(one.grain.object), relation: one.grain.relation, isOut: true, address: one.content_address })),
    ...to.results.map((one) => ({ other: plain(one.grain.subject), relation: one.grain.relation, isOut: false, address: one.content_address })),
  ];
  const found = [...of.results, ...to.results];
  show(name, form,
    edges.length > 0 && drawn(name, edges.slice(0, 24)),
    edges.length > 24 && h("p", { class: "quiet" }, `The drawing has 24 of ${edges.length}; the list has all of them.`),
    h("h2", {}, "Facts"),
    found.length === 0 ? h("p", { class: "quiet" }, "Nothing is believed about it.") : h("ul", {}, found.map((one) =>
      h("li", {}, link(short(summary(one.grain)), "grain", one.content_address),
        one.grain.confidence !== undefined && ` · confidence ${one.grain.confidence}`))));
}

const HEIGHT = 460;

function drawn(name, edges) {
  const WIDTH = drawingWidth();
  const others = [...new Set(edges.map((edge) => edge.other))];
  const at = new Map(others.map((other, n) => {
    const angle = (2 * Math.PI * n) / others.length - Math.PI / 2;
    return [other, [WIDTH / 2 + (WIDTH / 2 - 60) * Math.cos(angle), HEIGHT / 2 + 175 * Math.sin(angle)]];
  }));
  const node = (label, [x, y], isSelf) => svg("a", { href: page("subject", label), "aria-label": shown(label) },
    svg("circle", { cx: x, cy: y, r: isSelf ? 12 : 8, class: isSelf ? "self" : undefined }),
    // Away from the lines, which meet in the middle.
    svg("text", { x, y: y < HEIGHT / 2 && !isSelf ? y - 14 : y + 26, "text-anchor": "middle" }, short(label, 22)));
  const lines = edges.map((edge) => {
    const [x, y] = at.get(edge.other);
    const [mx, my] = [(x + WIDTH / 2) / 2, (y + HEIGHT / 2) / 2];
    const arrow = edge.isOut ? "→" : "←";
    return [svg("line", { x1: WIDTH / 2, y1: HEIGHT / 2, x2: x, y2: y, class: "edge" }),
      svg("text", { x: mx, y: my, "text-anchor": "middle", class: "edge-name" }, `${short(String(edge.relation), 20)} ${arrow}`)];
  });
  return svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": `Graph around ${shown(name)}` },
    lines, node(name, [WIDTH / 2, HEIGHT / 2], true), others.map((other) => node(other, at.get(other), false)));
}
