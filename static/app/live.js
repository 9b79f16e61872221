// Keeps a page fresh: every three seconds it fires an event that the parts
// marked data-live listen to, less often on a page that nobody has touched for
// two minutes. Paused by hand and while nobody looks.

const EVERY = 3000;
const FAST = 800; // while something is about to begin
const LEFT_ALONE = 120_000;
const SELDOM = 15_000;
let touched = Date.now();
let paused = sessionStorage.getItem("carillon-paused") === "1"; // on the next page, too
let lost = false;
let updated = Date.now();
let asked = Date.now();
let before = rows();
const have = new Map(); // what the server said that a panel shows, by its id

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

function pause() {
  if (document.querySelector('[data-live="fast"]')) return FAST;
  return Date.now() - touched < LEFT_ALONE ? EVERY : SELDOM;
}

for (const type of ["pointermove", "pointerdown", "keydown", "wheel", "focus"]) {
  addEventListener(type, () => (touched = Date.now()), { passive: true });
}

function tick() {
  const typing = document.querySelector("dialog[open] form"); // a login that ended must not lead away from it
  if (!paused && !document.hidden && !typing && isLive() && Date.now() - asked >= pause()) {
    asked = Date.now();
    document.body.dispatchEvent(new CustomEvent("carillon:refresh", { bubbles: true }));
  }
  show();
}

document.addEventListener("click", (e) => {
  if (e.target.id !== "live-toggle") return;
  paused = !paused;
  sessionStorage.setItem("carillon-paused", paused ? "1" : "");
  asked = paused ? asked : 0;
  tick();
});

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) {
    asked = 0;
    touched = Date.now();
  }
  tick();
});

function rows() {
  return new Map([...document.querySelectorAll("tr[data-sig]")].map((r) => [r.id, r.dataset.sig]));
}

// A row flashes when it was there before and says something else now.
function flash() {
  const now = rows();
  for (const [id, sig] of now) {
    if (before.has(id) && before.get(id) !== sig) {
      const row = document.getElementById(id);
      row.classList.add("flash");
      setTimeout(() => row.classList.remove("flash"), 1600);
    }
  }
  before = now;
}

document.addEventListener("htmx:configRequest", (e) => {
  const panel = e.detail.elt;
  if (!panel.matches("[data-live]")) return;
  // What the panel says now: htmx learns of a new address only some time after the swap, and
  // a poll in between would bring the list of before.
  e.detail.path = panel.getAttribute("hx-get");
  const known = have.get(panel.id);
  if (known) e.detail.headers["Carillon-Have"] = known;
});

document.addEventListener("htmx:beforeSwap", (e) => {
  const parts = e.detail.xhr.getResponseHeader("Carillon-Parts");
  const panel = e.detail.requestConfig?.target ?? e.detail.target;
  if (parts && panel?.matches?.("[data-live]")) have.set(panel.id, parts);
});

// A list that is being read does not move: no line comes while the pointer is over it, it
// has the focus, text is selected or the page is scrolled. Lines that are there go on
// changing, and a button says how many are new.
function isRead(panel) {
  if (panel.dataset.hold === undefined || panel.dataset.flow) return false;
  const table = panel.querySelector("table");
  const at = document.activeElement; // on a box that is not ticked nobody reads: a batch has been closed
  const inside = panel.contains(at) && !at.matches(".c-pick input:not(:checked), [data-pick-all]:not(:checked)");
  return (table?.matches(":hover") || panel.querySelector(".c-pick input:checked, .menu:popover-open") || inside || scrollY > 60 || !getSelection().isCollapsed) ?? false;
}

function holdBack(panel, html) {
  const fresh = new DOMParser().parseFromString(html, "text/html");
  let n = 0;
  for (const row of fresh.querySelectorAll("tr[id]")) {
    const old = document.getElementById(row.id);
    if (!old) n++;
    else if (old.outerHTML !== row.outerHTML) window.Idiomorph.morph(old, row.outerHTML, { morphStyle: "outerHTML" });
  }
  const button = panel.querySelector(".new-rows");
  button.textContent = panel.dataset.hold.replace("%", n);
  button.hidden = n === 0;
  flash();
}

document.addEventListener("htmx:beforeSwap", (e) => {
  const panel = e.detail.target;
  const poll = e.detail.requestConfig?.triggeringEvent?.type === "carillon:refresh";
  if (!poll || !panel?.matches?.("[data-hold]") || e.detail.xhr.getResponseHeader("HX-Reswap") || !isRead(panel)) return;
  e.detail.shouldSwap = false;
  have.delete(panel.id); // it shows something else than the server has just said
  holdBack(panel, e.detail.serverResponse);
});

document.addEventListener("click", (e) => {
  const panel = e.target.closest(".new-rows")?.closest("[data-hold]");
  if (!panel) return;
  panel.dataset.flow = "1";
  scrollTo({ top: 0 });
  asked = 0;
  tick();
});

document.addEventListener("htmx:afterRequest", (e) => {
  if (!e.detail.successful) return;
  updated = Date.now();
  lost = false;
  show();
});

document.addEventListener("htmx:oobAfterSwap", () => requestAnimationFrame(flash));
document.addEventListener("htmx:afterSettle", () => {
  flash();
  relate();
  show();
});

// What is "3 min ago" goes on by itself, by the clock of the center.
const words = JSON.parse(document.body.dataset.rel || "null");
const clock = document.getElementById("clock");
const ahead = clock ? Number(clock.dataset.ms) - Date.now() : 0;

function span(s) {
  const two = (big, a, small, b) => words[big].replace("%", a) + (b ? " " + words[small].replace("%", b) : "");
  if (s < 60) return words.s.replace("%", s);
  if (s < 3600) return two("m", Math.floor(s / 60), "s", s % 60);
  if (s < 86400) return two("h", Math.floor(s / 3600), "m", Math.floor((s % 3600) / 60));
  if (s < 864000) return two("d", Math.floor(s / 86400), "h", Math.floor((s % 86400) / 3600));
  return words.d.replace("%", Math.floor(s / 86400));
}

function relate() {
  if (!words) return;
  const now = Date.now() + ahead;
  for (const time of document.querySelectorAll("time[data-rel]")) {
    const s = Math.trunc((Date.parse(time.dateTime) - now) / 1000);
    const text = s >= 1 ? words.in.replace("%", span(s)) : s > -1 ? words.now : words.ago.replace("%", span(-s));
    if (time.textContent !== text) time.textContent = text;
  }
}
setInterval(() => document.hidden || paused || relate(), 1000);

document.addEventListener("htmx:sendError", () => {
  lost = true;
  show();
});

setInterval(tick, 400);
show();
