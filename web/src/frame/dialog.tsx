import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** A modal dialog, open as long as it is there. Escape and the backdrop close it. */
export function Dialog(props: { title: string; onClose: () => void; children: ComponentChildren }) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => ref.current!.showModal(), []);
  return (
    <dialog
      ref={ref}
      aria-label={props.title}
      onClose={props.onClose}
      onClick={(e) => e.target === ref.current && ref.current!.close()}
    >
      <div class="body">
        <h1>{props.title}</h1>
        {props.children}
      </div>
    </dialog>
  );
}

interface Question {
  title: string;
  text: string;
  yes: string;
  danger?: boolean;
  value?: string; // what is to be edited, if anything
  answer: (value: string | undefined) => void;
}

const question = signal<Question | undefined>(undefined);

/** Asks for a yes; false when the visitor thinks better of it. */
export function confirm(title: string, text: string, yes: string, danger = true): Promise<boolean> {
  return new Promise((done) => {
    question.value = { title, text, yes, danger, answer: (v) => done(v !== undefined) };
  });
}

/** Asks for a line of text; undefined when the visitor thinks better of it. */
export function prompt(title: string, text: string, yes: string, value = ""): Promise<string | undefined> {
  return new Promise((done) => {
    question.value = { title, text, yes, value, answer: done };
  });
}

export function Questions() {
  const q = question.value;
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.select(), [q]);
  if (!q) return null;
  const close = (value?: string) => {
    if (question.value !== q) return;
    question.value = undefined;
    q.answer(value);
  };
  return (
    <Dialog title={q.title} onClose={() => close()}>
      <form
        class="body"
        style={{ padding: 0 }}
        onSubmit={(e) => {
          e.preventDefault();
          close(input.current?.value ?? "");
        }}
      >
        <label class="field">
          {q.text}
          {q.value !== undefined && <input ref={input} class="input" defaultValue={q.value} autofocus required />}
        </label>
        <div class="actions">
          <button type="button" class="button plain" onClick={() => close()}>
            Cancel
          </button>
          <button class={q.danger ? "button danger" : "button primary"}>{q.yes}</button>
        </div>
      </form>
    </Dialog>
  );
}
