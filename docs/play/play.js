// The page: a call as it is typed, and the answers that a worker gives.
// All text of the user, of a link, of a file and of garner goes into the
// document as text nodes; no string is ever read as HTML.

const typing = 150; // milliseconds without a key before a call is asked
const slow = 1000; // milliseconds for an answer, before the page says that it waits
const patience = 30000; // milliseconds for an answer, before the worker is started anew
let largestFile = Infinity; // bytes, as garner tells
const longestLink = 30000; // characters of a fragment that this page writes
const longestRead = 2 * longestLink; // and of one that it reads: others may encode more
const process = document.querySelector("meta[name=garner]").content === "process";

const at = (id) => document.getElementById(id);

// element makes an element of attributes and children; a string becomes a text node.
function element(name, attributes = {}, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === undefined || value === null) continue;
    e.setAttribute(key, value === true ? "" : String(value));
  }
  e.append(...children.filter((c) => c !== null && c !== undefined));
  return e;
}

function say(e, text) {
  if (e.textContent !== text) e.textContent = text;
  e.hidden = text === "";
}

// ---------------------------------------------------------------- the worker

// A Garner is a worker that answers, and what was asked of it. lost is called with
// words when it cannot be loaded.
class Garner {
  #asked = new Map(); // by number: {resolve, reject, timer, message}
  #number = 0;
  #worker = null;
  #ready = false; // whether this worker has loaded garner; one that cannot is not started again
  #lost;

  constructor(lost) {
    this.#lost = lost;
    this.#start();
  }

  #start() {
    this.#ready = false;
    const worker = this.#worker = new Worker("worker.js");
    worker.onmessage = ({ data: message }) => {
      if (worker !== this.#worker) return;
      if (message.broken !== undefined) return this.fail(message.broken);
      if (message.ready) this.#ready = true;
      const waiting = this.#asked.get(message.id);
      if (!waiting) return;
      this.#asked.delete(message.id);
      clearTimeout(waiting.timer);
      if (message.failed !== undefined) {
        waiting.reject(new Error(message.failed));
        if (message.ended && this.#ready) this.#restart();
        return;
      }
      try {
        waiting.resolve(JSON.parse(message.reply));
      } catch {
        waiting.reject(new Error("the answer is not JSON"));
      }
    };
    worker.onerror = (event) => {
      if (worker === this.#worker) this.fail(event.message || "the worker could not be loaded");
    };
    worker.postMessage({ start: process ? "process" : "wasm" });
  }

  // #restart puts a new worker in the place of one that has ended or takes too long.
  // Requests that it has not answered go to the new one; that which ended it is no
  // longer among them.
  #restart() {
    this.#worker.terminate();
    this.#start();
    for (const waiting of this.#asked.values()) this.#worker.postMessage(waiting.message);
  }

  // fail rejects what waits: this garner is lost.
  fail(words) {
    this.#lost(words);
    for (const waiting of this.#asked.values()) {
      clearTimeout(waiting.timer);
      waiting.reject(new Error(words));
    }
    this.#asked.clear();
  }

  // end stops the worker, whatever it does. What it was asked is never answered.
  end() {
    this.#worker.terminate();
    for (const waiting of this.#asked.values()) clearTimeout(waiting.timer);
    this.#asked.clear();
  }

  // send asks, and waits for limit milliseconds, or for ever where it is 0.
  send(message, limit) {
    const id = ++this.#number;
    return new Promise((resolve, reject) => {
      const timer = limit && setTimeout(() => {
        this.#asked.delete(id);
        reject(new Error(`no answer within ${limit / 1000} s; ask again, or ask for less`));
        this.#restart();
      }, limit);
      this.#asked.set(id, { resolve, reject, timer, message: { id, ...message } });
      this.#worker.postMessage({ id, ...message });
    });
  }
}

let garner = null; // answers all but files
let lost = ""; // why it does not

function broken(words) {
  lost = words;
  busy(false);
  at("status").textContent = "garner could not be loaded: " + words;
  at("status").classList.add("complaint");
}

const ask = (request) => garner.send({ ask: JSON.stringify(request) }, patience);

// latest gives a function that asks with one request under way at most: while it
// is, only the newest of the others waits. Its answer goes to show; an answer
// that a newer request has overtaken is dropped.
function latest(show, fail) {
  let newest = 0, running = false, next = null;
  return async function request(make) {
    const own = ++newest;
    if (running) {
      next = make;
      return;
    }
    running = true;
    try {
      const reply = await make();
      if (own === newest) show(reply);
    } catch (error) {
      if (own === newest) fail(error.message);
    } finally {
      running = false;
      if (next) {
        const waiting = next;
        next = null;
        newest--; // request counts it again
        request(waiting);
      }
    }
  };
}

// ----------------------------------------------------------------- the state

const texts = ["data", "data_dtype", "indices", "indices_dtype", "axis", "batch_dims"];
const languages = ["python", "go", "garner"];
const forms = new Map([
  ["gather", ["Slices", "Each index takes a slice of data, as Gather and take do."]],
  ["gathernd", ["Tuples", "Each tuple of indices takes one slice or element, as GatherND does."]],
  ["elements", ["Elements", "Each index takes one element, as GatherElements and take_along_axis do."]],
  ["bag", ["Bags", "The slices of each bag are reduced to one, as embedding_bag does."]],
  ["stored", ["Quantised", "The numbers of quantised data are what is taken."]],
  ["window", ["Windows", "Each index takes a window of a size of its own, as the gather of StableHLO does."]],
]);
const integer = /^[-+]?[0-9]{1,15}$/;

const empty = () => ({
  data: "", data_dtype: "", indices: "", indices_dtype: "", axis: "", batch_dims: "",
  operands: new Map(), // by operand: the text of a literal
  attributes: new Map(), // by operator, or "*": a Map by attribute of JSON values; an empty one asks the operator
  form: "", // of the operators that are shown; "": all
  operator: "", language: "python", picture: false,
});

let state = empty();
let operators = []; // as garner tells them
let answers = new Map(); // by operator: its group and its entry in it

// readable is encodeURIComponent without what a fragment may hold as it is.
// Brackets of calls would end a link in Markdown: ( and ) are encoded.
const readable = (text) => encodeURIComponent(text)
  .replace(/%(5B|5D|2C|3A|2F)/g, (code) => decodeURIComponent(code))
  .replace(/[()'*!]/g, (c) => "%" + c.charCodeAt(0).toString(16).toUpperCase());

// An empty fragment stands for one that is too long: large texts are not encoded to no end.
function fragment(s) {
  const parts = [];
  let length = 0;
  for (const text of [...texts.map((key) => s[key]), ...s.operands.values()]) length += text.length;
  if (length > longestLink) return "";
  const add = (key, value) => parts.push(readable(key) + "=" + readable(value));
  for (const key of texts) if (s[key] !== "") add(key, s[key]);
  for (const [name, text] of s.operands) add("operand:" + name, text);
  for (const [operator, values] of s.attributes) {
    if (values.size === 0) add("ask:" + operator, "1");
    for (const [name, value] of values) add(`attribute:${operator}:${name}`, JSON.stringify(value));
  }
  if (s.form) add("form", s.form);
  if (s.operator) add("operator", s.operator);
  if (s.operator && s.language !== "python") add("language", s.language);
  if (s.operator && s.picture) add("picture", "1");
  const text = parts.join("&");
  return text.length > longestLink ? "" : text;
}

// simple reports whether a JSON value can be an attribute's: an integer must be one that
// JavaScript holds, however it is written.
function simple(value) {
  if (typeof value === "number") return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
  return value === null || ["string", "boolean"].includes(typeof value)
    || (Array.isArray(value) && value.length <= 100 && value.every(Number.isSafeInteger));
}

// parse reads a fragment. It never throws: what it does not understand is left
// out, and complaints says so.
function parse(text) {
  const s = empty(), complaints = [], seen = new Set();
  const short = (t) => (t.length > 40 ? t.slice(0, 40) + "…" : t);
  if (text.length > longestRead) return { s, complaints: [`it has ${text.length} characters; there may be ${longestRead}`] };
  for (const part of text.replace(/^#/, "").split("&")) {
    if (part === "") continue;
    const equals = part.indexOf("=");
    let key, value;
    try {
      key = decodeURIComponent(equals < 0 ? part : part.slice(0, equals));
      value = equals < 0 ? null : decodeURIComponent(part.slice(equals + 1));
    } catch {
      complaints.push(`“${short(part)}” is not encoded as UTF-8`);
      continue;
    }
    if (value === null) {
      complaints.push(`“${short(key)}” has no value`);
      continue;
    }
    if (seen.has(key)) {
      complaints.push(`“${short(key)}” is there twice; the first counts`);
      continue;
    }
    seen.add(key);
    if ((key === "axis" || key === "batch_dims") && value !== "" && !integer.test(value)) {
      complaints.push(`${key}=“${short(value)}” is no integer`);
    } else if (texts.includes(key)) {
      s[key] = value;
    } else if (key === "form") {
      if (forms.has(value)) s.form = value;
      else complaints.push(`form=“${short(value)}” is none of ${[...forms.keys()].join(", ")}`);
    } else if (key === "operator") {
      s.operator = value;
    } else if (key === "language") {
      if (languages.includes(value)) s.language = value;
      else complaints.push(`language=“${short(value)}” is none of ${languages.join(", ")}`);
    } else if (key === "picture") {
      s.picture = value === "1";
    } else if (key.startsWith("operand:") && key.length > 8) {
      s.operands.set(key.slice(8), value);
    } else if (key.startsWith("ask:") && key.length > 4) {
      if (!s.attributes.has(key.slice(4))) s.attributes.set(key.slice(4), new Map());
    } else if (/^attribute:[^:]+:[^:]+$/.test(key)) {
      const [, operator, name] = key.split(":");
      let json;
      try {
        json = JSON.parse(value);
      } catch {
        json = undefined;
      }
      if (json === undefined || !simple(json)) {
        complaints.push(`${short(key)}=“${short(value)}” is no attribute’s value`);
        continue;
      }
      if (!s.attributes.has(operator)) s.attributes.set(operator, new Map());
      s.attributes.get(operator).set(name, json);
    } else {
      complaints.push(`“${short(key)}” is unknown`);
    }
  }
  return { s, complaints };
}

// remember writes the state into the address, without a new entry of the history
// unless one is wanted.
function remember(entry = false) {
  const text = fragment(state);
  const url = location.pathname + location.search + (text ? "#" + text : "");
  if (url === location.pathname + location.search + location.hash) return;
  try {
    history[entry ? "pushState" : "replaceState"](null, "", url);
  } catch {
    // Browsers refuse many changes within some seconds; the next one writes it.
  }
}

// call is the call as garner reads it.
function call() {
  const plain = (map, value) => {
    const o = Object.create(null); // a name such as __proto__ is a name
    for (const [k, v] of map) o[k] = value(v);
    return o;
  };
  const whole = (text) => (text.trim() === "" ? null : Number(text));
  return {
    data: state.data, data_dtype: state.data_dtype,
    indices: state.indices, indices_dtype: state.indices_dtype,
    axis: whole(state.axis), batch_dims: whole(state.batch_dims),
    attributes: plain(state.attributes, (values) => plain(values, (v) => v)),
    operands: plain(state.operands, (text) => text),
  };
}

// ---------------------------------------------------------- the call's fields

const fields = [...texts.map(at)];
const operandInputs = new Map(); // by operand

function fill() {
  for (const key of texts) {
    const field = at(key);
    if (field.tagName === "SELECT" && state[key] && ![...field.options].some((o) => o.value === state[key])) {
      field.append(element("option", { value: state[key] }, state[key])); // garner says that it has none
    }
    if (field.value !== state[key]) field.value = state[key];
  }
  for (const [name, input] of operandInputs) {
    const text = state.operands.get(name) ?? "";
    if (input.value !== text) input.value = text;
  }
  if (state.operands.size) at("operands").open = true;
  grow();
}

// grow makes text areas as high as their texts, up to a limit.
function grow() {
  for (const area of [at("data"), at("indices")]) {
    const lines = Math.max(area.value.split("\n").length, Math.ceil(area.value.length / 40));
    area.rows = Math.min(Math.max(lines, 2), 10);
  }
}

function operandField(name, users) {
  const id = "operand-" + operandInputs.size;
  const input = element("input", { id, spellcheck: "false", "aria-describedby": `${id}-hint ${id}-complaint` });
  input.addEventListener("input", () => {
    if (input.value === "") state.operands.delete(name);
    else state.operands.set(name, input.value);
    changed(typing);
  });
  operandInputs.set(name, input);
  at("operand-fields").append(element("div", { class: "field" },
    element("label", { for: id }, name), input,
    element("p", { class: "hint", id: id + "-hint" }, "of " + users.join(", ")),
    element("p", { class: "complaint", id: id + "-complaint", hidden: true })));
}

function operandFields() {
  const users = new Map();
  for (const o of operators) {
    for (const operand of o.operands ?? []) {
      if (!users.has(operand.name)) users.set(operand.name, []);
      users.get(operand.name).push(o.name);
    }
  }
  for (const [name, list] of users) operandField(name, list);
}

function dtypes(list) {
  for (const id of ["data_dtype", "indices_dtype"]) {
    for (const name of list) {
      if (![...at(id).options].some((o) => o.value === name)) at(id).append(element("option", { value: name }, name));
    }
  }
}

// take takes an example, as a new entry of the history; the chosen operator stays.
function take({ call: c, form }) {
  const s = empty();
  for (const key of texts) s[key] = c[key] === null || c[key] === undefined ? "" : String(c[key]);
  for (const [name, text] of Object.entries(c.operands ?? {})) s.operands.set(name, text);
  for (const [operator, values] of Object.entries(c.attributes ?? {})) {
    s.attributes.set(operator, new Map(Object.entries(values)));
  }
  s.form = forms.has(form) ? form : "";
  s.operator = state.operator;
  s.language = state.language;
  s.picture = state.picture;
  state = s;
  say(at("link-complaint"), "");
  remember(true);
  fill();
  showOperator();
  changed(0);
}

function examples(list) {
  for (const example of list) {
    const button = element("button", { type: "button" }, example.title);
    button.addEventListener("click", () => take(example));
    at("examples").append(button);
  }
  at("examples-field").hidden = list.length === 0;
}

// complain shows words at the field that they are about.
function complain(words, where) {
  const marks = new Map([...texts.map((key) => [key, at(key)]), ...operandInputs]);
  const field = where && (marks.get(where) || marks.get(where.replace(/^operands?[.:]/, "")));
  for (const mark of marks.values()) {
    const own = at(mark.id + "-complaint");
    if (!own) continue;
    if (mark === field && words) mark.setAttribute("aria-invalid", "true");
    else mark.removeAttribute("aria-invalid");
    say(own, mark === field ? words : "");
  }
  const there = field && at(field.id + "-complaint");
  say(at("complaint"), there ? "" : words);
}

let timer = 0;

// changed asks for the answers to the call once it stands still.
function changed(wait) {
  clearTimeout(timer);
  busy(true);
  timer = setTimeout(question, wait);
}

// question asks for the answers to the call as it is.
function question() {
  busy(true);
  remember();
  for (const key of ["axis", "batch_dims"]) {
    if (state[key].trim() !== "" && !integer.test(state[key].trim())) {
      complain(`${key === "axis" ? "axis" : "batch dims"}: an integer such as 0 or -1, or nothing`, key);
      settle("No answers: the call is not complete.");
      return;
    }
  }
  if (state.data.trim() === "" && state.indices.trim() === "") {
    complain("", "");
    settle("Type data and indices, or choose an example.");
    show(null);
    return;
  }
  const own = call(); // as it is now, not when the request's turn comes
  askAnswers(() => ask({ ask: "answers", call: own }));
}

// settle ends a question that has no answers: those on the page are of an older
// call, and look so.
function settle(words) {
  const old = at("groups").childElementCount > 0 && (state.data.trim() !== "" || state.indices.trim() !== "");
  at("status").textContent = words + (old ? " Below are those to the call before." : "");
  busy(false);
  document.body.classList.toggle("stale", old);
}

let waits = 0;

// busy says whether an answer is to come; after a while, in words: the answers on the
// page are those to an older call.
function busy(is) {
  clearTimeout(waits);
  at("groups").setAttribute("aria-busy", String(is));
  if (is) waits = setTimeout(() => {
    if (at("groups").childElementCount === 0) return;
    at("status").textContent = "Asking … Below are the answers to the call before.";
    document.body.classList.add("stale");
  }, slow + typing);
}

// ---------------------------------------------------------------- the answers

const askAnswers = latest((reply) => {
  busy(false);
  at("status").classList.remove("complaint");
  if (reply.error !== undefined && !reply.groups) {
    complain(reply.error, reply.where);
    settle("No answers: garner refuses the call.");
    return;
  }
  complain("", "");
  document.body.classList.remove("stale");
  show(reply);
  performance.mark("answer"); // what the browser tests, and a profile, measure to
}, (words) => {
  if (lost) return broken(lost);
  settle("No answers: " + words);
  at("status").classList.add("complaint");
});

const count = (n, one, many) => `${n} ${n === 1 ? one : many}`;

let shownReply = null; // what was answered last

function show(reply) {
  shownReply = reply;
  const others = reply?.not_asked ?? [];
  answers = new Map();
  for (const group of reply?.groups ?? []) for (const entry of group.operators) answers.set(entry.name, { group, entry });
  at("not-asked").hidden = others.length === 0;
  at("not-asked-title").textContent = count(others.length, "operator was not asked", "operators were not asked");
  const reasons = new Map();
  for (const { name, why } of others) {
    if (!reasons.has(why)) reasons.set(why, []);
    reasons.get(why).push(name);
    answers.set(name, { why });
  }
  at("not-asked-list").replaceChildren(...[...reasons].map(([why, names]) => element("div", { class: "reason" },
    element("p", {}, why),
    element("ul", { class: "operators" }, ...names.map((name) => element("li", {}, operatorButton(name)))))));
  showGroups();
  refresh();
}

// showGroups shows the answers of the operators of the chosen form.
function showGroups() {
  const all = (shownReply?.groups ?? []).flatMap((g) => g.operators);
  const groups = (shownReply?.groups ?? [])
    .map((g) => ({ ...g, operators: g.operators.filter((o) => !state.form || o.form === state.form) }))
    .filter((g) => g.operators.length)
    .sort((a, b) => b.operators.length - a.operators.length);
  const focused = document.activeElement?.dataset?.operator;
  at("groups").replaceChildren(...groups.map(groupElement));
  at("legend").hidden = !groups.some((g) => g.operators.some((o) => o.recorded?.length));
  const number = (form) => all.filter((o) => !form || o.form === form).length;
  let several = 0;
  for (const button of at("forms").children) {
    const form = button.dataset.form, n = number(form);
    button.textContent = `${form ? forms.get(form)[0] : "All"} ${n}`;
    button.setAttribute("aria-pressed", String(form === state.form));
    button.hidden = n === 0 && form !== state.form;
    if (form && !button.hidden) several++;
  }
  at("forms").hidden = all.length === 0 || (several < 2 && !state.form);
  say(at("form-note"), all.length && state.form ? forms.get(state.form)[1] : "");
  if (shownReply && !document.body.classList.contains("stale")) {
    const kind = groups.flatMap((g) => g.operators).find((o) => o.kind)?.kind ?? "";
    const worst = { inside: "all indices are inside", negative: "an index is negative", below: "an index is below the axis", "past the end": "an index is past the end" }[kind] ?? "";
    const n = groups.reduce((sum, g) => sum + g.operators.length, 0);
    at("status").textContent = n === 0 && all.length ? "No operator of this kind takes this call."
      : count(groups.length, "answer", "different answers") + " from " + count(n, "operator", "operators") + (worst ? ": " + worst : "") + ".";
  }
  if (focused) {
    const again = [...document.querySelectorAll("button[data-operator]")].find((b) => b.dataset.operator === focused);
    if (again) again.focus({ preventScroll: true });
  }
  mark();
}

function formButtons() {
  for (const form of ["", ...forms.keys()]) {
    const button = element("button", { type: "button", "data-form": form });
    button.addEventListener("click", () => {
      state.form = form;
      remember();
      showGroups();
    });
    at("forms").append(button);
  }
}

// refresh shows what follows from the answers for the chosen operator.
function refresh() {
  showAnswer();
  if (state.picture) draw();
  else undraw();
  code();
}

const typeOf = (group) => (group.dtype ?? "") + "[" + (group.shape ?? []).join(",") + "]";

// value shows the values of an answer, or the words of an error.
function value(group, words) {
  if (group.error) return element("p", { class: "error" }, words || group.error);
  const long = group.values.length > 300;
  return element("pre", { class: "value", tabindex: long && "0", role: long && "group", "aria-label": long && "values" },
    group.values + (group.cut ? " (the first of them)" : ""));
}

function groupElement(group, i) {
  const id = "group-" + i;
  const n = count(group.operators.length, "operator", "operators");
  return element("article", { class: group.error ? "group refused" : "group", "aria-labelledby": id },
    element("h3", { id }, element("span", { class: "n" }, n),
      element("span", { class: "type" }, group.error ? "refused" : typeOf(group))),
    value(group), ...byWords(group));
}

// byWords lists the operators of a group; of errors, those with the same words
// together.
function byWords(group) {
  const lists = new Map();
  for (const entry of group.operators) {
    const words = group.error && entry.error && entry.error !== group.error ? entry.error : "";
    if (!lists.has(words)) lists.set(words, []);
    lists.get(words).push(entry);
  }
  return [...lists].map(([words, entries]) => element("div", { class: "said" },
    words ? element("p", { class: "own" }, words) : null,
    element("ul", { class: "operators" }, ...entries.map((entry) => element("li", {},
      operatorButton(entry.name), entry.beyond ? element("p", { class: "beyond" }, "types beyond its specification") : null, ...recordings(entry.recorded ?? []))))));
}

function operatorButton(name) {
  const button = element("button", { type: "button", class: "operator", "data-operator": name }, name);
  button.addEventListener("click", () => choose(name, true));
  return button;
}

const tag = () => element("span", { class: "tag" }, "recorded");

// recordings shows what a framework itself answered, in short: a line for each runtime,
// with what holds always before its special cases.
function recordings(list) {
  const runtimes = new Map();
  for (const r of list) {
    if (!runtimes.has(r.runtime)) runtimes.set(r.runtime, []);
    const own = runtimes.get(r.runtime);
    if (!own.some((o) => o.when === r.when && o.text === r.text && o.follows === r.follows)) own.push(r);
  }
  return [...runtimes].map(([runtime, own]) => {
    own.sort((a, b) => Boolean(a.when) - Boolean(b.when));
    const all = own.every((r) => !r.follows);
    return element("p", { class: all ? "recording differs" : "recording" }, tag(), " ", runtime, " ",
      ...own.flatMap((r, i) => [i > 0 ? "; " : null, element("span", { class: !all && !r.follows && "differs" },
        r.when ? r.when + ": " : null, element("b", {}, r.text || r.answer),
        r.follows || (all && i < own.length - 1) ? null : element("span", { class: "against" }, all && i > 0 ? ", all against its spec" : ", against its spec"))]));
  });
}

// recording shows all of one recording.
function recording(r) {
  return element("p", { class: r.follows ? "recording" : "recording differs" },
    tag(), " ", r.runtime, " ", element("b", {}, r.text || r.answer), r.when ? ` (${r.when})` : null,
    r.follows ? null : element("span", { class: "against" }, ", against its own specification"),
    r.case ? element("span", { class: "case" }, " · recording ", r.case) : null);
}

// --------------------------------------------------------------- one operator

const find = (name) => operators.find((o) => o.name === name);

function mark() {
  for (const button of document.querySelectorAll("button[data-operator]")) {
    if (button.dataset.operator === state.operator) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  }
}

function choose(name, focus) {
  state.operator = name;
  remember();
  showOperator();
  refresh();
  if (focus && name) {
    at("operator-name").focus({ preventScroll: true });
    const box = at("operator").getBoundingClientRect();
    if (box.top < 0 || box.top > innerHeight - 100) at("operator").scrollIntoView({ block: "start" });
  }
}

function close() {
  const name = state.operator;
  choose("", false);
  const button = [...document.querySelectorAll("button[data-operator]")].find((b) => b.dataset.operator === name);
  (button ?? at("answers")).focus();
}

function showOperator() {
  const o = find(state.operator);
  at("operator").hidden = !o;
  document.body.classList.toggle("chosen", Boolean(o));
  mark();
  if (!o) return;
  at("operator-name").textContent = o.name;
  const page = typeof o.page === "string" && /^https:\/\//.test(o.page) ? o.page : "";
  at("operator-about").replaceChildren(page
    ? element("a", { href: page, rel: "noreferrer noopener", target: "_blank" }, "Its specification") : "");
  attributeFields(o);
}

function showAnswer() {
  const o = find(state.operator);
  if (!o) return;
  const found = answers.get(o.name);
  if (!found) at("operator-answer").replaceChildren();
  else if (found.why !== undefined) at("operator-answer").replaceChildren(element("p", { class: "hint" }, "Not asked: " + found.why));
  else {
    at("operator-answer").replaceChildren(
      value(found.group, found.entry.error), found.group.error ? "" : element("p", { class: "type" }, typeOf(found.group)),
      found.entry.beyond ? element("p", { class: "hint" }, `Garner’s answer alone: ${found.entry.beyond}.`) : "");
  }
  at("ask-it").hidden = found?.why === undefined || !["bag", "stored", "window"].includes(o.kind) || state.attributes.has(o.name);
  at("operator-recorded").replaceChildren(...(found?.entry?.recorded ?? []).map(recording));
}

// typed gives the JSON value of what was typed for an attribute; undefined where
// it is none of its type.
function typed(attribute, text) {
  const t = text.trim();
  if (t === "null") return null;
  switch (attribute.type) {
    case "int":
      return integer.test(t) ? Number(t) : undefined;
    case "ints": {
      const list = t.replace(/^\[|\]$/g, "").split(",").map((p) => p.trim()).filter((p) => p !== "");
      return list.every((p) => integer.test(p)) ? list.map(Number) : undefined;
    }
    case "float":
      return t !== "" && Number.isFinite(Number(t)) ? Number(t) : undefined;
    case "bool":
      return { true: true, false: false }[t];
  }
  return text;
}

const shown = (v) => (Array.isArray(v) ? v.join(", ") : v === undefined ? "" : String(v));

// standing tells what an attribute is where the operator is given none of its own.
function standing(a) {
  const all = state.attributes.get("*")?.get(a.name);
  if (all !== undefined) return "as for all: " + shown(all);
  const key = ["axis", "dim", "gather_axis"].includes(a.name) ? "axis" : a.name === "batch_dims" ? "batch_dims" : "";
  if (key && state[key] !== "") return "the call’s: " + state[key];
  if (a.needed) return "needed";
  const text = a.default === null ? "" : shown(a.default);
  return text ? "default: " + text : "not given";
}

function attributeFields(o) {
  const list = o.attributes ?? [];
  at("attributes").hidden = list.length === 0;
  at("attribute-fields").replaceChildren(...list.map((a, i) => {
    const id = "attribute-" + i;
    const values = a.values?.length ? a.values.map(String) : a.type === "bool" ? ["true", "false"] : null;
    const given = state.attributes.get(o.name)?.get(a.name);
    const standard = standing(a);
    let input;
    if (values) {
      input = element("select", { id }, element("option", { value: "" }, standard),
        ...values.map((v) => element("option", { value: v }, v)));
      if (given !== undefined && !values.includes(shown(given))) input.append(element("option", { value: shown(given) }, shown(given)));
    } else {
      input = element("input", { id, spellcheck: "false", placeholder: a.type === "ints" ? standard + "; type 0, 1" : standard });
    }
    input.value = shown(given);
    input.setAttribute("aria-describedby", id + "-complaint");
    const complaint = element("p", { class: "complaint", id: id + "-complaint", hidden: true });
    input.addEventListener("input", () => {
      const v = input.value === "" ? undefined : typed(a, input.value);
      const bad = input.value !== "" && v === undefined;
      say(complaint, bad ? `${a.name}: ${{ int: "an integer", ints: "integers with commas between them", float: "a number", bool: "true or false" }[a.type]}` : "");
      if (bad) {
        input.setAttribute("aria-invalid", "true");
        return;
      }
      input.removeAttribute("aria-invalid");
      const own = state.attributes.get(o.name) ?? new Map();
      if (v === undefined) own.delete(a.name);
      else own.set(a.name, v);
      if (own.size) state.attributes.set(o.name, own);
      else state.attributes.delete(o.name);
      changed(typing);
    });
    return element("div", { class: "field" }, element("label", { for: id }, a.name), input,
      a.help ? element("p", { class: "hint" }, a.help) : null, complaint);
  }));
}

// ----------------------------------------------------------------- the picture

const svgSpace = "http://www.w3.org/2000/svg";
const knownElements = new Set(["svg", "title", "defs", "pattern", "g", "rect", "path", "line", "circle", "text", "tspan"]);
const knownAttributes = new Set(["x", "y", "dx", "dy", "width", "height", "rx", "ry", "r", "cx", "cy", "x1", "y1", "x2", "y2", "d", "viewBox",
  "fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "fill-opacity", "stroke-opacity", "font-family", "font-size", "font-weight", "font-style",
  "text-anchor", "dominant-baseline", "transform", "class", "id", "patternUnits"]);

// adopt copies a picture into the document: the elements and attributes that are
// known, nothing else.
function adopt(node) {
  if (node.nodeType === Node.TEXT_NODE) return document.createTextNode(node.data);
  if (node.nodeType !== Node.ELEMENT_NODE || node.namespaceURI !== svgSpace || !knownElements.has(node.localName)) return null;
  const copy = document.createElementNS(svgSpace, node.localName);
  for (const { name, value } of node.attributes) {
    if (!knownAttributes.has(name) && !/^data-[a-z]+$/.test(name)) continue;
    if (/url\(/i.test(value) && !/^url\(#[A-Za-z0-9_-]+\)$/.test(value)) continue;
    copy.setAttribute(name, value);
  }
  for (const child of node.childNodes) {
    const c = adopt(child);
    if (c) copy.append(c);
  }
  return copy;
}

const askPicture = latest((reply) => {
  at("words").textContent = reply.text ?? "";
  at("cell").textContent = "";
  if (!reply.svg) {
    at("drawing").replaceChildren(element("p", { class: "error" }, reply.error ?? "there is no picture"));
    at("cell-hint").hidden = true;
    return;
  }
  const parsed = new DOMParser().parseFromString(reply.svg, "image/svg+xml");
  const svg = parsed.querySelector("parsererror") ? null : adopt(parsed.documentElement);
  if (!svg) {
    at("drawing").replaceChildren(element("p", { class: "error" }, "the picture cannot be read"));
    return;
  }
  svg.setAttribute("role", "group");
  svg.setAttribute("aria-label", parsed.querySelector("title")?.textContent ?? "picture");
  const paper = element("div", {}, svg);
  at("drawing").replaceChildren(paper);
  cells(paper, svg, reply.cells ?? {});
}, (words) => {
  at("drawing").replaceChildren(element("p", { class: "error" }, words));
});

function draw() {
  at("draw").setAttribute("aria-expanded", "true");
  at("draw").textContent = "Hide";
  at("picture").hidden = false;
  if (!find(state.operator) || (state.data === "" && state.indices === "")) return;
  const own = call(), operator = state.operator;
  askPicture(() => ask({ ask: "picture", call: own, operator }));
}

function undraw() {
  at("draw").setAttribute("aria-expanded", "false");
  at("draw").textContent = "Draw";
  at("picture").hidden = true;
  at("drawing").replaceChildren();
  at("words").textContent = "";
  at("cell").textContent = "";
}

// cells makes the cells of a picture answer to the pointer and to arrow keys.
// about has, for the name of a cell, where it is, its text in words, and the
// names of the cells that it comes from or goes to. paper, around the picture,
// listens: an <svg> that listens to the focus would take it.
function cells(paper, svg, about) {
  const covers = new Map(); // by name: a transparent rectangle over the cell
  for (const g of svg.querySelectorAll("g[data-cell]")) {
    const name = g.dataset.cell, told = about[name];
    if (!told || covers.has(name)) continue;
    let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
    for (const r of g.querySelectorAll("rect")) {
      const [x, y, w, h] = ["x", "y", "width", "height"].map((a) => Number(r.getAttribute(a)));
      [left, top, right, bottom] = [Math.min(left, x), Math.min(top, y), Math.max(right, x + w), Math.max(bottom, y + h)];
    }
    if (!(right > left && bottom > top)) continue;
    const cover = document.createElementNS(svgSpace, "rect");
    for (const [key, v] of Object.entries({ x: left, y: top, width: right - left, height: bottom - top, class: "cell" })) cover.setAttribute(key, v);
    cover.dataset.name = name;
    covers.set(name, cover);
  }
  svg.append(...covers.values());
  const number = (c) => Number(c.dataset.name.slice(1));
  const result = [...covers.values()].filter((c) => c.dataset.name.startsWith("r")).sort((a, b) => number(a) - number(b));
  const light = (c) => {
    for (const other of covers.values()) other.classList.remove("lit", "self");
    if (!c) return;
    c.classList.add("self");
    const told = about[c.dataset.name];
    for (const name of told.related ?? []) covers.get(name)?.classList.add("lit");
    at("cell").textContent = told.text;
  };
  for (const c of result) {
    c.setAttribute("role", "img");
    c.setAttribute("tabindex", "-1");
    c.setAttribute("aria-label", about[c.dataset.name].text);
  }
  if (result.length) result[0].setAttribute("tabindex", "0");
  at("cell-hint").hidden = covers.size === 0;
  const cellOf = (event) => (event.target instanceof Element && event.target.classList.contains("cell") ? event.target : null);
  paper.addEventListener("pointerover", (event) => {
    const c = cellOf(event);
    if (c) light(c);
  });
  paper.addEventListener("pointerleave", () => light(result.includes(document.activeElement) ? document.activeElement : null));
  paper.addEventListener("focusin", (event) => light(cellOf(event)));
  paper.addEventListener("focusout", () => light(null));
  const middle = (c) => {
    const [x, y, w, h] = ["x", "y", "width", "height"].map((a) => Number(c.getAttribute(a)));
    return { x: x + w / 2, y: y + h / 2 };
  };
  paper.addEventListener("keydown", (event) => {
    const here = result.indexOf(document.activeElement);
    if (here < 0) return;
    const direction = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key];
    let to = null;
    if (event.key === "Home") to = result[0];
    else if (event.key === "End") to = result.at(-1);
    else if (direction) {
      // The nearest cell in that direction, straight ahead before aside.
      const from = middle(result[here]);
      let best = Infinity;
      for (const c of result) {
        const m = middle(c), ahead = (m.x - from.x) * direction[0] + (m.y - from.y) * direction[1];
        if (ahead <= 1) continue;
        const aside = Math.abs((m.x - from.x) * direction[1]) + Math.abs((m.y - from.y) * direction[0]);
        if (ahead + 10 * aside < best) [best, to] = [ahead + 10 * aside, c];
      }
    } else return;
    event.preventDefault();
    if (!to) return;
    result[here].setAttribute("tabindex", "-1");
    to.setAttribute("tabindex", "0");
    to.focus();
  });
}

// -------------------------------------------------------------------- as code

const askCode = latest((reply) => {
  at("code").textContent = reply.code ?? "";
  at("code").hidden = !reply.code;
  at("copy-code").disabled = !reply.code;
  at("copied").textContent = reply.code ? "" : reply.error ?? "";
}, (words) => {
  at("code").hidden = true;
  at("copy-code").disabled = true;
  at("copied").textContent = words;
});

function code() {
  for (const button of at("languages").children) {
    button.setAttribute("aria-pressed", String(button.dataset.language === state.language));
  }
  if (!find(state.operator) || (state.data === "" && state.indices === "")) return;
  const own = call(), operator = state.operator, language = state.language;
  askCode(() => ask({ ask: "code", call: own, operator, language }));
}

// copy writes a text to the clipboard; where the browser does not let it, the
// text is selected.
async function copy(text, from, done) {
  try {
    await navigator.clipboard.writeText(text);
    done("Copied.");
  } catch {
    if (!from) return done("This browser does not let the page copy: copy the address.");
    const range = document.createRange();
    range.selectNodeContents(from);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    done("This browser does not let the page copy: the text is selected.");
  }
}

// ---------------------------------------------------------------------- files

// table shows objects with the same keys, each key as a column.
function table(caption, rows) {
  const keys = [];
  for (const row of rows) for (const key of Object.keys(row)) if (!keys.includes(key)) keys.push(key);
  const cell = (v) => (v === null || v === undefined ? "" : typeof v === "object" ? JSON.stringify(v) : String(v));
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    element("table", {}, element("caption", {}, caption),
      element("thead", {}, element("tr", {}, ...keys.map((k) => element("th", { scope: "col" }, k.replaceAll("_", " "))))),
      element("tbody", {}, ...rows.slice(0, 1000).map((row) => element("tr", {}, ...keys.map((k) => element("td", {}, cell(row[k]))))))),
    rows.length > 1000 ? element("p", { class: "hint" }, `${rows.length - 1000} more are not shown.`) : null);
}

// items lists objects one below the other, as wide as the screen is: the first of them,
// and the others when they are asked for.
function items(title, rows, item) {
  const some = 20, most = 2000; // garner tells no more
  const list = element("ul", { class: "items" });
  const add = (from, to) => list.append(...rows.slice(from, to).map((row) => element("li", { tabindex: "-1" }, ...item(row).filter((e) => e))));
  add(0, some);
  const more = rows.length > some ? element("button", { type: "button" }, `Show ${rows.length - some} more`) : null;
  more?.addEventListener("click", () => {
    add(some, most);
    more.remove();
    list.children[some].focus();
  });
  return [element("h3", {}, title), list, more];
}

const line = (name, ...texts) => {
  const parts = texts.filter((t) => t);
  return parts.length ? element("p", { class: name }, parts.join(" · ")) : null;
};

const gatherItem = (g) => [
  line("name", g.name, g.operator), line("", g.attributes), line("", g.inputs), line("", g.result && "result: " + g.result), line("hint", g.at)];

const findingItem = (f) => [
  element("p", {}, element("span", { class: ["error", "warning"].includes(f.severity) ? "severity " + f.severity : "severity" }, f.severity ?? ""), " ", f.message ?? ""),
  line("", f.remedy && "Remedy: " + f.remedy), line("hint", `${f.rule ?? ""} ${f.title ?? ""}`.trim(), f.node, f.at, f.runtimes)];

function showFile(reply) {
  const parts = [];
  if (reply.error) parts.push(element("p", { class: "error" }, reply.error));
  if (reply.note) parts.push(element("p", { class: "hint" }, reply.note));
  if (reply.kind === "model") {
    const { findings = [], gathers = [] } = reply;
    parts.push(...(findings.length ? items(count(findings.length, "finding", "findings") + " of lint", findings, findingItem) : [element("p", {}, "lint finds nothing to say.")]));
    parts.push(...(gathers.length ? items(count(gathers.length, "gather", "gathers"), gathers, gatherItem) : [element("p", {}, "The model has no gather.")]));
  }
  if (reply.kind === "tensors") {
    parts.push(reply.tensors?.length ? table(count(reply.tensors.length, "tensor", "tensors"), reply.tensors) : element("p", {}, "The file has no tensor."));
  }
  if (reply.more) parts.push(element("p", { class: "hint" }, `${reply.more} more are not listed.`));
  at("opened-content").replaceChildren(...parts.filter((p) => p));
}

let reader = null; // a garner of its own for the file that is read: it may take long, and answers do not wait for it

function openFile(file) {
  closeFile();
  at("opened").hidden = false;
  at("opened-title").textContent = file.name;
  at("opened-title").focus({ preventScroll: true });
  at("opened").scrollIntoView({ block: "start" });
  const failed = (words) => at("opened-content").replaceChildren(element("p", { class: "error" }, words));
  if (file.size > largestFile) {
    failed(`The file has ${(file.size / 1e6).toFixed(0)} MB; this page opens at most ${(largestFile / 1e6).toFixed(0)}. Use the command: garner lint, garner info.`);
    return;
  }
  at("opened-content").replaceChildren(element("p", {}, "Reading … Closing the file stops it."));
  const own = reader = new Garner(() => {});
  own.send({ open: file }, 0).then(showFile, (error) => failed(error.message)).finally(() => {
    own.end(); // with the memory that the file took
    if (reader === own) reader = null;
  });
}

// closeFile forgets the file, and stops reading it.
function closeFile() {
  reader?.end();
  reader = null;
  at("opened").hidden = true;
  at("opened-content").replaceChildren();
}

// --------------------------------------------------------------------- events

let complaints = []; // about the link

function load() {
  ({ s: state, complaints } = parse(location.hash));
  known();
  fill();
}

// first puts the page's own example into a page whose link has no call. The page has it
// so that it need not wait for the examples of garner.
function first() {
  const { s } = parse(document.querySelector("meta[name=example]").content);
  const { operator, language, picture } = state;
  state = { ...s, operator, language, picture };
  fill();
}

// known shows what needs the operators, and complains of a link that names none of
// them, or an operand that none has: that is taken out of the call. It waits until they
// are told.
function known() {
  if (operators.length && state.operator && !find(state.operator)) complaints.push(`there is no operator “${state.operator.slice(0, 60)}”`);
  for (const name of operators.length ? [...state.operands.keys()] : []) {
    if (operandInputs.has(name)) continue;
    complaints.push(`no operator has an operand “${name.slice(0, 60)}”`);
    state.operands.delete(name);
  }
  const more = complaints.length - 5;
  say(at("link-complaint"), complaints.length
    ? "This link is not understood in part: " + complaints.slice(0, 5).join("; ") + (more > 0 ? `; and ${more} more` : "") + "." : "");
  showOperator();
}

function listen() {
  for (const field of fields) {
    field.addEventListener("input", () => {
      state[field.id] = field.value;
      grow();
      changed(field.tagName === "SELECT" ? 0 : typing);
    });
  }
  for (const form of document.forms) {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      changed(0);
    });
  }
  addEventListener("popstate", () => {
    load();
    changed(0);
  });
  at("skip").addEventListener("click", (event) => {
    event.preventDefault(); // the address holds the call
    at("answers").focus();
  });
  at("copy-link").addEventListener("click", () => {
    clearTimeout(timer);
    remember();
    changed(0);
    if (fragment(state) === "") {
      at("status").textContent = "The call is too large for a link.";
      return;
    }
    const button = at("copy-link");
    copy(location.href, null, (words) => {
      button.textContent = words === "Copied." ? "Link copied" : words;
      setTimeout(() => { button.textContent = "Copy link"; }, 2500);
    });
  });
  at("operator-close").addEventListener("click", close);
  at("operator").addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
  });
  at("ask-it").addEventListener("click", () => {
    state.attributes.set(state.operator, new Map());
    at("operator-name").focus({ preventScroll: true }); // the button goes
    changed(0);
  });
  at("draw").addEventListener("click", () => {
    state.picture = !state.picture;
    remember();
    if (state.picture) draw();
    else undraw();
  });
  for (const button of at("languages").children) {
    button.addEventListener("click", () => {
      state.language = button.dataset.language;
      remember();
      code();
    });
  }
  at("copy-code").addEventListener("click", () => copy(at("code").textContent, at("code"), (words) => { at("copied").textContent = words; }));
  at("file").addEventListener("change", () => {
    if (at("file").files.length) openFile(at("file").files[0]);
    at("file").value = ""; // the same file may be chosen again
  });
  at("opened-close").addEventListener("click", () => {
    closeFile();
    at("file").focus();
  });
  const files = (event) => event.dataTransfer && [...event.dataTransfer.types].includes("Files");
  addEventListener("dragover", (event) => {
    if (!files(event)) return;
    event.preventDefault();
    document.body.classList.add("dragging");
  });
  addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) document.body.classList.remove("dragging");
  });
  addEventListener("drop", (event) => {
    document.body.classList.remove("dragging");
    if (!files(event)) return;
    event.preventDefault();
    if (event.dataTransfer.files.length) openFile(event.dataTransfer.files[0]);
  });
}

async function run() {
  at("unserved").remove();
  at("status").textContent = "Loading garner …";
  at("file-note").textContent = process
    ? "Or drop it anywhere. Up to 200 MB; it goes to the garner process on this machine that serves this page, and nowhere else."
    : "Or drop it anywhere. Up to 200 MB; it stays in this browser.";
  at("where").textContent = process
    ? "Answered by garner play, a process on this machine. Nothing leaves it."
    : "Answered in this browser. Nothing that you type or open leaves it.";
  say(at("link-note"), process ? `The link opens wherever garner play listens on ${location.host}.` : "");
  if (process) at("copy-link").setAttribute("aria-describedby", "link-note");
  load();
  listen();
  formButtons();
  garner = new Garner(broken);
  if (state.data === "" && state.indices === "") first(); // an empty page says little
  question(); // the answers come before what the page knows of operators
  let told;
  try {
    told = await ask({ ask: "operators" });
  } catch (error) {
    garner.fail(error.message);
    return;
  }
  operators = told.operators ?? [];
  largestFile = told.limits?.file ?? largestFile;
  dtypes(told.dtypes ?? []);
  operandFields();
  examples(told.examples ?? []);
  const operands = state.operands.size;
  known();
  fill();
  if (state.operands.size !== operands) question();
  refresh();
}

run();
