// The drawing of a graph: where its nodes are, whose labels fit, and how it is moved with mouse and keys.

import { short } from "/ui/api.js";
import { counted, drawingWidth, h, page, shown, svg } from "/ui/dom.js";

const HEIGHT = 520;

/** More nodes make no picture; the list has all of them. */
const NODES = 40;

const LABEL = 22;

/** Edges between the same two nodes are one, with the names of all. */
function merged(edges) {
  const pairs = new Map();
  for (const { from, to, relation } of edges) {
    if (from === to) continue;
    const [a, b] = [from, to].sort();
    const key = JSON.stringify([a, b]);
    const pair = pairs.get(key) ?? { a, b, facts: new Map() };
    pair.facts.set(`${from} ${relation} ${to}`, { from, to, relation });
    pairs.set(key, pair);
  }
  return [...pairs.values()];
}

/** Places nodes: edges pull, nodes push each other away, and the one in the middle stays there. */
function placed(name, names, pairs, width) {
  const nodes = names.map((label, at) => {
    const angle = (2 * Math.PI * at) / Math.max(1, names.length - 1);
    const reach = label === name ? 0 : 120;
    return { label, x: width / 2 + reach * Math.cos(angle) * 1.4, y: HEIGHT / 2 + reach * Math.sin(angle) };
  });
  const byName = new Map(nodes.map((node) => [node.label, node]));
  const ideal = Math.sqrt((width * HEIGHT) / nodes.length) * 0.75;
  for (let heat = 30; heat > 0.5; heat *= 0.97) {
    for (const node of nodes) [node.dx, node.dy] = [0, 0];
    const push = (a, b, force) => {
      const [dx, dy] = [a.x - b.x || 0.1, a.y - b.y || 0.1];
      const far = Math.hypot(dx, dy);
      const by = force(far) / far;
      a.dx += dx * by; a.dy += dy * by; b.dx -= dx * by; b.dy -= dy * by;
    };
    nodes.forEach((a, at) => nodes.slice(at + 1).forEach((b) => push(a, b, (far) => ideal ** 2 / far)));
    for (const { a, b } of pairs) push(byName.get(a), byName.get(b), (far) => -(far ** 2) / ideal);
    for (const node of nodes) {
      const far = Math.hypot(node.dx, node.dy) || 1;
      node.x = Math.min(width - 50, Math.max(50, node.x + (node.dx / far) * Math.min(far, heat)));
      node.y = Math.min(HEIGHT - 30, Math.max(30, node.y + (node.dy / far) * Math.min(far, heat)));
      if (node.label === name) [node.x, node.y] = [width / 2, HEIGHT / 2];
    }
  }
  return byName;
}

/** Says for each text where it goes without covering another; one that has no room is not shown. */
function room(width) {
  const taken = [];
  return {
    take: (box) => taken.push(box),
    find: (content, places) => {
      const wide = content.length * 6.6 + 6;
      const box = places.map(([x, y]) => [x - wide / 2, y - 12, x + wide / 2, y + 4]).find(([left, top, right, bottom]) =>
        left > 0 && right < width && top > 0 && bottom < HEIGHT
        && taken.every((other) => right < other[0] || left > other[2] || bottom < other[1] || top > other[3]));
      if (!box) return null;
      taken.push(box);
      return [(box[0] + box[2]) / 2, box[3] - 4];
    },
  };
}

/** Draws the graph around a name. */
export function drawing(name, edges) {
  const width = drawingWidth();
  const names = [...new Set([name, ...edges.flatMap(({ from, to }) => [from, to])])].slice(0, NODES);
  const pairs = merged(edges).filter(({ a, b }) => names.includes(a) && names.includes(b));
  const at = placed(name, names, pairs, width);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "group", tabindex: "0", class: "graph", "aria-label": `Graph around ${shown(name)}` });
  const draw = () => {
    const free = room(width);
    for (const { x, y } of at.values()) free.take([x - 10, y - 10, x + 10, y + 10]);
    const nodes = names.map((label) => node(label, at.get(label), label === name, free));
    const lines = pairs.map((pair) => line(pair, at, free));
    picture.replaceChildren(...lines.flat(), ...nodes);
  };
  draw();
  const buttons = moved(picture, at, draw, width);
  return h("div", {}, h("div", { class: "actions" }, buttons), picture,
    h("p", { class: "quiet" }, `${counted(names.length, "node")}${edges.length > pairs.length ? `, ${counted(edges.length, "fact")} on ${counted(pairs.length, "line")}` : ""}. Drag a node or the ground; the wheel zooms with Ctrl.`));
}

function node(label, { x, y }, isSelf, free) {
  const content = short(shown(label), LABEL);
  const place = free.find(content, [[x, y - 14], [x, y + 24], [x + content.length * 3.6 + 14, y + 5], [x - content.length * 3.6 - 14, y + 5]]);
  return svg("a", { href: page("subject", label), "aria-label": shown(label), "data-name": label },
    svg("title", {}, label), svg("circle", { cx: x, cy: y, r: isSelf ? 11 : 8, class: isSelf ? "self" : undefined }),
    place && svg("text", { x: place[0], y: place[1], "text-anchor": "middle" }, content));
}

function line({ facts, ...ends }, at, free) {
  const [a, b] = [at.get(ends.a), at.get(ends.b)];
  const [first, ...rest] = facts.values();
  // The arrow points to where the object is drawn.
  const arrow = at.get(first.to).x < at.get(first.from).x ? "←" : "→";
  const content = `${short(shown(first.relation), LABEL)} ${arrow}${rest.length > 0 ? ` +${rest.length}` : ""}`;
  const along = (part) => [a.x + (b.x - a.x) * part, a.y + (b.y - a.y) * part + 4];
  const place = free.find(content, [along(0.5), along(0.4), along(0.6), along(0.3), along(0.7)]);
  return [svg("line", { x1: a.x, y1: a.y, x2: b.x, y2: b.y, class: rest.length > 0 ? "edge many" : "edge" }, svg("title", {}, [...facts.keys()].join("\n"))),
    place && svg("text", { x: place[0], y: place[1], "text-anchor": "middle", class: "edge-name" }, content)].filter(Boolean);
}

/** Lets the drawing be dragged and zoomed; returns the buttons that do it for those without a mouse. */
function moved(picture, at, draw, width) {
  const whole = [0, 0, width, HEIGHT];
  let box = [...whole];
  const set = (to) => {
    box = to;
    picture.setAttribute("viewBox", box.join(" "));
  };
  const zoom = (by, x = box[0] + box[2] / 2, y = box[1] + box[3] / 2) => {
    const size = Math.min(2, Math.max(0.2, (box[2] * by) / width));
    const part = (size * width) / box[2];
    set([x - (x - box[0]) * part, y - (y - box[1]) * part, size * width, size * HEIGHT]);
  };
  const pan = (x, y) => set([box[0] + x, box[1] + y, box[2], box[3]]);
  const point = (event) => {
    const seen = picture.getBoundingClientRect();
    return [box[0] + ((event.clientX - seen.left) / seen.width) * box[2], box[1] + ((event.clientY - seen.top) / seen.height) * box[3]];
  };
  let held = null;
  picture.addEventListener("pointerdown", (event) => {
    const name = event.target.closest("a")?.getAttribute("data-name");
    held = { node: at.get(name), from: point(event), hasMoved: false };
  });
  picture.addEventListener("pointermove", (event) => {
    if (!held) return;
    const [x, y] = point(event);
    if (!held.hasMoved && Math.hypot(x - held.from[0], y - held.from[1]) < 4) return;
    if (!held.hasMoved) picture.setPointerCapture(event.pointerId);
    held.hasMoved = true;
    if (held.node) {
      [held.node.x, held.node.y] = [x, y];
      draw();
    } else pan(held.from[0] - x, held.from[1] - y);
  });
  for (const name of ["pointerup", "pointercancel"]) {
    picture.addEventListener(name, () => { setTimeout(() => { held = null; }); });
  }
  // The end of a drag is no click.
  picture.addEventListener("click", (event) => { if (held?.hasMoved) event.preventDefault(); }, true);
  picture.addEventListener("dragstart", (event) => event.preventDefault());
  picture.addEventListener("wheel", (event) => {
    // Without Ctrl the wheel scrolls the page.
    if (!event.ctrlKey) return;
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.15 : 0.87, ...point(event));
  }, { passive: false });
  const keys = {
    "+": () => zoom(0.8), "=": () => zoom(0.8), "-": () => zoom(1.25), 0: () => set([...whole]),
    ArrowLeft: () => pan(-40, 0), ArrowRight: () => pan(40, 0), ArrowUp: () => pan(0, -40), ArrowDown: () => pan(0, 40),
  };
  picture.addEventListener("keydown", (event) => {
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
  });
  return [["Larger", "+"], ["Smaller", "-"], ["All of it", 0]].map(([name, key]) => h("button", { type: "button", onclick: () => keys[key]() }, name));
}
