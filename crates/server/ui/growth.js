// Charts of growth: grains by day, by type and by namespace.

import { post } from "/ui/api.js";
import { counted, drawingWidth, field, h, say, show, svg, table, text } from "/ui/dom.js";

export async function open({ rights, isCurrent }) {
  const names = rights.namespaces;
  const namespace = names.length > 1
    ? h("select", {}, names.map((name) => h("option", { value: name }, name)))
    : h("input", { autocomplete: "off" });
  const place = h("div", {});
  async function load() {
    const found = await post("/v1/growth", { filter: namespace.value ? { namespace: namespace.value } : {} });
    if (!isCurrent()) return;
    place.replaceChildren(...[["type", "Grains by type"], ["namespace", "Grains by namespace"]].flatMap(([by, title]) => chart(found.days, by, title)));
    say(`${counted(found.counted, "grain")}${found.is_cut ? ", the newest ones" : ""}`);
  }
  show("Growth", h("form", {
    onsubmit: (event) => {
      event.preventDefault();
      load();
    },
  }, field("Namespace", namespace), h("button", { type: "submit" }, "Show")), place);
  await load();
}

const DAY = 86_400_000;
const HEIGHT = 200;

function chart(rows, by, title) {
  if (rows.length === 0) return [h("h2", {}, title), h("p", { class: "quiet" }, "There are no grains.")];
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
  const WIDTH = drawingWidth();
  const width = Math.min(WIDTH / Math.ceil(span / step), 60);
  const bars = [...bins].flatMap(([bin, stack]) => {
    let base = HEIGHT;
    return ranked.filter(([name]) => stack.has(name)).map(([name]) => {
      const height = (stack.get(name) / highest) * (HEIGHT - 30);
      base -= height;
      return svg("rect", { x: bin * width, y: base, width: Math.max(width - 1, 1), height, class: `bar-${colour.get(name)}` });
    });
  });
  const day = (ms) => new Date(ms).toISOString().slice(0, 10);
  const key = (name) => svg("svg", { viewBox: "0 0 10 10", "aria-hidden": "true" }, svg("rect", { width: 10, height: 10, class: `bar-${colour.get(name)}` }));
  const label = (name) => (name === "" ? "none" : name);
  return [
    h("h2", {}, title),
    svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT + 20}`, role: "img", "aria-label": `${title}, ${day(first)} to ${day(days.at(-1))}; the table below has the numbers` },
      svg("line", { x1: 0, y1: 30, x2: WIDTH, y2: 30, class: "rule" }),
      svg("text", { x: 4, y: 22 }, `${counted(highest, "grain")} ${step === 1 ? "a day" : `in ${step} days`}`),
      bars, svg("text", { x: 4, y: HEIGHT + 15 }, day(first)),
      days.length > 1 && svg("text", { x: WIDTH - 4, y: HEIGHT + 15, "text-anchor": "end" }, day(days.at(-1)))),
    h("ul", { class: "key" }, ranked.slice(0, 6).map(([name]) => h("li", {}, key(name), text(label(name))))),
    table(title, [by === "type" ? "Type" : "Namespace", "Grains"], ranked.map(([name, count]) => [text(label(name)), String(count)])),
  ];
}
