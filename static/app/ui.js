// Toasts, dialog, menus, clock, keyboard and dependent form fields.
// Everything works without this file, only less comfortably.

const $ = (id) => document.getElementById(id);
const base = document.body.dataset.base || "";

// A request that a newer one takes the place of is no error, but htmx tells the console so.
let replaced = false;
document.addEventListener("htmx:abort", () => {
  replaced = true;
  queueMicrotask(() => { replaced = false; });
}, true);
if (window.htmx) window.htmx.logger = (_elt, _event, detail) => { if (replaced) delete detail.error; };

// --- toasts ---------------------------------------------------------------

function armToast(line) {
  const close = document.createElement("button");
  close.type = "button";
  close.className = "toast-close";
  close.textContent = "×";
  close.setAttribute("aria-label", $("toasts").dataset.close);
  close.addEventListener("click", () => line.remove());
  line.append(close);
  const all = [...document.querySelectorAll("#toasts .toast-line")];
  all.slice(0, -3).forEach((old) => old.remove()); // they cover what is below
  // Bad news stays until it is closed; what can be taken back stays a little longer.
  if (!line.classList.contains("bad")) setTimeout(() => line.remove(), line.querySelector(".toast-undo") ? 8000 : 6000);
}

document.querySelectorAll("#toasts .toast-line").forEach(armToast);

// sayInDialog puts a refusal where the person looks: an open dialog covers the toasts.
function sayInDialog(text) {
  const body = document.querySelector("#dialog[open] .dialog-body");
  if (!body) return false;
  body.querySelector(".notice")?.remove();
  const notice = document.createElement("div");
  notice.className = "notice bad";
  notice.setAttribute("role", "alert");
  notice.dataset.testid = "dialog-error";
  notice.textContent = text;
  body.querySelector("h1").after(notice);
  return true;
}

document.addEventListener("carillon:toast", (e) => {
  if (e.detail.Kind === "bad" && sayInDialog(e.detail.Text)) return;
  const line = document.createElement("div");
  line.className = "toast-line " + (e.detail.Kind === "bad" ? "bad" : "ok");
  line.dataset.testid = "toast";
  const text = document.createElement("span");
  text.textContent = e.detail.Text;
  line.append(text);
  if (e.detail.Undo) line.append(undoButton(line, e.detail));
  $("toasts").append(line);
  armToast(line);
});

// undoButton takes back what the toast tells. The answer replaces the line on the page
// that was changed, when it is still there.
function undoButton(toast, { Undo, Row }) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "toast-undo";
  button.dataset.testid = "undo";
  button.textContent = $("toasts").dataset.undo;
  button.addEventListener("click", () => {
    toast.remove();
    const row = Row && $(Row);
    window.htmx.ajax("POST", Undo, row ? { source: row, target: row, swap: "morph:outerHTML" } : { source: document.body, swap: "none" });
  });
  return button;
}

// --- dialog ---------------------------------------------------------------

document.addEventListener("htmx:afterSwap", (e) => {
  const dialog = $("dialog");
  if (!dialog || e.detail.target !== dialog || dialog.open) return;
  document.querySelectorAll(".menu:popover-open").forEach((m) => m.hidePopover());
  dialog.showModal();
});

document.addEventListener("carillon:close", () => $("dialog")?.close());

document.addEventListener("click", (e) => {
  const dialog = $("dialog");
  if (dialog?.open && (e.target === dialog || e.target.closest("#dialog [data-close]"))) {
    e.preventDefault();
    dialog.close();
  }
});

$("dialog")?.addEventListener("close", (e) => {
  e.target.replaceChildren();
  // The button that opened it may be gone by now: the focus goes to the page, not nowhere.
  const lost = () => document.activeElement === document.body || !document.activeElement.getClientRects().length;
  setTimeout(() => {
    if (lost()) document.dispatchEvent(new CustomEvent("carillon:unfocused"));
    if (lost()) $("main")?.focus();
  }, 300);
});

// --- menus ----------------------------------------------------------------

let openedAt = 0; // how far the page was scrolled when a menu was opened

document.addEventListener("beforetoggle", (e) => {
  const menu = e.target;
  if (e.newState !== "open" || !menu.classList?.contains("menu")) return;
  const button = document.querySelector(`[popovertarget="${menu.id}"]`);
  if (!button) return;
  openedAt = scrollY;
  const at = button.getBoundingClientRect();
  menu.style.right = Math.max(8, document.documentElement.clientWidth - at.right) + "px";
  const up = at.top > innerHeight * 0.7;
  menu.style.top = up ? "auto" : at.bottom + 4 + "px";
  menu.style.bottom = up ? innerHeight - at.top + 4 + "px" : "auto";
}, true);

// A menu that hangs at a scrolled-away button looks lost. The end of a scroll that led to the
// button comes after the click on it.
addEventListener("scroll", () => {
  if (Math.abs(scrollY - openedAt) > 8) document.querySelectorAll(".menu:popover-open").forEach((m) => m.hidePopover());
}, { passive: true });

// --- clock ----------------------------------------------------------------

const clock = $("clock");
if (clock) {
  // The center's time goes on with the local one; only the difference counts.
  const ahead = Number(clock.dataset.ms) - Date.now() + Number(clock.dataset.offset) * 1000;
  const tick = () => {
    clock.textContent = new Date(Date.now() + ahead).toISOString().slice(11, 19);
  };
  tick();
  setInterval(tick, 1000);
}

// --- requests -------------------------------------------------------------

document.addEventListener("htmx:configRequest", (e) => {
  if (e.detail.verb !== "get") return;
  // Addresses are bookmarked and shared: keep them short.
  for (const [name, value] of [...e.detail.formData.entries()]) {
    if (value === "") e.detail.formData.delete(name);
  }
});

if (window.Idiomorph) {
  const defaults = window.Idiomorph.defaults;
  // What somebody is typing stays. Of anything else that has the focus, a button for
  // instance, nothing would be drawn anew: it would say what is over.
  Object.defineProperty(defaults, "ignoreActiveValue", {
    enumerable: true,
    get: () => document.activeElement?.matches("input, textarea, select") ?? false,
  });
  // The position of an open menu is ours, the server knows nothing of it.
  // What is ticked stays ticked.
  defaults.callbacks.beforeAttributeUpdated = (name, node) => name !== "style" && !(name === "tabindex" && node.matches("tr, li, .lane")) && !(name === "checked" && node.closest(".c-pick, .batch-bar, .menu"));
}

// --- forms ----------------------------------------------------------------

function showFields(form) {
  form.querySelectorAll("[data-when]").forEach((box) => {
    const value = form.elements[box.dataset.when]?.value;
    box.hidden = box.dataset.is ? !box.dataset.is.split(" ").includes(value) : value === box.dataset.not;
  });
}

document.querySelectorAll("[data-job-form]").forEach((form) => {
  showFields(form);
  form.addEventListener("change", () => showFields(form));
});

// --- addresses of accounts for a field with several -------------------------

document.querySelectorAll("[data-adds]").forEach((box) => {
  const select = box.querySelector("select");
  const text = document.getElementById(box.dataset.adds);
  box.hidden = false;
  box.querySelector("button").addEventListener("click", () => {
    const there = text.value.split(/[\s,;，；]+/).filter(Boolean);
    if (select.value && !there.some((a) => a.toLowerCase() === select.value.toLowerCase())) {
      text.value = [...there, select.value].join("\n");
      text.dispatchEvent(new Event("input", { bubbles: true }));
    }
    select.value = "";
    select.focus();
  });
});

// --- pictures whose parts are links ---------------------------------------

// One of them is in the tab order; the arrow keys go on from it.
document.addEventListener("keydown", (e) => {
  const here = e.target.closest?.("[data-arrows] a");
  if (!here || e.ctrlKey || e.metaKey || e.altKey) return;
  const all = [...here.closest("[data-arrows]").querySelectorAll("a")];
  const at = all.indexOf(here);
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: all.length - 1 }[e.key];
  if (to === undefined || !all[to]) return;
  e.preventDefault();
  all[to].focus();
});

// Who types or chooses before the scripts are there is heard all the same. After Back and
// a reload the browser puts in what was there: nobody asked for that.
document.addEventListener("DOMContentLoaded", () => {
  for (const box of document.querySelectorAll("[data-search]")) {
    if (box.value !== box.defaultValue) box.dispatchEvent(new Event("input", { bubbles: true }));
  }
  if (performance.getEntriesByType("navigation")[0]?.type !== "navigate") return;
  for (const list of document.querySelectorAll("form.filters select")) {
    const drawn = [...list.options].findIndex((o) => o.defaultSelected);
    if (list.selectedIndex !== Math.max(0, drawn)) list.dispatchEvent(new Event("change", { bubbles: true }));
  }
});

// --- reports ----------------------------------------------------------------

document.addEventListener("change", (e) => {
  if (e.target.matches("form[data-autosubmit] select")) e.target.form.requestSubmit();
});
for (const button of document.querySelectorAll("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => print());
}

// --- keyboard -------------------------------------------------------------

const places = { d: "/", j: "/jobs", r: "/runs", e: "/executors", i: "/incidents", t: "/reports", u: "/users", n: "/jobs/new" };
let afterG = 0;

document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || $("dialog")?.open) return;
  if (e.target.closest("input, select, textarea, [contenteditable]")) return;
  const go = Date.now() - afterG < 1200 && places[e.key];
  afterG = 0;
  if (go) {
    location.assign(base + go);
  } else if (e.key === "g") {
    afterG = Date.now();
  } else if (e.key === "/") {
    const box = document.querySelector("[data-search], #log-search");
    if (box) {
      e.preventDefault();
      box.focus();
      box.select();
    }
  } else if (e.key === "?") {
    location.assign(base + "/help");
  } else if (e.key === "p") {
    $("live-toggle")?.click();
  }
});
