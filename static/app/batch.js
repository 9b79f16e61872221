// Many at once: all lines of a page, a range with Shift, how many are ticked.

// Folded lines count only when they are ticked.
const boxes = () => [...document.querySelectorAll("tbody .c-pick input")].filter((b) => b.checked || b.offsetParent);
let last = null;

function show() {
  const all = boxes();
  const n = all.filter((b) => b.checked).length;
  for (const el of document.querySelectorAll("[data-picked]")) el.textContent = n;
  const head = document.querySelector("[data-pick-all]");
  if (!head) return;
  head.checked = n > 0 && n === all.length;
  head.indeterminate = n > 0 && n < all.length;
}

document.addEventListener("click", (e) => {
  const box = e.target;
  if (box.matches?.("[data-pick-all]")) boxes().forEach((b) => { b.checked = box.checked; });
  if (box.matches?.("tbody .c-pick input")) {
    const all = boxes();
    const from = all.indexOf(last);
    if (e.shiftKey && from >= 0) {
      const to = all.indexOf(box);
      all.slice(Math.min(from, to), Math.max(from, to) + 1).forEach((b) => { b.checked = box.checked; });
    }
    last = box;
  }
  show();
});

// What was done is done: the lines are let go.
document.addEventListener("carillon:batch", () => {
  boxes().forEach((b) => { b.checked = false; });
  for (const all of document.querySelectorAll(".batch-bar [name=all]")) all.checked = false;
  show();
});
document.addEventListener("htmx:afterSettle", show);
show();

// Long work goes on piece by piece. Who ends it waits for the piece that is under way, so
// that what was done is known.
let ending = false;
document.addEventListener("click", (e) => {
  const button = e.target.closest?.("[data-batch-stop]");
  if (!button) return;
  e.preventDefault();
  ending = true;
  button.disabled = true;
});
document.addEventListener("htmx:configRequest", (e) => {
  if (!ending || !e.detail.elt.matches("[data-batch-progress]")) return;
  e.detail.formData.set("stop", "1");
  ending = false;
});
