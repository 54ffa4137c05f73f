// The page of `insync explore`: sends clicks and typed commands to the server, and shows its answers.
// Every text is set as text; the one piece of HTML from the server, the drawn state, is escaped there.

const $ = (id) => document.getElementById(id);
let tab = sessionStorage.getItem("tab");
let shown = null;        // the last answer with a state
let tree = [];           // the visited states: [the number of the parent, the label]
let reasons = new Map(); // why steps are disabled, by their number
let busy = false;

async function post(asked) {
  const answer = await fetch("do", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ tab, known: tree.length, ...asked }),
  });
  if (answer.headers.get("content-type")?.startsWith("application/json")) return answer.json();
  return { error: `The server says: ${await answer.text()}` };
}

async function ask(asked) {
  if (busy) {
    if (!$("stop").hidden) say("A search is at work; Stop, or the key Esc, ends it.");
    return null;
  }
  busy = true;
  document.body.setAttribute("aria-busy", "true");
  try {
    const told = await post(asked);
    tab = told.tab ?? tab;
    say(told.error ?? told.message ?? "", "error" in told);
    if ("state" in told) show(told);
    return told;
  } catch {
    say("The server does not answer. Start `insync explore` again; the address of this state is after the # above.", true);
    return null;
  } finally {
    busy = false;
    document.body.removeAttribute("aria-busy");
  }
}

function say(text, wrong = false) {
  $("message").textContent = text;
  $("message").classList.toggle("error", wrong);
}

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "on") made.addEventListener("click", value);
    else if (value !== false && value != null) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child != null));
  return made;
}

// ------------------------------------------------------------------------------------------------------------ showing

function show(told) {
  const focused = focusedStep();
  shown = told;
  if (told.tree) tree = [...tree.slice(0, told.tree.from), ...told.tree.states].slice(0, told.tree.total);
  reasons = new Map();
  const depth = told.depth === 1 ? "1 step" : `${told.depth} steps`;
  $("place").textContent = told.depth ? `After ${depth}: ${told.label}` : `State at the ${told.label}`;
  $("drawn").innerHTML = told.state;
  $("address").placeholder = told.address;
  $("back").disabled = $("restart").disabled = !told.depth;
  $("forward").disabled = !told.ahead;
  $("undo").disabled = !told.undo;
  $("start").hidden = told.starts === 1 || told.starts === null;
  $("starts").textContent = `of 0 to ${told.starts - 1}`;
  showSteps();
  showProperties();
  showPath();
  showTree();
  history.replaceState(null, "", `#${told.address}`); // this forces a layout, so it comes last
  if (focused !== null) focusStep(Math.min(focused, stepButtons().length - 1));
  explain(told.address);
}

function showSteps() {
  const wanted = $("filter").value.toLowerCase();
  const steps = shown.steps.filter((step) => step.label.toLowerCase().includes(wanted));
  const can = steps.filter((step) => step.enabled);
  const cannot = steps.filter((step) => !step.enabled);
  $("enabled").replaceChildren(...can.map((step, at) => element("li", {}, stepButton(step, at))));
  $("none").hidden = can.length > 0;
  $("none").textContent = wanted ? "No such step can be taken here." : "No step can be taken here.";
  $("disabled-title").textContent = `Not enabled: ${cannot.length}`;
  $("disabled").replaceChildren(...cannot.map((step) => element("li", {}, notEnabled(step))));
}

function stepButton(step, at) {
  const note = step.refused ? "refused" : step.same ? "changes nothing" : "visited" in step ? "visited" : "";
  const kind = step.refused ? "note refused" : "note";
  return element("button", { type: "button", class: "step", on: () => ask({ command: "take", number: step.number }) },
    element("kbd", {}, String(at + 1)), element("span", {}, step.label),
    note && element("span", { class: kind, title: step.refused }, note));
}

function notEnabled(step) {
  const made = element("details", { "data-number": step.number },
    element("summary", {}, step.label, element("span", { class: "short" }, "")));
  made.addEventListener("toggle", () => fillGuard(made, step.number));
  return made;
}

async function explain(address) {
  const told = await post({ command: "why" }).catch(() => null);
  if (!told?.reasons || shown?.address !== address || told.of !== address) return;
  reasons = new Map(told.reasons.map((why) => [why.number, why]));
  fillReasons();
}

function fillReasons() {
  for (const made of $("disabled").querySelectorAll("details")) {
    const why = reasons.get(Number(made.dataset.number));
    if (why) made.querySelector(".short").textContent = why.reason;
    if (why && made.open) fillGuard(made, why.number);
  }
}

function fillGuard(made, number) {
  const why = reasons.get(number);
  made.querySelector(".guard")?.remove();
  made.querySelector(".short").hidden = made.open;
  if (!made.open || !why) return;
  const lines = [];
  why.guard.forEach(([text, holds, written], at) => {
    lines.push(element("li", { class: holds ? "true" : "false", title: written },
      element("span", { class: "word" }, holds ? "holds" : "FAILS"), ` ${text}`));
    if (at !== why.first) return;
    const because = [];
    if (why.bindings.length) because.push(`for ${why.bindings.join(", ")}`);
    if (why.culprit) because.push(`of which: ${why.culprit}`);
    for (const [path, value] of why.values) because.push(`${path} = ${value}`);
    if (written) because.push(`written as ${written}`);
    for (const text of because) lines.push(element("li", { class: "because" }, text));
  });
  made.append(element("ul", { class: "guard", "aria-label": "The guard" }, ...lines));
}

function showProperties() {
  const line = (one) => {
    const word = one.holds === null ? "no step yet" : one.holds ? "holds" : one.ofSteps ? "broken by this step" : "fails";
    const kind = one.holds === null ? "soft" : one.holds ? "holds" : "fails";
    return element("li", { title: one.says }, element("span", { class: kind }, word), ` ${one.name}`,
      one.reason && element("span", { class: "says" }, one.reason));
  };
  const [watched, others] = [true, false].map((yes) => shown.properties.filter((one) => one.watched === yes));
  const failing = others.filter((one) => one.holds === false);
  $("watched").replaceChildren(...watched.map(line));
  $("others").querySelector("summary").textContent =
    `${others.length} not watched${failing.length ? `, of which fail here: ${failing.map((one) => one.name).join(", ")}` : ""}`;
  $("others").hidden = !others.length && !shown.notShown.length;
  $("others").querySelector("ul").replaceChildren(...others.map(line));
  $("others").querySelector("p").textContent = shown.notShown.length
    ? `About whole runs, so not shown: ${shown.notShown.join(", ")}.` : "";
}

function visit(number) {
  return element("button",
    { type: "button", "aria-current": number === shown.number && "step", on: () => ask({ command: "go", number }) },
    tree[number][1]);
}

function showPath() {
  if (!shown.path) {
    $("path").replaceChildren(element("li", {}, "too many states were visited to list the way here"));
    return;
  }
  $("path").replaceChildren(...shown.path.map((number) => element("li", {}, visit(number))));
  const last = $("path").lastElementChild;
  $("path").scrollTop = last.offsetTop;
}

function showTree() {
  const branches = shown.tree && tree.length !== shown.path.length;
  $("tree-title").hidden = $("tree").hidden = !branches && shown.tree !== null;
  if (!shown.tree || tree.length > 600) {
    $("tree").textContent = `${shown.tree?.total ?? "Many"} states were visited, too many to be drawn as a tree.`;
    return;
  }
  const after = tree.map(() => []);
  const roots = [];
  tree.forEach(([before], number) => (before === null ? roots : after[before]).push(number));
  // Only branches are indented.
  const list = (numbers) => element("ul", {}, ...numbers.flatMap((number) => chain(number)));
  const chain = (number) => {
    const items = [];
    while (true) {
      items.push(element("li", {}, visit(number)));
      if (after[number].length !== 1) break;
      number = after[number][0];
    }
    if (after[number].length > 1) for (const one of after[number]) items.push(element("li", {}, list([one])));
    return items;
  };
  $("tree").replaceChildren(list(roots));
}

// --------------------------------------------------------------------------------------------------------- the steps

const stepButtons = () => [...$("enabled").querySelectorAll("button")];

function focusedStep() {
  const at = stepButtons().indexOf(document.activeElement);
  return at < 0 ? null : at;
}

function focusStep(at) {
  const buttons = stepButtons();
  (buttons[Math.max(0, Math.min(at, buttons.length - 1))] ?? $("back")).focus();
}

// ------------------------------------------------------------------------------------------------------- the commands

const back = () => ask({ command: "back" });
const forward = () => ask({ command: "forward" });
const undo = () => ask({ command: "undo" });
const restart = () => ask({ command: "back", steps: Math.max(1, shown?.depth ?? 1) });

async function copy() {
  try {
    await navigator.clipboard.writeText(shown.address);
    say(`Copied: ${shown.address}. Whoever has the same model goes there with --at, or by "Go to".`);
  } catch {
    say(`The address of this state: ${shown.address}`);
  }
}

async function save() {
  const told = await ask({ command: "save" });
  if (!told?.content) return;
  const link = element("a", { download: told.file });
  link.href = URL.createObjectURL(new Blob([told.content], { type: "application/json" }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

async function search(asked) {
  if (busy) return null;
  $("stop").hidden = false;
  say("Searching; a model is compiled before its first search.");
  const watch = setInterval(async () => {
    const told = await post({ command: "progress" }).catch(() => ({}));
    if (told.searching && told.states && busy) say(`Searching: ${told.states.toLocaleString("en")} states, ${told.level - 1} steps on.`);
  }, 500);
  const told = await ask(asked);
  clearInterval(watch);
  $("stop").hidden = true;
  return told;
}

async function find() {
  $("condition-error").hidden = true;
  const text = $("condition").value;
  const told = await search({ command: "find", condition: text, states: $("states").value, seconds: $("seconds").value });
  if (told?.error === undefined || told.at === undefined) return;
  const [from, to] = [told.at, Math.min(text.length, told.at + told.length)];
  $("condition-error").replaceChildren(
    element("span", {}, text.slice(0, from)), element("mark", {}, text.slice(from, to) || "…"), text.slice(to));
  $("condition-error").hidden = false;
  $("condition").setSelectionRange(from, to);
  $("condition").focus();
}

const stop = () => post({ command: "stop" });

const commands = {
  back, forward, undo, restart, copy, save, stop, help: () => $("helping").showModal(),
};
for (const [id, command] of Object.entries(commands)) $(id).addEventListener("click", command);

const forms = {
  find,
  violation: () => search({ command: "violation", name: $("property").value, seconds: $("seconds").value }),
  walk: () => ask({ command: "walk", steps: $("length").value, seed: $("seed").value }),
  at: () => ask({ command: "at", address: $("address").value }),
  start: () => ask({ command: "start", number: $("initial").value }),
  load: () => {},
};
for (const [id, command] of Object.entries(forms)) {
  $(id).addEventListener("submit", (event) => {
    event.preventDefault();
    command();
  });
}
$("file").addEventListener("change", async () => {
  const [file] = $("file").files;
  if (file) await ask({ command: "load", name: file.name, content: await file.text() });
  $("file").value = "";
});
$("filter").addEventListener("input", () => {
  showSteps();
  fillReasons();
});

// ------------------------------------------------------------------------------------------------------------ the keys

const keys = {
  ArrowLeft: back, Backspace: back, ArrowRight: forward, Home: restart, u: undo, y: copy, s: save,
  "?": commands.help,
  "/": () => $("filter").focus(),
  f: () => $("condition").focus(),
  w: () => $("length").focus(),
  ArrowDown: () => focusStep((focusedStep() ?? -1) + 1),
  ArrowUp: () => focusStep((focusedStep() ?? 1) - 1),
};

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || $("helping").open) return;
  const typing = event.target.matches("input:not([type=checkbox]), select, textarea");
  if (event.key === "Escape") {
    if (busy) stop();
    else if (typing) focusStep(0);
    return;
  }
  if (typing || !$("keys").checked) return;
  const digit = /^[1-9]$/.test(event.key) ? Number(event.key) : 0;
  const command = digit ? () => stepButtons()[digit - 1]?.click() : keys[event.key];
  if (!command) return;
  event.preventDefault();
  command();
});

$("keys").checked = localStorage.getItem("keys") !== "off";
$("keys").addEventListener("change", () => localStorage.setItem("keys", $("keys").checked ? "on" : "off"));

// A malformed encoding is sent as it stands: the server refuses it with a sentence.
function addressAsked() {
  const written = location.hash.slice(1);
  try {
    return decodeURIComponent(written);
  } catch {
    return written;
  }
}

addEventListener("hashchange", () => {
  const wanted = addressAsked();
  if (shown && wanted && wanted !== shown.address) ask({ command: "at", address: wanted });
});

// ----------------------------------------------------------------------------------------------------------- the start

const told = await ask({ command: "open", address: addressAsked() });
if (told?.tab) {
  sessionStorage.setItem("tab", tab);
  const model = told.model;
  $("seconds").value = told.seconds;
  document.title = `${model.name} - insync explore`;
  $("model").textContent = `insync explore ${model.name}`;
  const list = (pairs) => pairs.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]);
  $("settings").querySelector("dl").replaceChildren(...list(model.settings));
  $("settings").hidden = !model.settings.length;
  $("names").querySelector("dl").replaceChildren(...list([
    ["Fields", model.fields.join(", ")], ["Members", model.members.join(", ") || "none"],
    ["Kinds", model.kinds.join(", ") || "none"], ["Properties", model.properties.join(", ")],
    ["Words", model.words.join(", ")],
  ]));
  $("property").replaceChildren(...model.violable.map((name) => element("option", {}, name)));
  if (document.activeElement === document.body) focusStep(0);
}
