import { useEffect, useRef } from "preact/hooks";

import { Editor, type Instance } from "../../editor/editor";
import type { Execution } from "../../output/execution";
import { Output, Status } from "../../output/output";
import { Icon, type IconName } from "../../ui/icon";
import type { Session } from "./session";
import type { Cell } from "./store";

export function CellView({ session: s, cell, number }: { session: Session; cell: Cell; number: number }) {
  const place = useRef<HTMLElement>(null);
  const editor = useRef<Instance>();
  const x = s.executions.value[cell.id];
  const selected = s.selected.value === cell.id;
  const running = x?.state.value === "running";
  useFocus(selected, place, editor);
  return (
    <article
      ref={place}
      class="cell"
      tabIndex={-1}
      data-selected={selected}
      aria-label={`Cell ${number}`}
      aria-current={selected}
      onFocusIn={() => (s.selected.value = cell.id)}
      onKeyDown={(e) => e.target === place.current && command(e, s, cell, editor.current)}
    >
      <div class="gutter">
        <button
          class="button small icon plain"
          aria-label={running ? `Interrupt cell ${number}` : `Run cell ${number}`}
          title={running ? "Interrupt" : "Run"}
          onClick={() => (running ? s.interrupt() : void s.run(cell.id))}
        >
          <Icon name={running ? "stop" : "run"} />
        </button>
        <span>{x?.exit?.executionCount ? `[${x.exit.executionCount}]` : ""}</span>
      </div>
      <Editor
        label={`Code of cell ${number}`}
        language={s.language.value}
        value={cell.code}
        lineNumbers={false}
        markLine={x?.exit?.error?.lineNumber}
        onChange={(code) => s.setCode(cell.id, code)}
        onReady={(e) => {
          editor.current = e;
          if (e && s.selected.peek() === cell.id && place.current?.contains(document.activeElement)) e.focus();
        }}
        keys={[
          { key: "Shift-Enter", run: () => s.runAndAdvance() },
          { key: "Mod-Enter", run: () => void s.run(cell.id) },
          { key: "Alt-Enter", run: () => (void s.run(cell.id), s.insert(s.index(cell.id) + 1)) },
          { key: "Escape", run: () => place.current?.focus() },
        ]}
      />
      <Tools session={s} cell={cell} number={number} />
      {x && <Given execution={x} />}
    </article>
  );
}

const long = 1000; // milliseconds after which it is worth saying that a cell is done

/** What a cell gave. A cell that simply did what it should needs no word. */
function Given({ execution: x }: { execution: Execution }) {
  void x.version.value;
  const quiet = x.exit?.status === "exited" && x.exit.exitCode === 0 && x.exit.durationMs < long;
  if (quiet && x.items.length === 0) return null;
  return (
    <div class="given" aria-live="polite" aria-busy={x.state.value === "running"}>
      {!quiet && <Status execution={x} />}
      <Output execution={x} />
    </div>
  );
}

/** Moves the focus along when another cell is selected, into it if we were in one. */
function useFocus(selected: boolean, place: { current: HTMLElement | null }, editor: { current: Instance | undefined }) {
  useEffect(() => {
    const from = document.activeElement;
    if (!selected || !place.current || place.current.contains(from)) return;
    if (from?.closest(".cm-editor")) editor.current ? editor.current.focus() : place.current.focus();
    else if (from?.closest(".cell") || from === document.body) place.current.focus();
    place.current.scrollIntoView({ block: "nearest" });
  }, [selected]);
}

function Tools({ session: s, cell, number }: { session: Session; cell: Cell; number: number }) {
  const Tool = (label: string, icon: IconName, run: () => void) => (
    <button class="button small icon plain" aria-label={`${label} cell ${number}`} title={label} onClick={run}>
      <Icon name={icon} />
    </button>
  );
  return (
    <div class="tools">
      {Tool("Move up", "up", () => s.move(cell.id, -1))}
      {Tool("Move down", "down", () => s.move(cell.id, 1))}
      {Tool("Delete", "trash", () => s.remove(cell.id))}
    </div>
  );
}

let lastD = 0; // when d was pressed: twice deletes

/** Keys of a cell that is selected and not being edited. */
function command(e: KeyboardEvent, s: Session, cell: Cell, editor: Instance | undefined): void {
  if (e.metaKey || e.ctrlKey || e.altKey) return;
  const at = s.index(cell.id);
  const commands: Record<string, () => void> = {
    Enter: () => (e.shiftKey ? s.runAndAdvance() : editor?.focus()),
    ArrowUp: () => (e.shiftKey ? s.move(cell.id, -1) : s.select(-1)),
    ArrowDown: () => (e.shiftKey ? s.move(cell.id, 1) : s.select(1)),
    k: () => s.select(-1),
    j: () => s.select(1),
    a: () => s.insert(at),
    b: () => s.insert(at + 1),
    d: () => {
      if (e.timeStamp - lastD < 600) s.remove(cell.id);
      lastD = e.timeStamp;
    },
  };
  const run = commands[e.key];
  if (!run) return;
  e.preventDefault();
  e.stopPropagation();
  run();
}
