// Keeps a page fresh: every three seconds it fires an event that the parts
// marked data-live listen to. Paused by hand and while nobody looks.

const EVERY = 3000;
const FAST = 800; // while something is about to begin
let paused = false;
let lost = false;
let updated = Date.now();
let asked = Date.now();
let before = new Map();

const isLive = () => document.querySelector("[data-live]") !== null;

function show() {
  const box = document.getElementById("live");
  if (!box) return;
  box.hidden = !isLive();
  const d = box.dataset;
  const seconds = Math.round((Date.now() - updated) / 1000);
  let text = seconds < 1 ? d.now : d.updated.replace("%", seconds);
  if (lost) text = d.lost;
  if (paused) text = d.paused;
  const age = document.getElementById("live-age");
  if (age.textContent !== text) age.textContent = text;
  const toggle = document.getElementById("live-toggle");
  const word = paused ? d.resume : d.pause;
  if (toggle.textContent !== word) toggle.textContent = word;
  box.querySelector(".dot").className = "dot " + (paused ? "off" : lost ? "bad" : "ok");
}

function tick() {
  if (!paused && !document.hidden && isLive() && Date.now() - asked >= (document.querySelector('[data-live="fast"]') ? FAST : EVERY)) {
    asked = Date.now();
    document.body.dispatchEvent(new CustomEvent("carillon:refresh", { bubbles: true }));
  }
  show();
}

document.addEventListener("click", (e) => {
  if (e.target.id !== "live-toggle") return;
  paused = !paused;
  asked = paused ? asked : 0;
  tick();
});

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) asked = 0;
  tick();
});

const rows = () => new Map([...document.querySelectorAll("tr[data-sig]")].map((r) => [r.id, r.dataset.sig]));

document.addEventListener("htmx:beforeSwap", (e) => {
  if (e.detail.target?.matches?.("[data-live]")) before = rows();
});

document.addEventListener("htmx:afterSettle", () => {
  updated = Date.now();
  lost = false;
  // A row flashes when it was there before and says something else now.
  for (const [id, sig] of rows()) {
    if (before.has(id) && before.get(id) !== sig) {
      const row = document.getElementById(id);
      row.classList.add("flash");
      setTimeout(() => row.classList.remove("flash"), 1600);
    }
  }
  before = new Map();
  show();
});

document.addEventListener("htmx:sendError", () => {
  lost = true;
  show();
});

setInterval(tick, 400);
show();
