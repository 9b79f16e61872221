// Runs of one fire are folded into one line. What is unfolded stays so while the list is
// drawn again, and on the next page.

const KEY = "carillon-unfolded";
const open = new Set(JSON.parse(sessionStorage.getItem(KEY) || "[]"));
const sheet = new CSSStyleSheet();
document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];

function apply() {
  sheet.replaceSync([...open].map((id) => `tr[data-fold="${CSS.escape(id)}"] { --unfolded: table-row; --unfolded-card: grid; }`).join("\n"));
  mark();
}

function mark() {
  for (const b of document.querySelectorAll("[data-fold-of]")) b.setAttribute("aria-expanded", String(open.has(b.dataset.foldOf)));
}

document.addEventListener("click", (e) => {
  const id = e.target.closest?.("[data-fold-of]")?.dataset.foldOf;
  if (!id) return;
  if (!open.delete(id)) open.add(id);
  sessionStorage.setItem(KEY, JSON.stringify([...open].slice(-50)));
  apply();
});

document.addEventListener("htmx:afterSettle", mark);
document.addEventListener("htmx:oobAfterSwap", mark);
apply();
