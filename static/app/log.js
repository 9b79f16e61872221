// The log of a run: follows the stream, numbers the lines, finds text. Lines
// are only ever written as text, never as HTML.

const KEEP = 20000; // lines kept in the page; the download has all

const box = document.getElementById("log");
const list = document.getElementById("log-lines");
const note = document.getElementById("log-note");
const state = document.getElementById("log-state");
const search = document.getElementById("log-search");
const wrap = document.getElementById("log-wrap");
const follow = document.getElementById("log-follow");
const words = box.dataset;

let last = 0;
let total = 0;
let following = true;
let problem = "";
let ended = false;

const levels = [
  ["error", /\b(ERROR|FATAL|SEVERE|PANIC|CRITICAL|Exception|Traceback)\b/],
  ["warn", /\b(WARN|WARNING)\b/],
  ["debug", /\b(DEBUG|TRACE)\b/],
];

function line(number, text) {
  const item = document.createElement("li");
  item.value = number;
  item.dataset.n = number;
  const level = levels.find(([, re]) => re.test(text));
  if (level) item.className = level[0];
  item.textContent = text === "" ? "\u00a0" : text;
  return item;
}

function show() {
  const matches = search.value ? list.querySelectorAll(".hit").length : -1;
  const parts = [];
  if (total > 0) parts.push(words.lines.replace("%", total.toLocaleString("en")));
  parts.push(ended ? words.complete : words.streaming);
  if (matches >= 0) parts.push(words.matches.replace("%", matches));
  state.textContent = parts.join(" · ");
  note.textContent = problem || (total === 0 ? (ended ? words.empty : words.waiting) : list.dataset.cut ? words.cut : "");
  note.className = "log-note" + (problem ? " bad" : "");
}

function mark(item) {
  const text = search.value.toLowerCase();
  item.classList.toggle("hit", text !== "" && item.textContent.toLowerCase().includes(text));
}

function append({ from, content }) {
  const texts = content.replace(/\r/g, "").replace(/\n$/, "").split("\n");
  const some = document.createDocumentFragment();
  texts.forEach((text, i) => {
    const number = from + i;
    if (number <= last) return; // sent again after a reconnect
    const item = line(number, text);
    mark(item);
    some.append(item);
    last = number;
    total = number;
  });
  list.append(some);
  while (list.childElementCount > KEEP) {
    list.firstElementChild.remove();
    list.dataset.cut = "1";
  }
  if (following) box.scrollTop = box.scrollHeight;
}

const source = new EventSource(words.stream);
source.addEventListener("lines", (e) => {
  problem = "";
  append(JSON.parse(e.data));
  show();
});
source.addEventListener("problem", (e) => {
  problem = JSON.parse(e.data);
  show();
});
source.addEventListener("end", () => {
  ended = true;
  source.close();
  show();
  tail();
});

// tail puts what the log says last where the page says why the run failed: the last lines
// that look like errors, else the last lines. Each leads to its place.
const TAIL = 5;

function tail() {
  const box = document.getElementById("run-tail");
  if (!ended || !box || box.childElementCount === 0 || list.childElementCount === 0) return;
  const lines = [...list.children].slice(-200);
  const bad = lines.filter((l) => l.classList.contains("error"));
  const shown = (bad.length ? bad : lines).slice(-TAIL);
  box.querySelector("ol").replaceChildren(...shown.map((l) => {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = "#log";
    link.textContent = l.dataset.n + "  " + l.textContent;
    link.addEventListener("click", (e) => {
      e.preventDefault();
      setFollow(false);
      list.querySelector(".here")?.classList.remove("here");
      l.classList.add("here");
      l.scrollIntoView({ block: "center" });
    });
    item.append(link);
    return item;
  }));
  box.hidden = false;
}
document.addEventListener("htmx:afterSettle", tail);
addEventListener("pagehide", () => source.close());

search.addEventListener("input", () => {
  for (const item of list.children) mark(item);
  const first = list.querySelector(".hit");
  if (first) {
    setFollow(false);
    first.scrollIntoView({ block: "center" });
  }
  show();
});

let at = -1;
search.addEventListener("keydown", (e) => {
  if (e.key !== "Enter") return;
  e.preventDefault();
  const hits = list.querySelectorAll(".hit");
  if (hits.length === 0) return;
  at = (at + (e.shiftKey ? hits.length - 1 : 1)) % hits.length;
  list.querySelector(".here")?.classList.remove("here");
  hits[at].classList.add("here");
  hits[at].scrollIntoView({ block: "center" });
});

wrap.addEventListener("click", () => {
  wrap.setAttribute("aria-pressed", String(box.classList.toggle("wrap")));
});

function setFollow(on) {
  following = on;
  follow.setAttribute("aria-pressed", String(on));
  if (on) box.scrollTop = box.scrollHeight;
}

follow.addEventListener("click", () => setFollow(!following));

// Scrolling up is wanting to read; reaching the end is wanting to follow.
box.addEventListener("wheel", (e) => {
  if (e.deltaY < 0) setFollow(false);
}, { passive: true });
box.addEventListener("scroll", () => {
  if (!following && box.scrollTop + box.clientHeight >= box.scrollHeight - 4) setFollow(true);
});

show();
