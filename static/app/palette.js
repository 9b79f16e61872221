// Ctrl-K opens the search over everything; arrows and Enter choose. Work that is not saved
// is not left without a word.

const base = document.body.dataset.base || "";

// --- palette ---------------------------------------------------------------

function openPalette() {
  if (document.getElementById("dialog")?.open) return;
  window.htmx.ajax("GET", base + "/search", { target: "#dialog", swap: "innerHTML" });
}

const links = () => [...document.querySelectorAll("#palette-list a")];

// Whoever types fast presses Enter before the answer is here: then Enter waits for it.
let chosen = false;
const answered = () => document.getElementById("palette-list")?.dataset.of === document.querySelector("[data-palette]")?.value.trim();

document.addEventListener("htmx:afterSwap", (e) => {
  if (!chosen || e.detail.elt.id !== "palette-list" || !answered()) return;
  chosen = false;
  links()[0]?.click();
});
document.addEventListener("input", (e) => { if (e.isTrusted) chosen = false; });
// Letters that came before htmx listened to the field.
document.addEventListener("htmx:load", (e) => {
  const field = e.detail.elt.querySelector?.("[data-palette]");
  if (field && !answered()) window.htmx.trigger(field, "input");
});

// What can be done on this page stands in its buttons already, drawn for those who may. They
// are offered in the palette, too; language, theme and actions of single lines only to who
// types for them.
const ACTIONS = ".heading-actions :is(a[href], button), main .transfer a, main [data-testid=edit-note]";
const EVERYWHERE = "#language-menu button, .topbar button[name=theme]";
const OF_LINES = "main tr :is(a, button)[aria-label]";
const MOST_OF_LINES = 8;

/** @param {Element} el */
const nameOf = (el) => (el.getAttribute("aria-label") ?? el.textContent).replace(/\s+/g, " ").trim();
const shown = (el) => el.getClientRects().length > 0 || el.closest(".menu");

/** @param {string} text */
function actionsFor(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (el) => shown(el) && nameOf(el) && words.every((w) => nameOf(el).toLowerCase().includes(w));
  const of = (selector) => [...document.querySelectorAll(selector)].filter(fits);
  const all = text === "" ? of(ACTIONS) : [...of(ACTIONS), ...of(EVERYWHERE), ...of(OF_LINES).slice(0, MOST_OF_LINES)];
  return [...new Map(all.map((el) => [nameOf(el), el])).values()]; // a menu may repeat a button
}

function offerActions() {
  const list = document.querySelector("#dialog[open] #palette-list");
  if (!list || list.querySelector(".palette-here")) return;
  const all = actionsFor(list.dataset.of);
  if (all.length === 0) return;
  const head = document.createElement("h2");
  head.className = "palette-here";
  head.textContent = list.dataset.here;
  const lines = document.createElement("ul");
  for (const el of all) {
    const line = document.createElement("a");
    line.href = "#main";
    line.dataset.testid = "palette-item";
    const label = document.createElement("span");
    label.className = "ellipsis";
    label.textContent = nameOf(el);
    line.append(label);
    line.addEventListener("click", (e) => {
      e.preventDefault();
      document.getElementById("dialog").close();
      setTimeout(() => el.click(), 0); // the dialog is emptied first: the action may fill it
    });
    const item = document.createElement("li");
    item.append(line);
    lines.append(item);
  }
  list.querySelector(".card-note")?.remove();
  const before = list.dataset.of === "" ? list.querySelector("h2:not([data-part=favourites])") : list.querySelector("h2[data-part=pages], h2[data-part=more]");
  list.insertBefore(lines, before);
  list.insertBefore(head, lines);
}
// Before whoever waits for the answer chooses from it.
document.addEventListener("htmx:afterSwap", offerActions, true);
document.addEventListener("htmx:afterSwap", offerActions); // the dialog is open by now

function mark(at) {
  links().forEach((a, i) => a.classList.toggle("at", i === at));
  links()[at]?.scrollIntoView({ block: "nearest" });
}

document.addEventListener("keydown", (e) => {
  if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === "k") {
    e.preventDefault();
    openPalette();
    return;
  }
  if (!e.target.matches?.("[data-palette]")) return;
  const all = links();
  let at = all.findIndex((a) => a.classList.contains("at"));
  if (e.key === "ArrowDown" || e.key === "ArrowUp") {
    e.preventDefault();
    at = (at + (e.key === "ArrowDown" ? 1 : all.length - 1) + all.length) % all.length;
    mark(at);
  } else if (e.key === "Escape" && document.getElementById("dialog")?.open) {
    e.preventDefault(); // a search field would only be emptied
    document.getElementById("dialog").close();
  } else if (e.key === "Enter") {
    e.preventDefault();
    if (all[at] || answered()) (all[at] ?? all[0])?.click();
    else chosen = true;
  }
});

document.addEventListener("click", (e) => {
  if (!e.target.closest("[data-open-palette]") || !window.htmx) return;
  e.preventDefault();
  openPalette();
});

// --- unsaved work --------------------------------------------------------------

for (const form of document.querySelectorAll("form[data-guard]")) {
  const state = () => new URLSearchParams(new FormData(form)).toString();
  // A form that came back with errors: nothing of it is saved yet.
  const before = form.dataset.guard === "dirty" || form.querySelector(".is-invalid, [data-testid=form-error]") ? "" : state();
  let sent = false;
  form.addEventListener("submit", () => { sent = true; });
  addEventListener("beforeunload", (e) => {
    if (!sent && state() !== before) e.preventDefault();
  });
}
