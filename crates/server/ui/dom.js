// Elements are made here and nowhere else. Content of a store enters a page as text alone: no
// markup is parsed, and a link leads to a page of this program.

/** Characters that hide or reorder text are shown by their numbers: those that `render::escaped` shows. */
export function shown(text) {
  return String(text).replace(
    /[\u{0}-\u{8}\u{b}-\u{1f}\u{7f}-\u{9f}\u{ad}\u{34f}\u{61c}\u{115f}-\u{1160}\u{17b4}-\u{17b5}\u{180b}-\u{180f}\u{200b}-\u{200f}\u{2028}-\u{202e}\u{2060}-\u{206f}\u{3164}\u{feff}\u{ffa0}\u{fff0}-\u{fffb}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu,
    (c) => `\\u{${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}}`,
  );
}

const SVG = "http://www.w3.org/2000/svg";

function made(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else element.setAttribute(name, value);
  }
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(shown(child)));
  }
  return element;
}

/** Makes an element. Names and attribute names are constants of this program. */
export function h(name, attributes = {}, ...children) {
  return made(document.createElement(name), attributes, children);
}

export function svg(name, attributes = {}, ...children) {
  return made(document.createElementNS(SVG, name), attributes, children);
}

/** Text of a store, which may be written from right to left. */
export const text = (value) => h("bdi", { dir: "auto" }, value);

/** The address of a page: every part is encoded, so that none is more than a name. */
export const page = (...parts) => `#/${parts.map(encodeURIComponent).join("/")}`;

/** The address of a page with its question; what is empty is left out of it. */
export function view(parts, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value && value !== "0");
  return page(...parts) + (given.length > 0 ? `?${new URLSearchParams(given)}` : "");
}

export const link = (content, ...parts) => h("a", { href: page(...parts) }, text(content));

export const time = (ms) => {
  if (typeof ms !== "number") return "";
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return String(ms);
  const iso = date.toISOString();
  return h("time", { datetime: iso }, iso.replace("T", " ").replace(".000Z", "Z"));
};

/** A time to the minute, for lists. */
export const when = (ms) => {
  const shown = time(ms);
  if (shown instanceof Node) shown.textContent = shown.textContent.slice(0, 16);
  return shown;
};

/** Puts a page in place and moves the focus to its heading, for those who do not see it change. */
export function show(title, ...content) {
  const heading = h("h1", { tabindex: "-1" }, title);
  document.title = `${shown(title)} · grainstore`;
  document.getElementById("main").replaceChildren(heading, ...content.flat(Infinity).filter(Boolean));
  return heading;
}

export function say(message, isBad = false) {
  const status = document.getElementById("status");
  status.classList.toggle("bad", isBad);
  status.textContent = shown(message);
}

/** A table; its caption is for those who do not see the heading above it, unless it says more. */
export function table(caption, heads, rows, isShown = false) {
  return h("div", { class: "scroll", role: "region", "aria-label": caption, tabindex: "0" },
    h("table", {}, h("caption", { class: isShown ? undefined : "unseen" }, caption),
      h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col" }, head)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell) => h("td", {}, cell)))))));
}

/** A number with its noun. */
export const counted = (number, noun, nouns = `${noun}s`) => `${number.toLocaleString("en")} ${number === 1 ? noun : nouns}`;

/** Drawings are narrower on a narrow screen, so that their letters stay as large as the others. */
export const drawingWidth = () => Math.max(300, Math.min(760, document.getElementById("main").clientWidth));

export function field(label, input, wide = false) {
  return h("label", { class: wide ? "wide" : undefined }, label, input);
}

/** Offers a text as a file. */
export function save(name, content, type) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const anchor = h("a", { href: url, download: name });
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Asks before something that cannot be undone; resolves to the fields, or to null. */
export function ask(title, warning, fields, verb) {
  return new Promise((resolve) => {
    const inputs = fields.map(([name, label, value]) =>
      [name, label, h("input", { name, required: true, value, autocomplete: "off" })]);
    let answer = null;
    const form = h("form", {
      onsubmit: (event) => {
        event.preventDefault();
        answer = Object.fromEntries(inputs.map(([name, , input]) => [name, input.value]));
        dialog.close();
      },
    }, inputs.map(([, label, input]) => field(label, input, true)),
    h("button", { type: "submit", class: "bad" }, verb),
    h("button", { type: "button", onclick: () => dialog.close() }, "Cancel"));
    const dialog = h("dialog", { "aria-labelledby": "dialog-title", onclose: () => { dialog.remove(); resolve(answer); } },
      h("h2", { id: "dialog-title" }, title), h("p", {}, warning), form);
    document.body.append(dialog);
    dialog.showModal();
  });
}
