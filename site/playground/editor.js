// The editor: CodeMirror with the words, notes and mistakes that cuvee knows.

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, bracketMatching, foldGutter, foldKeymap, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, highlightActiveLineGutter, hoverTooltip, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { markdown } from "./markdown.js";

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--code-key)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--code-text)" },
  { tag: [tags.comment, tags.lineComment], color: "var(--code-comment)", fontStyle: "italic" },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword, tags.atom], color: "var(--code-value)" },
  { tag: [tags.labelName, tags.typeName], color: "var(--code-value)" },
]);

/** What lies over the colours of the page, which an editor inherits. */
const theme = EditorView.theme({
  "&": { flex: "1", minWidth: "0", height: "100%", fontSize: "13px", color: "var(--vp-c-text-1)", backgroundColor: "transparent" },
  "&.cm-focused": { outline: "2px solid var(--vp-c-brand-1)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--vp-font-family-mono)", lineHeight: "1.55" },
  ".cm-content": { caretColor: "var(--vp-c-text-1)" },
  ".cm-cursor": { borderLeftColor: "var(--vp-c-text-1)" },
  ".cm-gutters": { backgroundColor: "transparent", border: "0", color: "var(--vp-c-text-2)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--vp-c-brand-soft)" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": { background: "rgba(9, 105, 218, 0.24)" },
  ".cm-selectionMatch": { backgroundColor: "rgba(9, 105, 218, 0.14)" },
  ".cm-tooltip": { background: "var(--vp-c-bg-elv)", color: "var(--vp-c-text-1)", border: "1px solid var(--vp-c-divider)", borderRadius: "6px", boxShadow: "var(--vp-shadow-3)", fontSize: "13px", maxWidth: "min(560px, 90vw)" },
  ".note": { padding: "8px 12px", maxHeight: "40vh", overflow: "auto", lineHeight: "1.5" },
  ".note p": { margin: "0 0 4px" },
  ".note ul": { margin: "0", paddingLeft: "18px" },
  ".cm-tooltip-autocomplete > ul": { fontFamily: "var(--vp-font-family-mono)", fontSize: "12.5px" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": { background: "var(--vp-c-brand-3)", color: "#fff" },
  ".cm-completionDetail": { color: "var(--vp-c-text-2)", fontStyle: "normal", marginLeft: "10px" },
  "li[aria-selected] .cm-completionDetail": { color: "#fff" },
  ".cm-panels": { background: "var(--vp-c-bg-soft)", color: "var(--vp-c-text-1)", borderColor: "var(--vp-c-divider)" },
  ".cm-diagnosticText": { whiteSpace: "pre-wrap" },
  ".cm-diagnosticSource": { opacity: "1", color: "var(--vp-c-text-2)" },
  ".cm-diagnosticAction": { background: "var(--vp-c-brand-3)", color: "#fff", minHeight: "24px", borderRadius: "4px", fontSize: "12px" },
  ".cm-foldPlaceholder": { background: "var(--vp-c-bg-alt)", borderColor: "var(--vp-c-divider)", color: "var(--vp-c-text-2)" },
});

const look = [
  theme,
  lineNumbers(),
  foldGutter(),
  drawSelection(),
  bracketMatching(),
  syntaxHighlighting(colours),
  yaml(),
  EditorView.lineWrapping,
  highlightSelectionMatches(),
  search({ top: true }),
];

/** Where an editor's style is its own: there, it needs no style element, which the policy of the page forbids. */
const rootIn = (parent) => parent.shadowRoot ?? parent.attachShadow({ mode: "open" });

const named = (label) => EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" });

const at = (state, { line, character }) => {
  if (line >= state.doc.lines) return state.doc.length;
  const { from, to } = state.doc.line(line + 1);
  return Math.min(from + character, to);
};
const position = (state, offset) => {
  const line = state.doc.lineAt(offset);
  return { line: line.number - 1, character: offset - line.from };
};

const KINDS = { keyname: "property", type: "class", name: "variable", member: "property", operator: "function", option: "keyword", value: "enum" };

/** An editor in `parent`: `changed` is told each text, `ask` answers what may be written at a place and what stands there. */
export function makeEditor(parent, { changed, ask }) {
  const complete = async (context) => {
    const found = await ask("complete", position(context.state, context.pos));
    if (context.aborted || !found || found.suggestions.length === 0) return null;
    const from = at(context.state, found.range.start);
    if (!context.explicit && from === context.pos && !/[\s[{,:]$/.test(context.state.sliceDoc(Math.max(0, from - 1), from))) return null;
    const options = found.suggestions.map(({ label, insert, kind, detail }) => ({ label, apply: insert, type: KINDS[kind], detail: detail ?? undefined }));
    return { from, to: at(context.state, found.range.end), options, validFor: /^[\w.:-]*$/ };
  };
  const hover = hoverTooltip(async (view, offset) => {
    const found = await ask("hover", position(view.state, offset));
    if (!found) return null;
    const create = () => {
      const dom = markdown(found.markdown);
      dom.className = "note";
      return { dom };
    };
    return { pos: at(view.state, found.range.start), end: at(view.state, found.range.end), above: true, create };
  });
  const extensions = [
    look,
    history(),
    indentOnInput(),
    indentUnit.of("  "),
    closeBrackets(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    lintGutter(),
    autocompletion({ override: [complete], icons: false }),
    hover,
    // The key Tab moves on to what is next on the page.
    keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap, ...completionKeymap, ...lintKeymap]),
    EditorView.updateListener.of((update) => update.docChanged && changed(update.state.doc.toString())),
  ];
  const stateOf = (text, path) => EditorState.create({ doc: text, extensions: [extensions, named(`Text of ${path}`)] });
  const states = new Map();
  const root = rootIn(parent);
  const view = new EditorView({ parent: root, root });
  let shown;
  return {
    view,
    /** Shows a file; what was undone and selected in it is as it was. */
    show(path, text) {
      if (shown !== undefined) states.set(shown, view.state);
      const kept = states.get(path);
      view.setState(kept?.doc.toString() === text ? kept : stateOf(text, path));
      shown = path;
    },
    /** Forgets the files that were shown. */
    forget() {
      states.clear();
      shown = undefined;
    },
    place: () => position(view.state, view.state.selection.main.head),
    select({ start, end }) {
      const selection = { anchor: at(view.state, start), head: at(view.state, end) };
      view.dispatch({ selection, effects: EditorView.scrollIntoView(selection.anchor, { y: "center" }) });
      view.focus();
    },
    replace({ start, end }, text) {
      view.dispatch({ changes: { from: at(view.state, start), to: at(view.state, end), insert: text } });
    },
    /** Marks mistakes in the file that is shown. */
    mark(found) {
      const diagnostics = found.map(({ severity, code, message, help, range, fix }) => ({
        from: at(view.state, range.start),
        to: at(view.state, range.end),
        severity: severity === "note" ? "info" : severity,
        source: code,
        message: help && !fix ? `${message}\n${help}` : message,
        actions: fix ? [{ name: `Replace by ${fix.replacement}`, apply: (target) => target.dispatch({ changes: { from: at(target.state, fix.range.start), to: at(target.state, fix.range.end), insert: fix.replacement } }) }] : [],
      }));
      view.dispatch(setDiagnostics(view.state, diagnostics));
    },
    end: () => view.destroy(),
  };
}

/** A text that can be read, searched and copied, but not changed. */
export function makeViewer(parent, label) {
  const extensions = [look, EditorState.readOnly.of(true), keymap.of([...defaultKeymap, ...searchKeymap, ...foldKeymap]), named(label)];
  const root = rootIn(parent);
  const view = new EditorView({ parent: root, root, doc: "", extensions });
  return {
    show(text) {
      const old = view.state.doc.toString();
      if (old === text) return;
      // Only what differs is changed, so that the place stays where it is.
      let start = 0;
      while (start < Math.min(old.length, text.length) && old[start] === text[start]) start += 1;
      let end = 0;
      while (end < Math.min(old.length, text.length) - start && old[old.length - 1 - end] === text[text.length - 1 - end]) end += 1;
      view.dispatch({ changes: { from: start, to: old.length - end, insert: text.slice(start, text.length - end) } });
    },
    end: () => view.destroy(),
  };
}
