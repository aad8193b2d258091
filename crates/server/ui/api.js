// Requests to /v1 of the same host, with the token of this tab. The token is in no address and is
// forgotten with the tab.

const KEY = "grainstore-token";

export const token = () => sessionStorage.getItem(KEY);
export const keep = (text) => sessionStorage.setItem(KEY, text);
export const forget = () => sessionStorage.removeItem(KEY);

/** An error of the server: its status, code and message. */
export class Refused extends Error {
  constructor(status, body) {
    super(body?.message ?? body?.detail ?? `the server answered with ${status}`);
    this.status = status;
    this.code = body?.code ?? body?.title ?? "";
  }
}

async function send(method, path, body, type, signal) {
  const headers = { authorization: `Bearer ${token()}` };
  if (body !== undefined) headers["content-type"] = type;
  const answer = await fetch(path, { method, headers, body, signal, cache: "no-store", credentials: "omit" });
  if (!answer.ok) {
    let told = null;
    try { told = await answer.json(); } catch { /* The status says enough. */ }
    throw new Refused(answer.status, told);
  }
  return answer;
}

export const get = async (path, signal) => (await send("GET", path, undefined, "", signal)).json();

export const post = async (path, body, signal) =>
  (await send("POST", path, JSON.stringify(body), "application/json", signal)).json();

export const file = async (path, body) =>
  (await send("POST", path, JSON.stringify(body), "application/json")).text();

/** Sends a file and calls `told` with each line of the answer as it comes. */
export async function upload(path, content, told) {
  await lines(await send("POST", path, content, "application/octet-stream"), (line) => told(JSON.parse(line)));
}

/** The gauges of the store, by name without the prefix. */
export async function metrics() {
  const told = await (await send("GET", "/metrics")).text();
  const found = told.matchAll(/^grainstore_(\w+) ([\d.]+)$/gm);
  return Object.fromEntries([...found].map(([, name, value]) => [name, Number(value)]));
}

/** Calls `told` with each event of a stream, until the signal or the server ends it. */
export async function follow(path, told, signal) {
  const answer = await send("GET", path, undefined, "", signal);
  await lines(answer, (line) => {
    if (line.startsWith("data: ")) told(JSON.parse(line.slice(6)));
  });
}

async function lines(answer, told) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let begun = performance.now();
  for (;;) {
    // What has come is read without a pause: the page must be drawn, and may be left, meanwhile.
    if (performance.now() - begun > 12) {
      await new Promise((resolve) => { setTimeout(resolve); });
      begun = performance.now();
    }
    const { done, value } = await reader.read();
    rest += value ?? "";
    const parts = rest.split("\n");
    rest = parts.pop();
    parts.filter(Boolean).forEach(told);
    if (done) return;
  }
}

/** The fields of grains by their addresses; null for one that is not here. */
export async function grains(addresses) {
  if (addresses.length === 0) return [];
  return (await post("/v1/grains/get", { addresses: addresses.slice(0, 500) })).grains;
}

/** The different values that a field has in the newest grains, each with how many of them have it. */
export async function newest(name) {
  const found = await post("/v1/query", { sort: "stored", descending: true, limit: 300 });
  const values = new Map();
  for (const { grain } of found.results) {
    if (typeof grain[name] === "string") values.set(grain[name], (values.get(grain[name]) ?? 0) + 1);
  }
  return [...values];
}

/** A grain in one line. */
export function summary(grain) {
  const plain = (value) => (typeof value === "string" ? value : JSON.stringify(value));
  if (!grain) return "not here";
  if (grain.subject !== undefined && grain.relation !== undefined) {
    return [grain.subject, grain.relation, grain.object].map(plain).join(" ");
  }
  for (const name of ["content", "description", "conclusion", "subject", "tool_name", "name"]) {
    if (grain[name] !== undefined) return plain(grain[name]);
  }
  return `${grain.type ?? "grain"}`;
}

export const short = (line, length = 160) => (line.length > length ? `${line.slice(0, length)}…` : line);
