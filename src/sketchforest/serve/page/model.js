"use strict";

const about = JSON.parse(document.getElementById("about").textContent);
const ask = document.getElementById("ask");
const inputs = [...ask.querySelectorAll("[data-kind]")];
const PAUSE = 150; // milliseconds without a keystroke before a request is sent
const N_LABELS = 12; // labels per request
const N_OTHERS = 5; // of these, labels shown although they are not predicted
const LEAST_SHARE = 0.05; // of the largest contribution, for a word to be highlighted
const MAX_KNOWN = 5000; // label names offered for completion

let pending = null; // aborted by a newer request
let timer = 0;
let known = new Set(); // feature names, for rows typed as a list
let chosen = null; // label to explain; null: the best

const at = (id) => document.getElementById(id);

function element(tag, content, className) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...[content].flat());
  return made;
}

// Return the typed row, or null if nothing was typed.
function typedRow() {
  if (!about.has_inputs) return typedFeatures(inputs[0].value);
  const row = {};
  for (const input of inputs) {
    const text = input.value;
    if (!text.trim()) continue;
    row[input.dataset.field] = input.dataset.kind === "number" ? typedNumber(input) : text;
  }
  return Object.keys(row).length ? row : null;
}

function typedNumber(input) {
  const number = Number(input.value.trim().replace(",", "."));
  input.toggleAttribute("aria-invalid", Number.isNaN(number));
  if (Number.isNaN(number)) throw new Error(`${input.dataset.field} must be a number.`);
  return number;
}

// Ignore and report unknown names: one may still be being typed.
function typedFeatures(text) {
  const row = {};
  const unknown = [];
  for (const part of text.split(/[,\n]/)) {
    if (!part.trim()) continue;
    const cut = part.lastIndexOf("=");
    const value = cut > 0 ? Number(part.slice(cut + 1)) : 1;
    const isValue = cut > 0 && part.slice(cut + 1).trim() && !Number.isNaN(value);
    const name = (isValue ? part.slice(0, cut) : part).trim();
    if (isFeature(name)) row[name] = isValue ? value : 1;
    else unknown.push(name);
  }
  at("unknown").textContent = unknown.length
    ? `Ignored, unknown to the model: ${unknown.join(", ")}`
    : "";
  return Object.keys(row).length ? row : null;
}

// Unnamed features are numbered from 0.
function isFeature(name) {
  if (about.n_numbers === null) return known.has(name);
  return /^(0|[1-9]\d{0,9})$/.test(name) && Number(name) < about.n_numbers;
}

async function post(path, content, signal) {
  const response = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ model: about.model, ...content }),
    signal,
  });
  const found = await response.json();
  if (!response.ok) throw new Error(found.error);
  return found;
}

async function update() {
  pending?.abort();
  const mine = (pending = new AbortController());
  try {
    const row = typedRow();
    if (row === null) return clear();
    const { labels } = await post("/suggest", { row, k: N_LABELS }, mine.signal);
    showLabels(labels);
    if (!labels.length) return;
    await explain(row, chosen ?? labels[0].label, mine.signal);
  } catch (error) {
    if (error.name !== "AbortError") showError(error);
  }
}

async function explain(row, label, signal) {
  const found = await post("/explain", { row, label, n_rows: 6 }, signal);
  showExplanation(found.labels[0], found.similar, row);
  showUnmarked(found.marked_until ?? {});
  showError(null);
}

function showError(error) {
  at("error").hidden = error === null;
  at("error").textContent = error === null ? "" : error.message;
}

function clear() {
  chosen = null;
  at("labels").replaceChildren();
  for (const id of ["words", "explanation", "why", "error"]) at(id).hidden = true;
  at("hint").hidden = false;
}

function bar(share, className = "bar") {
  const made = element("span", "", className);
  made.style.setProperty("--share", share);
  return made;
}

function showLabels(labels) {
  // Keep the keyboard focus on its label, although the list is replaced.
  const focused = document.activeElement?.dataset?.label;
  const isPredicted = (label) => label.predicted;
  const lines = [];
  for (const [kind, some] of [
    ["predicted", labels.filter(isPredicted)],
    ["less", labels.filter((label) => !isPredicted(label)).slice(0, N_OTHERS)],
  ]) {
    if (kind === "less" && some.length && lines.length)
      lines.push(element("li", "less likely", "rest small quiet"));
    for (const { label, score } of some) {
      const button = element("button", [
        element("span", label, "name"),
        bar(score),
        element("span", `${(100 * score).toFixed(score < 0.1 ? 1 : 0)}%`, "number"),
      ]);
      button.type = "button";
      button.dataset.label = label;
      button.addEventListener("click", () => choose(label));
      lines.push(element("li", button, kind));
    }
  }
  at("labels").replaceChildren(...lines);
  if (focused !== undefined)
    [...at("labels").querySelectorAll("button")].find((b) => b.dataset.label === focused)?.focus();
  at("hint").hidden = true;
  at("why").hidden = false;
  at("status").textContent = labels.length
    ? `${labels.filter(isPredicted).length || "No"} labels predicted; the best is ${labels[0].label}.`
    : "No labels.";
}

async function choose(label) {
  chosen = label;
  try {
    await explain(typedRow(), label);
  } catch (error) {
    showError(error);
  }
}

function showExplanation(label, similar, row) {
  for (const button of at("labels").querySelectorAll("button"))
    button.setAttribute("aria-pressed", String(button.dataset.label === label.label));
  at("explanation").hidden = false;
  at("why-title").textContent = `Why ${label.label}: ${percent(label.score)}`;
  at("from").textContent =
    `Starts at ${percent(label.base)}; each feature adds percentage points.`;
  const largest = Math.max(...label.features.map((feature) => Math.abs(feature.adds)), 1e-9);
  at("features").replaceChildren(
    ...label.features.map(({ feature, value, adds }) => {
      const name = about.is_text || value === null ? feature : `${feature} = ${Number(value.toPrecision(4))}`;
      const share = bar(Math.abs(adds) / largest, adds < 0 ? "bar against" : "bar");
      const th = element("th", name, value === null ? "quiet" : "");
      th.scope = "row";
      return element("tr", [
        th,
        element("td", `${adds < 0 ? "−" : "+"}${(100 * Math.abs(adds)).toFixed(1)}`, "number"),
        element("td", element("span", share, "adds")),
      ]);
    }),
  );
  at("words-title").textContent = `Important words for ${label.label}`;
  showWords(label.words, row);
  at("similar").replaceChildren(
    ...similar.map(({ row: number, id, weight, labels, text }) => {
      const name = id === String(number) ? `row ${number}` : `${id} (row ${number})`;
      const parts = [element("span", `${name}, weight ${percent(weight)}`, "small quiet")];
      if (text !== undefined) parts.push(element("p", text));
      const tags = labels.map((tag) => element("li", tag, tag === label.label ? "tag asked" : "tag"));
      parts.push(element("ul", tags, "tags"));
      return element("li", parts);
    }),
  );
}

function percent(share) {
  return `${(100 * share).toFixed(share < 0.1 ? 1 : 0)}%`;
}

function showWords(words, row) {
  const fields = Object.keys(words).filter((field) => row[field]);
  at("words").hidden = !fields.length;
  const every = fields.flatMap((field) => words[field].map((word) => Math.abs(word.adds)));
  const largest = Math.max(...every, 1e-9);
  const parts = [];
  for (const field of fields) {
    if (fields.length > 1) parts.push(element("h3", field, "small quiet"));
    parts.push(element("div", marked(row[field], words[field], largest)));
  }
  at("marked").replaceChildren(...parts);
}

// Say how much of a long text was searched for words.
function showUnmarked(until) {
  const said = Object.entries(until).map(
    ([field, end]) => `Only the first ${end.toLocaleString("en")} characters of ${field} are highlighted.`,
  );
  at("unmarked").hidden = !said.length;
  at("unmarked").textContent = said.join(" ");
}

function marked(text, words, largest) {
  const characters = Array.from(text); // positions count characters, not UTF-16 code units
  const parts = [];
  let end = 0;
  for (const word of words) {
    if (Math.abs(word.adds) < LEAST_SHARE * largest) continue;
    parts.push(characters.slice(end, word.start).join(""));
    const made = element("mark", characters.slice(word.start, word.end).join(""));
    if (word.adds < 0) made.className = "against";
    made.style.setProperty("--share", Math.abs(word.adds) / largest);
    made.title = `${word.adds < 0 ? "−" : "+"}${(100 * Math.abs(word.adds)).toFixed(1)} points`;
    parts.push(made);
    end = word.end;
  }
  parts.push(characters.slice(end).join(""));
  return parts;
}

ask.addEventListener("input", () => {
  clearTimeout(timer);
  chosen = null;
  timer = setTimeout(update, PAUSE);
});
ask.addEventListener("submit", (event) => event.preventDefault());

at("why").addEventListener("submit", (event) => {
  event.preventDefault();
  const label = at("other").value.trim();
  if (label) choose(label);
});

async function details() {
  const response = await fetch(`/info?model=${encodeURIComponent(about.model)}`);
  return response.json();
}

// Fetch the names of all labels when they are first needed.
at("other").addEventListener(
  "focus",
  async () => {
    if (about.labels > MAX_KNOWN) return;
    // Unnamed labels are numbered from 0: nothing to complete.
    const options = ((await details()).label_names ?? []).map((name) => {
      const option = document.createElement("option");
      option.value = name;
      return option;
    });
    at("known").replaceChildren(...options);
  },
  { once: true },
);

async function start() {
  if (!about.has_inputs && about.n_numbers === null) known = new Set((await details()).fields.map((field) => field.name));
  if (inputs.some((input) => input.value.trim())) update(); // text restored by the browser
}

start();
