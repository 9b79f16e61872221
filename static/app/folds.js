// Folded groups of options: a line says what is set in each while somebody types. The server
// has written the first one.

const form = /** @type {HTMLFormElement} */ (document.querySelector("form:has([data-sums])"));
const field = (name) => /** @type {HTMLInputElement} */ (form.elements.namedItem(name));

/** said is what a field says in the line of its group. */
function said([name, text, skip, needs, zero]) {
  if (needs && /^0*$/.test(field(needs)?.value.trim() ?? "")) return "";
  const boxes = form.querySelectorAll(`[type=checkbox][name="${name}"]`);
  if (boxes.length) {
    const ticked = form.querySelectorAll(`[type=checkbox][name="${name}"]:checked`).length;
    return ticked ? text.replace("%", String(ticked)) : "";
  }
  const control = field(name);
  const value = control?.value.trim() ?? "";
  if (value === "" || value === skip) return "";
  if (value === "0" && zero) return zero;
  const chips = form.querySelectorAll(`[data-chips="${name}"] .chip`);
  const shown = chips.length ? [...chips].map((c) => c.dataset.name ?? c.textContent).join(", ") : control.selectedOptions ? control.selectedOptions[0].text : value;
  return text.replace("%", shown);
}

function lines() {
  for (const fold of form.querySelectorAll("[data-sums]")) {
    const parts = JSON.parse(fold.dataset.sums).map(said).filter(Boolean);
    fold.querySelector(".fold-line").textContent = parts.join(" · ") || fold.parentElement.dataset.none;
  }
}

form.addEventListener("input", lines);
form.addEventListener("change", lines);
lines();
