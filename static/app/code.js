// The script editor: CodeMirror in the place of the text area, Ctrl-S, and the place of
// the cursor kept over saving.

const form = /** @type {HTMLFormElement} */ (document.querySelector("form[data-code]"));
const area = /** @type {HTMLTextAreaElement} */ (form.elements.namedItem("glue_source"));
const remark = /** @type {HTMLInputElement} */ (form.elements.namedItem("glue_remark"));
const host = document.getElementById("code-host");
const place = "carillon:code:" + form.dataset.job;

/** save sends the form, when it is said what was changed. */
function save() {
  if (remark.value.trim() === "") {
    remark.focus();
    return;
  }
  form.requestSubmit(form.querySelector("[data-testid=save-script]"));
}

document.addEventListener("keydown", (e) => {
  if (!(e.ctrlKey || e.metaKey) || e.key.toLowerCase() !== "s" || e.defaultPrevented) return;
  e.preventDefault();
  save();
});

/** start replaces the text area. Where the editor cannot be loaded, the area stays. */
async function start() {
  const { create } = await import(form.dataset.editor);
  const label = form.querySelector("label[for=glue_source]");
  host.hidden = false;
  const view = create(host, { doc: area.value, language: form.dataset.code, label: label.textContent.trim(), save });
  area.hidden = true;
  label.addEventListener("click", () => view.focus());
  form.querySelector(".code-keys").hidden = false;
  form.dataset.ready = "";
  // Whoever reads the form, to send it or to see whether it was changed, gets the text.
  form.addEventListener("formdata", (e) => e.formData.set("glue_source", view.state.doc.toString()));
  form.addEventListener("submit", () => {
    const { head } = view.state.selection.main;
    sessionStorage.setItem(place, JSON.stringify({ head, top: view.scrollDOM.scrollTop }));
  });
  const kept = JSON.parse(sessionStorage.getItem(place) ?? "null");
  sessionStorage.removeItem(place);
  if (kept) {
    view.dispatch({ selection: { anchor: Math.min(kept.head, view.state.doc.length) } });
    requestAnimationFrame(() => { view.scrollDOM.scrollTop = kept.top; });
  }
  if (!form.querySelector(".is-invalid")) view.focus();
  else if (remark.classList.contains("is-invalid")) remark.focus();
}

start();
