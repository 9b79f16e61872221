// Lines are walked with j and k; the focus stays where the work is when a line goes away,
// and on the next page of the same list.

const LINES = "main table.tbl > tbody > tr, main .lines > li, main .tree > li, main .lane:not(.hours)";

/** @param {ParentNode} part */
const linesOf = (part) => [...part.querySelectorAll(LINES)].filter((line) => line.getClientRects().length > 0);

/**
 * mainLink is where a line leads: a line of runs is about a run, its job stands only beside it.
 * @param {Element} line
 * @returns {HTMLElement | undefined}
 */
function mainLink(line) {
  const of = line.matches("tr") ? [".c-planned a", ".c-job a", ".name", ".c-object a", ".c-id a"] : ["a[href]"];
  return of.map((selector) => line.querySelector(selector)).find((a) => a?.offsetParent);
}

/**
 * goTo puts the focus on the main link of a line, or on the line when it leads nowhere.
 * @param {HTMLElement} line
 */
function goTo(line) {
  const link = mainLink(line);
  if (!link && !line.hasAttribute("tabindex")) line.tabIndex = -1;
  (link ?? line).focus();
}

document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || (e.key !== "j" && e.key !== "k")) return;
  if (document.getElementById("dialog")?.open || e.target.closest("input:not([type=checkbox]), select, textarea, [contenteditable]")) return;
  const lines = linesOf(document);
  if (lines.length === 0) return;
  const at = lines.indexOf(e.target.closest(LINES));
  const to = at < 0 ? (e.key === "j" ? 0 : lines.length - 1) : at + (e.key === "j" ? 1 : -1);
  goTo(lines[Math.min(lines.length - 1, Math.max(0, to))]);
});

// --- a line that had the focus is gone ----------------------------------------

const controls = (line) => [...line.querySelectorAll("a[href], button, input")].filter((el) => el.getClientRects().length > 0);
let had = null; // where the focus was before a panel was drawn anew

document.addEventListener("htmx:beforeSwap", (e) => {
  const panel = e.detail.target?.closest?.("[data-live]");
  const here = document.activeElement;
  const line = panel?.contains(here) && here.closest(LINES);
  had = line ? { panel: panel.id, at: linesOf(panel).indexOf(line), control: controls(line).indexOf(here) } : null;
});

document.addEventListener("htmx:afterSettle", () => {
  const before = had;
  had = null;
  if (!before || (document.activeElement && document.activeElement !== document.body)) return;
  const { panel, at, control } = before;
  const lines = linesOf(document.getElementById(panel) ?? document);
  const line = lines[Math.min(at, lines.length - 1)];
  if (!line) return document.getElementById("main")?.focus();
  const same = controls(line)[control];
  same ? same.focus() : goTo(line);
});

// The bar of a batch goes away with its ticks: who closes the result goes on where the last
// tick was.
let ticked = "";
document.addEventListener("change", (e) => {
  if (e.target.matches?.("tbody .c-pick input")) ticked = e.target.closest("tr").id;
  if (e.target.matches?.("[data-pick-all]")) ticked = "all";
});
document.addEventListener("carillon:unfocused", () => {
  if (ticked === "") return;
  const head = document.querySelector("[data-pick-all]");
  if (ticked === "all" && head) return head.focus();
  const line = document.getElementById(ticked) ?? linesOf(document)[0];
  if (line) (line.querySelector(".c-pick input") ?? mainLink(line))?.focus();
});

// --- the same list, another page ----------------------------------------------

const KEPT = "carillon-focus";
const keep = (selector) => sessionStorage.setItem(KEPT, selector);

document.addEventListener("click", (e) => {
  const link = e.target.closest?.("main a[href]");
  if (!link || e.detail !== 0) return; // by the mouse: nothing had the focus
  if (link.dataset.back) keep(link.dataset.back);
  else if (link.dataset.testid && link.pathname === location.pathname) keep(`main a[data-testid="${link.dataset.testid}"]`);
});

document.addEventListener("submit", (e) => {
  const form = e.target;
  if (form.dataset.back) keep(form.dataset.back);
  else if (form.method === "get" && !form.hasAttribute("hx-get") && document.activeElement?.id) keep("#" + CSS.escape(document.activeElement.id));
});

const kept = sessionStorage.getItem(KEPT);
sessionStorage.removeItem(KEPT);
if (kept && (!document.activeElement || document.activeElement === document.body)) {
  (document.querySelector(kept) ?? document.getElementById("main"))?.focus({ preventScroll: true });
}
