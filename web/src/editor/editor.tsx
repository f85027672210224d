import "./editor.css";

import { useEffect, useRef } from "preact/hooks";

import type { Editor as Instance, Options } from "./codemirror";

export type { Instance };

export interface EditorProps extends Options {
  value: string;
  class?: string;
  /** Given the editor once it is there, and undefined when it goes. */
  onReady?: (editor: Instance | undefined) => void;
}

/** A code editor. CodeMirror comes when the first one is shown; until then, and
 * where it does not come, the text is in a plain field. */
export function Editor(props: EditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const editor = useRef<Instance>();
  const latest = useRef(props);
  latest.current = props;
  // What was typed comes back as the value, and may be older than what is there by
  // then: it is no order. Taken for one, two values chase each other for ever.
  const echoes = useRef<string[]>([]);
  const ordered = useRef(false);

  useEffect(() => {
    let gone = false;
    import("./codemirror").then(({ createEditor }) => {
      if (gone || !place.current) return;
      editor.current = createEditor(place.current, latest.current.value, {
        ...latest.current,
        onChange: (v) => {
          if (!ordered.current) echoes.current.push(v);
          latest.current.onChange?.(v);
        },
        keys: (props.keys ?? []).map((k, i) => ({ ...k, run: () => latest.current.keys![i]!.run() })),
      });
      latest.current.onReady?.(editor.current);
    });
    return () => {
      gone = true;
      editor.current?.destroy();
      editor.current = undefined;
      latest.current.onReady?.(undefined);
    };
  }, []);

  useEffect(() => {
    const echo = echoes.current.indexOf(props.value);
    echoes.current.splice(0, echo + 1);
    if (echo >= 0) return;
    ordered.current = true;
    editor.current?.setValue(props.value);
    ordered.current = false;
  }, [props.value]);
  useEffect(() => editor.current?.setLanguage(props.language), [props.language]);
  useEffect(() => editor.current?.setLabel(props.label), [props.label]);
  useEffect(() => editor.current?.mark(props.markLine), [props.markLine]);

  return <div class={`editor ${props.class ?? ""}`} ref={place} />;
}
