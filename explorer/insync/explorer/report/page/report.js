"use strict";
(() => {
  const articles = [...document.querySelectorAll("article")].filter((article) => article.querySelector(".steps"));
  let active = articles[0];

  const stepsOf = (article) => [...article.querySelectorAll(".steps > li[data-step]")];
  const picked = (article) => article.querySelector(".steps > li.picked");

  function pick(step, focus) {
    const article = step.closest("article");
    active = article;
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
      if (said) said.textContent = step.querySelector(".unseen.change").textContent;
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
