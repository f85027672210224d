import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { HighlightStyle, bracketMatching, foldGutter, foldKeymap, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, type Extension, StateEffect, StateField } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  EditorView,
  drawSelection,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
  placeholder,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";

import { languageSupport } from "./languages";

export interface Options {
  language: string; // see languages.ts
  label: string; // for who cannot see it
  onChange?: (value: string) => void;
  keys?: { key: string; run: () => void }[];
  markLine?: number; // one that failed
  readOnly?: boolean;
  placeholder?: string;
  autofocus?: boolean;
  lineNumbers?: boolean;
}

export interface Editor {
  setValue(value: string): void;
  setLanguage(name: string): void;
  setLabel(label: string): void;
  mark(line: number | undefined): void;
  /** Puts the cursor at the start of a line and shows it. */
  goTo(line: number): void;
  focus(): void;
  destroy(): void;
}

const setMark = StateEffect.define<{ line: number; looks: "cm-failed" | "cm-asked" } | undefined>();

const marked = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, tr) {
    for (const effect of tr.effects) {
      if (effect.is(setMark)) {
        const at = effect.value;
        if (!at || at.line < 1 || at.line > tr.state.doc.lines) return Decoration.none;
        return Decoration.set([Decoration.line({ class: at.looks }).range(tr.state.doc.line(at.line).from)]);
      }
    }
    return tr.docChanged ? Decoration.none : marks;
  },
  provide: (f) => EditorView.decorations.from(f),
});

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword, tags.controlKeyword], color: "var(--code-keyword)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: "var(--code-string)" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: "var(--code-number)" },
  { tag: [tags.comment, tags.meta], color: "var(--code-comment)", fontStyle: "italic" },
  { tag: [tags.function(tags.variableName), tags.function(tags.definition(tags.variableName)), tags.definition(tags.function(tags.variableName)), tags.propertyName, tags.attributeName], color: "var(--code-name)" },
  { tag: [tags.className, tags.typeName, tags.tagName, tags.standard(tags.variableName)], color: "var(--code-type)" },
  { tag: tags.heading, fontWeight: "650" },
  { tag: tags.strong, fontWeight: "650" },
  { tag: tags.emphasis, fontStyle: "italic" },
  { tag: tags.link, textDecoration: "underline" },
  { tag: tags.invalid, color: "var(--bad)" },
]);

export function createEditor(parent: HTMLElement, value: string, options: Options): Editor {
  const language = new Compartment();
  const label = new Compartment();
  let destroyed = false;
  const view = new EditorView({
    parent,
    state: EditorState.create({ doc: value, extensions: [extensions(options, language), label.of(labelled(options.label))] }),
  });
  const load = (name: string) =>
    languageSupport(name).then((support) => {
      if (!destroyed) view.dispatch({ effects: language.reconfigure(support) });
    });
  void load(options.language);
  if (options.autofocus) view.focus();
  const editor: Editor = {
    setValue(next) {
      const now = view.state.doc.toString();
      if (next !== now) view.dispatch({ changes: { from: 0, to: now.length, insert: next } });
    },
    setLanguage: (name) => void load(name),
    setLabel: (text) => view.dispatch({ effects: label.reconfigure(labelled(text)) }),
    mark: (line) => view.dispatch({ effects: setMark.of(line ? { line, looks: "cm-failed" } : undefined) }),
    goTo(line) {
      const at = view.state.doc.line(Math.min(Math.max(line, 1), view.state.doc.lines)).from;
      view.dispatch({ selection: { anchor: at }, effects: [EditorView.scrollIntoView(at, { y: "center" }), setMark.of({ line, looks: "cm-asked" })] });
    },
    focus: () => view.focus(),
    destroy() {
      destroyed = true;
      view.destroy();
    },
  };
  if (options.markLine) editor.mark(options.markLine);
  return editor;
}

function labelled(label: string): Extension {
  return EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false" });
}

function extensions(options: Options, language: Compartment): Extension[] {
  const nonce = document.querySelector<HTMLMetaElement>("meta[name=csp-nonce]")?.content ?? "";
  return [
    EditorView.cspNonce.of(nonce),
    options.lineNumbers === false ? [] : [lineNumbers(), highlightActiveLineGutter(), foldGutter()],
    keymap.of((options.keys ?? []).map((k) => ({ key: k.key, run: () => (k.run(), true), preventDefault: true }))),
    highlightSpecialChars(),
    history(),
    drawSelection(),
    indentOnInput(),
    indentUnit.of(options.language === "python" ? "    " : "  "),
    bracketMatching(),
    closeBrackets(),
    autocompletion({ activateOnTyping: false }),
    highlightActiveLine(),
    highlightSelectionMatches(),
    syntaxHighlighting(colours),
    marked,
    // Tab moves on after Escape, so that the keyboard is not trapped.
    keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap, ...completionKeymap, indentWithTab]),
    EditorView.lineWrapping,
    EditorState.readOnly.of(options.readOnly ?? false),
    options.placeholder ? placeholder(options.placeholder) : [],
    language.of([]),
    EditorView.updateListener.of((u) => {
      if (u.docChanged) options.onChange?.(u.state.doc.toString());
    }),
  ];
}
