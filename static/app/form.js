// The job form: hints of the chosen option, children as chips, and the choice in a conflict. All of it works without, by number and
// by list.

const form = /** @type {HTMLFormElement} */ (document.querySelector("[data-testid=job-form]"));
const field = (name) => /** @type {HTMLInputElement} */ (form.elements.namedItem(name));

// --- hints -----------------------------------------------------------------------

for (const box of form.querySelectorAll("[data-hints]")) {
  const hints = JSON.parse(box.dataset.hints);
  const select = field(box.dataset.for);
  select.addEventListener("change", () => {
    const small = document.getElementById(box.dataset.for + "-hint");
    if (small) small.textContent = hints[select.value] ?? "";
  });
}

// --- children ----------------------------------------------------------------------

const chips = /** @type {HTMLElement} */ (form.querySelector("[data-chips]"));
const ids = field("child_ids");
const names = new Map();

function drawChips() {
  const list = ids.value.split(/[,，\s]+/).filter(Boolean);
  chips.replaceChildren(...list.map((id) => {
    const chip = document.createElement("span");
    chip.className = "chip";
    chip.dataset.id = id;
    chip.dataset.name = names.get(id) ?? "#" + id;
    chip.append(chip.dataset.name);
    const remove = document.createElement("button");
    remove.type = "button";
    remove.className = "link";
    remove.textContent = "×";
    remove.setAttribute("aria-label", chips.dataset.remove.replace("%", chip.dataset.name));
    remove.addEventListener("click", () => {
      setChildren(list.filter((other) => other !== id));
      document.getElementById("child-search").focus();
    });
    chip.append(remove);
    return chip;
  }));
}

function setChildren(list) {
  ids.value = list.join(",");
  ids.dispatchEvent(new Event("input", { bubbles: true }));
}

for (const chip of chips.querySelectorAll(".chip")) names.set(chip.dataset.id, chip.textContent);
ids.addEventListener("input", drawChips);
drawChips();
chips.hidden = false;
form.querySelector("[data-pick]").hidden = false;

const search = document.getElementById("child-search");
const found = document.getElementById("child-found");
found.addEventListener("click", (e) => {
  const job = e.target.closest(".found-job");
  if (!job) return;
  names.set(job.dataset.id, job.dataset.name);
  const list = ids.value.split(/[,，\s]+/).filter(Boolean);
  if (!list.includes(job.dataset.id)) setChildren([...list, job.dataset.id]);
  search.value = "";
  found.replaceChildren();
  search.focus();
});
search.addEventListener("input", (e) => e.stopPropagation());
search.addEventListener("change", (e) => e.stopPropagation());
search.addEventListener("keydown", (e) => {
  const all = [...found.querySelectorAll(".found-job")];
  if (e.key === "Enter") {
    e.preventDefault(); // it would save the job
    all[0]?.click();
  } else if (e.key === "Escape") {
    found.replaceChildren();
  } else if (e.key === "ArrowDown") {
    e.preventDefault();
    all[0]?.focus();
  }
});

// --- conflict ------------------------------------------------------------------------

for (const row of form.querySelectorAll("[data-take]")) {
  const control = field(row.dataset.take);
  const mine = row.querySelector(`[value="mine"]`);
  if (!control) continue;
  row.addEventListener("change", (e) => {
    control.value = e.target.dataset.value;
    control.dispatchEvent(new Event(control.tagName === "SELECT" ? "change" : "input", { bubbles: true }));
    if (e.target.value === "theirs") e.target.checked = true; // the event above was no typing
  });
  const typed = (e) => {
    if (e.isTrusted) mine.checked = true;
  };
  control.addEventListener("input", typed);
  control.addEventListener("change", typed);
}

// Tags that other jobs have are added by a click.
for (const box of document.querySelectorAll("[data-tags]")) {
  const input = document.getElementById(box.dataset.tags);
  box.hidden = box.children.length === 0;
  box.addEventListener("click", (e) => {
    const button = e.target.closest("button");
    if (!button) return;
    const have = input.value.split(/[,，、]/).map((t) => t.trim()).filter(Boolean);
    input.value = [...have, button.textContent].join(", ");
    input.dispatchEvent(new Event("input", { bubbles: true }));
    input.dispatchEvent(new Event("change", { bubbles: true }));
    button.remove();
    input.focus();
    box.hidden = box.children.length === 0;
  });
}
