// The worker that answers. It keeps garner as WebAssembly, or posts to the
// process that served the page; the page does not see a difference.
//
// The page sends {start: "wasm" | "process"} once, then {id, ask: JSON} and
// {id, open: File}. The worker sends {ready: true} or {broken: words} once, and
// for each id {id, reply: JSON} or {id, failed: words, ended}; ended says that
// garner has ended and this worker is of no more use.
"use strict";

let ended = false;
let answerer = null; // a promise of {ask(text), open(file)}, each a promise of JSON

async function wasm() {
  const made = "go generate ./docs/play makes it";
  const coming = fetch("garner.wasm").catch(() => { throw new Error("garner.wasm: the server does not answer; reload this page"); });
  const [response] = await Promise.all([coming, (async () => {
    try {
      importScripts("wasm_exec.js");
    } catch {
      throw new Error(`wasm_exec.js cannot be loaded; ${made}`);
    }
  })()]);
  if (!response.ok) throw new Error(`garner.wasm: the server answered ${response.status}; ${made}`);
  const go = new Go();
  // Only a response of this type can be compiled while it arrives.
  const typed = (response.headers.get("Content-Type") || "").startsWith("application/wasm");
  const { instance } = typed
    ? await WebAssembly.instantiateStreaming(response, go.importObject)
    : await WebAssembly.instantiate(await response.arrayBuffer(), go.importObject);
  go.run(instance).finally(() => { ended = true; });
  if (typeof self.garnerAsk !== "function") throw new Error("garner.wasm does not offer garnerAsk");
  // garner answers every call with a text. One that throws, or returns none, has
  // ended: out of memory, or by a fault.
  const call = (f, ...values) => {
    try {
      const reply = ended ? undefined : f(...values);
      if (typeof reply === "string") return reply;
      throw new Error("garner has ended; the call may need more memory than this browser gives");
    } catch (error) {
      ended = true;
      throw error;
    }
  };
  return {
    ask: async (text) => call(self.garnerAsk, text),
    open: async (file) => call(self.garnerOpen, new Uint8Array(await file.arrayBuffer()), file.name),
  };
}

async function process() {
  const post = async (path, type, body) => {
    let response;
    try {
      response = await fetch(path, { method: "POST", headers: { "Content-Type": type }, body });
    } catch {
      throw new Error("garner play does not answer; start it again and reload this page");
    }
    const text = await response.text();
    if (!response.ok) throw new Error(text.trim() || `garner play answered ${response.status}`);
    return text;
  };
  return {
    ask: (text) => post("ask", "application/json", text),
    open: (file) => post("open?name=" + encodeURIComponent(file.name), "application/octet-stream", file),
  };
}

self.onmessage = async ({ data: message }) => {
  if (message.start) {
    answerer = message.start === "process" ? process() : wasm();
    try {
      await answerer;
      self.postMessage({ ready: true });
    } catch (error) {
      self.postMessage({ broken: String(error.message || error) });
    }
    return;
  }
  try {
    const to = await answerer;
    const reply = await ("open" in message ? to.open(message.open) : to.ask(message.ask));
    self.postMessage({ id: message.id, reply });
  } catch (error) {
    self.postMessage({ id: message.id, failed: String(error.message || error), ended });
  }
};
