// The keys of the inspector, and the palette of its pages and of what is looked for.

import { token } from "/ui/api.js";
import { field, h, page, view } from "/ui/dom.js";

/** Each key, what it does, and how; a key of two letters is one after the other. */
const KEYS = [
  ["/", "Search", () => {
    const input = document.getElementById("q");
    if (input) input.focus();
    else location.hash = "#/search";
  }],
  ["k", "Go to a page, a person, a subject or a search (also Ctrl+K)", () => palette()],
  ["?", "Show the keys", () => help()],
  ["g o", "Overview", "overview"], ["g s", "Search", "search"], ["g c", "Conversations", "threads"],
  ["g p", "Persons", "person"], ["g u", "Subjects", "subject"], ["g h", "Changes", "changes"],
  ["g g", "Growth", "growth"], ["g i", "Imports", "imports"], ["g a", "Audit log", "audit"],
];

const OTHERS = [
  ["↓ ↑", "Next and previous entry of a list"], ["Enter", "Open the entry"],
  ["u", "Back to where you came from"],
  ["+ − 0 ← → ↑ ↓", "In the drawing of a subject: larger, smaller, all of it, move"],
];

let before = "";

export function listen() {
  document.getElementById("keys").addEventListener("click", help);
  addEventListener("keydown", (event) => {
    if (!token() || document.querySelector("dialog[open]")) return;
    if (event.key === "k" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      palette();
      return;
    }
    const isTyping = event.target.closest?.("input, textarea, select");
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    const pressed = before === "g" ? `g ${event.key}` : event.key;
    before = pressed;
    if (event.key === "u") {
      history.back();
      return;
    }
    const found = KEYS.find(([key]) => key === pressed);
    if (!found) return;
    before = "";
    event.preventDefault();
    if (typeof found[2] === "string") location.hash = page(found[2]);
    else found[2]();
  });
}

function open(title, ...content) {
  const back = document.activeElement;
  const dialog = h("dialog", { "aria-labelledby": "keys-title", onclose: () => { dialog.remove(); if (back?.isConnected) back.focus(); } },
    h("h2", { id: "keys-title" }, title), content);
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

function help() {
  const rows = [...KEYS, ...OTHERS].map(([key, does]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, does)]);
  const dialog = open("Keys", h("dl", { class: "keys" }, rows),
    h("button", { type: "button", onclick: () => dialog.close() }, "Close"));
}

/** The places that a text may mean: pages whose name has it, and what can be asked about it. */
function places(typed) {
  const text = typed.trim();
  const pages = KEYS.filter(([, name, where]) => typeof where === "string" && name.toLowerCase().includes(text.toLowerCase()))
    .map(([, name, where]) => [name, page(where)]);
  if (!text) return pages;
  const address = /^[0-9a-f]{64}$/.test(text) ? [[`Memory ${text.slice(0, 12)}…`, page("grain", text)]] : [];
  return [...address, ...pages,
    [`Search “${text}”`, view(["search"], { q: text })], [`Person ${text}`, page("person", text)],
    [`Subject ${text}`, page("subject", text)], [`Conversation ${text}`, page("thread", text)]];
}

function palette() {
  const input = h("input", { type: "text", autocomplete: "off", spellcheck: "false", role: "combobox", "aria-expanded": "true", "aria-controls": "places" });
  const list = h("ul", { class: "plain places", id: "places", role: "listbox", "aria-label": "Places" });
  let found = [];
  let chosen = 0;
  const draw = () => {
    chosen = Math.max(0, Math.min(chosen, found.length - 1));
    list.replaceChildren(...found.map(([name, where], at) => h("li", {
      role: "option", id: `place-${at}`, "aria-selected": String(at === chosen), onclick: () => go(where),
    }, name)));
    input.setAttribute("aria-activedescendant", `place-${chosen}`);
  };
  const go = (where) => {
    dialog.close();
    if (where) location.hash = where;
  };
  input.addEventListener("input", () => {
    chosen = 0;
    found = places(input.value);
    draw();
  });
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      chosen += step;
      draw();
    }
  });
  const form = h("form", { onsubmit: (event) => { event.preventDefault(); go(found[chosen]?.[1]); } },
    field("A page, a person, a subject, a conversation, an address or words", input, true));
  const dialog = open("Go to", form, list);
  found = places("");
  draw();
  input.focus();
}
