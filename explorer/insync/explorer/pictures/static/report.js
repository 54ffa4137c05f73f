"use strict";
(() => {
  const articles = [...document.querySelectorAll("article")].filter((article) => article.querySelector(".steps"));
  let active = articles[0];

  const stepsOf = (article) => [...article.querySelectorAll(".steps > li[data-step]")];
  const picked = (article) => article.querySelector(".steps > li.picked");

  // Of a state between the first and the last only the rows that the step has changed are in the file.
  function complete(step) {
    if (!("part" in step.dataset)) return;
    const steps = stepsOf(step.closest("article"));
    const whole = steps[0].querySelectorAll("tr").length;
    const rows = new Map([...step.querySelectorAll("tr")].map((row) => [Number(row.dataset.at), row]));
    for (let at = steps.indexOf(step) - 1; at >= 0 && rows.size < whole; at--) {
      [...steps[at].querySelectorAll("tr")].forEach((row, place) => {
        const column = "at" in row.dataset ? Number(row.dataset.at) : place;
        if (!rows.has(column)) rows.set(column, asUnchanged(row.cloneNode(true)));
      });
    }
    const body = step.querySelector("tbody") || step.querySelector("table").appendChild(document.createElement("tbody"));
    body.replaceChildren(...[...rows.keys()].sort((one, other) => one - other).map((column) => rows.get(column)));
    delete step.dataset.part;
  }

  function asUnchanged(row) {
    row.className = "same";
    row.removeAttribute("id");
    for (const beside of row.querySelectorAll(".mark-beside")) beside.remove();
    for (const moved of row.querySelectorAll(".moved")) moved.classList.remove("moved");
    for (const box of row.querySelectorAll(".box.new")) box.classList.replace("new", "same");
    for (const piece of row.querySelectorAll(".new")) piece.classList.remove("new");
    for (const gone of row.querySelectorAll(".gone")) {
      const log = gone.closest(".log");
      const bar = log && log.querySelector(".watermark");
      if (bar && gone.compareDocumentPosition(bar) & Node.DOCUMENT_POSITION_FOLLOWING) {
        gone.className = "box missing";
        gone.textContent = "none";
      } else (gone.closest("li") || gone).remove();
    }
    for (const [holder, inside, text] of [[".log", ".box", "empty"], ["td.text", ".piece", "{}"]]) {
      const place = row.querySelector(holder);
      if (!place || place.querySelector(inside) || place.querySelector(".soft")) continue;
      for (const list of place.querySelectorAll("ul")) list.remove();
      const said = document.createElement("span");
      said.className = "soft";
      said.textContent = text;
      place.append(said);
    }
    return row;
  }

  function inWords(step) {
    const changed = [...step.querySelectorAll("tr.changed")].map(
      (row) => `${row.cells[0].textContent}: ${[...row.cells].slice(1).map((cell) => cell.textContent).join(" ").trim()}`);
    const label = step.querySelector(".label").textContent;
    return `${step.dataset.step}, ${label}. ${step.querySelector(".strip").getAttribute("aria-label")}. ${changed.join("; ")}`;
  }

  function pick(step, focus) {
    const article = step.closest("article");
    active = article;
    complete(step);
    const before = picked(article);
    if (before && before !== step) {
      before.classList.remove("picked");
      before.querySelector(".pick").removeAttribute("aria-current");
    }
    step.classList.add("picked");
    const button = step.querySelector(".pick");
    button.setAttribute("aria-current", "step");
    if (focus) {
      button.focus({ preventScroll: true });
      const state = step.querySelector(".state");
      const last = getComputedStyle(state).position === "static" ? state : button;
      const top = button.getBoundingClientRect().top - article.querySelector(".heads").getBoundingClientRect().height - 4;
      const below = last.getBoundingClientRect().bottom - window.innerHeight + 8;
      if (top < 0) window.scrollBy(0, top);
      else if (below > 0) window.scrollBy(0, Math.min(top, below));
      const said = article.querySelector(".said-aloud");
      if (said) said.textContent = inWords(step);
    }
  }

  function move(article, by) {
    const steps = stepsOf(article);
    const at = steps.indexOf(picked(article));
    const loop = article.dataset.loop;
    let next = at + by;
    if (next >= steps.length && loop !== undefined) next = Math.min(Number(loop) + 1, steps.length - 1);
    if (next < 0 || next >= steps.length) return false;
    pick(steps[next], true);
    return true;
  }

  document.addEventListener("keydown", (event) => {
    if (!active || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.target instanceof Element && event.target.closest("input, textarea, select, [contenteditable]")) return;
    const steps = stepsOf(active);
    let done = false;
    if (["ArrowDown", "ArrowRight", "j"].includes(event.key)) done = move(active, 1);
    else if (["ArrowUp", "ArrowLeft", "k"].includes(event.key)) done = move(active, -1);
    else if (event.key === "Home") { pick(steps[0], true); done = true; }
    else if (event.key === "End") { pick(steps[steps.length - 1], true); done = true; }
    if (done) event.preventDefault();
  });

  document.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    if (!target) return;
    const packed = target.closest(".packed");
    if (packed && "DecompressionStream" in window) { event.preventDefault(); save(packed); return; }
    const button = target.closest(".pick");
    if (button) { pick(button.closest("li"), true); return; }
    const strip = target.closest(".strip");
    if (strip && strip.closest("li[data-step]")) { pick(strip.closest("li"), true); return; }
    const back = target.closest("[data-back]");
    if (back) { pick(document.getElementById(back.dataset.back), true); event.preventDefault(); return; }
    const ref = target.closest(".ref");
    if (ref) {
      const first = document.getElementById(ref.getAttribute("href").slice(1));
      if (first) { pick(first.closest("li"), false); first.scrollIntoView({ block: "nearest" }); event.preventDefault(); }
    }
  });

  async function save(link) {
    const packed = Uint8Array.from(atob(link.href.split(",")[1]), (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const saved = document.createElement("a");
    saved.href = URL.createObjectURL(await new Response(stream).blob());
    saved.download = link.download.replace(/\.gz$/, "");
    saved.click();
    setTimeout(() => URL.revokeObjectURL(saved.href), 10000);
  }

  function name(ref, on) {
    for (const id of ref.dataset.points.split(" ")) {
      const box = document.getElementById(id);
      if (box) box.classList.toggle("named", on);
    }
  }
  for (const ref of document.querySelectorAll(".ref[data-points]")) {
    for (const [kind, on] of [["mouseenter", true], ["focus", true], ["mouseleave", false], ["blur", false]]) {
      ref.addEventListener(kind, () => name(ref, on));
    }
  }
  for (const article of articles) article.addEventListener("focusin", () => { active = article; });

  const wanted = location.hash && document.getElementById(location.hash.slice(1));
  if (wanted && wanted.matches("li[data-step]")) pick(wanted, true);
})();
