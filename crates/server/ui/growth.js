// Charts of growth: grains by day, by type and by namespace.

import { post } from "/ui/api.js";
import { counted, drawingWidth, h, say, show, svg, table, text } from "/ui/dom.js";
import { asking, filterOf } from "/ui/filters.js";
import { downloads } from "/ui/listing.js";


const NAMES = ["type", "user", "namespace", "since", "until"];

export async function open({ query, isCurrent }) {
  const found = await post("/v1/growth", { filter: filterOf(query) });
  if (!isCurrent()) return;
  show("Growth", asking(["growth"], NAMES, query), found.days.length === 0 ? h("p", {}, "There are no memories to count. ", h("a", { href: "#/imports" }, "Import a file"), ".") : [
    chart(found.days, "type", "Grains by type"), chart(found.days, "namespace", "Grains by namespace"),
    downloads("growth", () => found.days.map((one) => ({ ...one, day: day(one.day) })))]);
  say(`${counted(found.counted, "grain")}${found.is_cut ? ", the newest ones" : ""}`);
}

const DAY = 86_400_000;
const HEIGHT = 200;

const day = (ms) => new Date(ms).toISOString().slice(0, 10);

/** The bars with their key; a bare chart has neither heading nor table. */
export function chart(rows, by, title, isBare = false) {
  if (rows.length === 0) return [h("p", { class: "quiet" }, "None in this time.")];
  const totals = new Map();
  for (const row of rows) totals.set(row[by], (totals.get(row[by]) ?? 0) + row.count);
  // The most frequent have a colour of their own.
  const ranked = [...totals].sort((a, b) => b[1] - a[1]);
  const colour = new Map(ranked.map(([name], at) => [name, Math.min(at, 5) + 1]));
  const days = [...new Set(rows.map((row) => row.day))].sort((a, b) => a - b);
  const first = days[0];
  const span = Math.round((days.at(-1) - first) / DAY) + 1;
  // A long time is drawn in as many steps as fit.
  const step = Math.ceil(span / 120);
  const bins = new Map();
  for (const row of rows) {
    const bin = Math.floor((row.day - first) / DAY / step);
    const stack = bins.get(bin) ?? new Map();
    stack.set(row[by], (stack.get(row[by]) ?? 0) + row.count);
    bins.set(bin, stack);
  }
  const highest = Math.max(...[...bins.values()].map((stack) => [...stack.values()].reduce((a, b) => a + b)));
  const WIDTH = Math.min(drawingWidth(), isBare ? 520 : 760);
  const width = Math.min(WIDTH / Math.ceil(span / step), 60);
  const bars = [...bins].flatMap(([bin, stack]) => {
    let base = HEIGHT;
    return ranked.filter(([name]) => stack.has(name)).map(([name]) => {
      const height = (stack.get(name) / highest) * (HEIGHT - 30);
      base -= height;
      return svg("rect", { x: bin * width, y: base, width: Math.max(width - 1, 1), height, class: `bar-${colour.get(name)}` });
    });
  });
  const key = (name) => svg("svg", { viewBox: "0 0 10 10", "aria-hidden": "true" }, svg("rect", { width: 10, height: 10, class: `bar-${colour.get(name)}` }));
  const label = (name) => (name === "" ? "none" : name);
  return [
    !isBare && h("h2", {}, title),
    svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT + 20}`, role: "img", "aria-label": `${title}, ${day(first)} to ${day(days.at(-1))}${isBare ? "" : "; the table below has the numbers"}` },
      svg("line", { x1: 0, y1: 30, x2: WIDTH, y2: 30, class: "rule" }),
      svg("text", { x: 4, y: 22 }, `${counted(highest, "grain")} ${step === 1 ? "a day" : `in ${step} days`}`),
      bars, svg("text", { x: 4, y: HEIGHT + 15 }, day(first)),
      days.length > 1 && svg("text", { x: WIDTH - 4, y: HEIGHT + 15, "text-anchor": "end" }, day(days.at(-1)))),
    h("ul", { class: "key" }, ranked.slice(0, 6).map(([name]) => h("li", {}, key(name), text(label(name))))),
    !isBare && table(title, [by === "type" ? "Type" : "Namespace", "Grains"], ranked.map(([name, count]) => [text(label(name)), String(count)])),
  ].filter(Boolean);
}
