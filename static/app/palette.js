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
