// What the script editor needs of CodeMirror, as one file: see scripts/vendor-static.sh.
import { basicSetup } from "codemirror";
import { indentWithTab } from "@codemirror/commands";
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { javascript } from "@codemirror/lang-javascript";
import { php } from "@codemirror/lang-php";
import { python } from "@codemirror/lang-python";
import { groovy } from "@codemirror/legacy-modes/mode/groovy";
import { powerShell } from "@codemirror/legacy-modes/mode/powershell";
import { shell } from "@codemirror/legacy-modes/mode/shell";
import { tags as t } from "@lezer/highlight";

const languages = {
  shell: () => StreamLanguage.define(shell), python, groovy: () => StreamLanguage.define(groovy), javascript, php,
  powershell: () => StreamLanguage.define(powerShell),
};

// Colours come from the page, so that light and dark follow it.
const colours = HighlightStyle.define([
  { tag: [t.keyword, t.operatorKeyword, t.modifier, t.controlKeyword], color: "var(--code-keyword)" },
  { tag: [t.string, t.special(t.string), t.regexp], color: "var(--code-string)" },
  { tag: [t.comment, t.meta], color: "var(--code-comment)" },
  { tag: [t.number, t.bool, t.null, t.atom], color: "var(--code-number)" },
  { tag: [t.definition(t.variableName), t.function(t.variableName), t.className, t.typeName, t.standard(t.name)], color: "var(--code-name)" },
]);

const look = EditorView.theme({
  "&": { height: "100%", fontSize: "13px", color: "var(--c-text)", backgroundColor: "var(--c-card)" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55" },
  ".cm-gutters": { backgroundColor: "var(--c-head)", color: "var(--c-sub)", borderRight: "1px solid var(--c-line)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--code-line)" },
  "&.cm-focused .cm-cursor, .cm-cursor": { borderLeftColor: "var(--c-text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--code-selection)" },
  ".cm-panels, .cm-tooltip": { backgroundColor: "var(--c-head)", color: "var(--c-text)", borderColor: "var(--c-line)" },
  ".cm-textfield": { backgroundColor: "var(--c-card)", color: "var(--c-text)", borderColor: "var(--c-line)" },
  ".cm-button": { backgroundImage: "none", backgroundColor: "var(--c-card)", color: "var(--c-text)", borderColor: "var(--c-line)" },
});

// Typing over a selection is done here: left to itself Chromium keeps the look of what
// was selected in an inline style, which the policy of the console forbids and reports.
const typeOver = EditorView.domEventHandlers({
  beforeinput(e, view) {
    const { main, ranges } = view.state.selection;
    if (e.inputType !== "insertText" || !e.data || main.empty || ranges.length > 1 || view.composing) return false;
    e.preventDefault();
    const insert = () => view.state.update(view.state.replaceSelection(e.data), { userEvent: "input.type", scrollIntoView: true });
    if (!view.state.facet(EditorView.inputHandler).some((h) => h(view, main.from, main.to, e.data, insert))) view.dispatch(insert());
    return true;
  },
});

/**
 * create makes an editor inside a shadow root: only there its style sheets are adopted
 * and need no inline style, which the policy of the console forbids.
 * @param {HTMLElement} host
 * @param {{doc: string, language: string, label: string, save: () => void}} o
 */
export function create(host, o) {
  const root = host.attachShadow({ mode: "open" });
  const parent = root.appendChild(document.createElement("div"));
  parent.style.height = "100%";
  const language = languages[o.language]?.() ?? [];
  return new EditorView({
    root, parent,
    state: EditorState.create({
      doc: o.doc,
      extensions: [
        keymap.of([{ key: "Mod-s", run: () => (o.save(), true), preventDefault: true }, indentWithTab]),
        basicSetup, typeOver, language, syntaxHighlighting(colours), look,
        EditorView.contentAttributes.of({ "aria-label": o.label, spellcheck: "false" }),
      ],
    }),
  });
}
