import "./notebooks.css";

import { useEffect } from "preact/hooks";

import type { PageProps } from "../../app";
import { languages } from "../../api/run";
import { useShortcuts } from "../../frame/keys";
import { place } from "../../frame/router";
import { Page } from "../../frame/shell";
import { visible } from "../../output/visible";
import { Icon } from "../../ui/icon";
import { notebookAt } from "./address";
import { CellView } from "./cell";
import { List } from "./list";
import { type Session, session } from "./session";
import { nameProblem } from "./store";

export default function NotebooksPage({ rest }: PageProps) {
  const name = notebookAt(rest, place.value);
  return nameProblem(name) ? <List /> : <NotebookView key={name} session={session(name)} />;
}

function NotebookView({ session: s }: { session: Session }) {
  useEffect(() => {
    const keep = () => s.leave();
    addEventListener("pagehide", keep);
    return () => removeEventListener("pagehide", keep);
  }, [s]);
  useSleep(s);
  useShortcuts([
    { keys: "Shift+Enter", does: "Run the cell, go to the next", run: () => s.runAndAdvance() },
    { keys: "Mod+Enter", does: "Run the cell", run: () => void s.run(s.selected.value) },
    { keys: "Alt+Enter", does: "Run the cell, insert one below", run: () => s.insert(s.index(s.selected.value) + 1) },
    { keys: "Mod+.", does: "Interrupt, keep the variables", run: () => s.interrupt(), inText: true },
    { keys: "Escape", does: "Leave the cell’s text" },
    { keys: "Enter", does: "Go into the cell’s text" },
    { keys: "a", does: "Insert a cell above", run: () => s.insert(s.index(s.selected.value)) },
    { keys: "b", does: "Insert a cell below", run: () => s.insert(s.index(s.selected.value) + 1) },
    { keys: "d d", does: "Delete the cell", run: () => s.remove(s.selected.value) },
  ]);
  return (
    <Page title={visible(s.name)} class="notebook" tools={<Tools session={s} />}>
      {s.kernel.lost.value && (
        <p class="note warn" role="status">
          {s.kernel.lost.value}
        </p>
      )}
      {s.elsewhere.value && (
        <p class="note">The cells of this notebook are in another browser. What they left in its sandbox is here: new cells go on from there.</p>
      )}
      {s.kernel.sleeps && <Asleep session={s} />}
      {s.cells.value.map((cell, i) => (
        <CellView key={cell.id} session={s} cell={cell} number={i + 1} />
      ))}
      <div class="between">
        <button class="button plain" onClick={() => s.insert(s.cells.value.length)}>
          <Icon name="plus" /> Add a cell
        </button>
      </div>
    </Page>
  );
}

const again = 20_000; // milliseconds between looks whether the notebook sleeps

/** Looks whether the notebook sleeps, while it is shown and nothing runs in it. */
function useSleep(s: Session) {
  useEffect(() => {
    const leave = new AbortController();
    const look = () => document.hidden || s.running || void s.kernel.look(leave.signal);
    look();
    const timer = setInterval(look, again);
    return () => {
      clearInterval(timer);
      leave.abort();
    };
  }, [s]);
}

function Asleep({ session: s }: { session: Session }) {
  return (
    <div class="note asleep">
      <span>This notebook is asleep: it is on disk, with all its variables. The next cell wakes it.</span>
      <button class="button small" onClick={() => void s.wake()}>
        <Icon name="sun" size={14} /> Wake it
      </button>
    </div>
  );
}

function KernelState({ session: s }: { session: Session }) {
  const is = s.kernel.is.value;
  return (
    <span role="status" class="kernel">
      {is && (
        <span class={`badge ${is.look}`} title={is.says}>
          <span class="visually-hidden">Kernel: </span>
          {is.word}
        </span>
      )}
    </span>
  );
}

function Tools({ session: s }: { session: Session }) {
  return (
    <div class="toolbar">
      <select class="select" aria-label="Language" value={s.language.value} onChange={(e) => s.setLanguage(e.currentTarget.value)}>
        {languages.map((l) => (
          <option value={l.name}>{l.label}</option>
        ))}
      </select>
      <button class="button primary" onClick={() => s.runAndAdvance()}>
        <Icon name="run" /> Run
      </button>
      <button class="button" onClick={() => void s.runAll()}>
        Run all
      </button>
      <button class="button" disabled={!s.running} onClick={() => s.interrupt()}>
        <Icon name="stop" /> Interrupt
      </button>
      <KernelState session={s} />
      <span class="gap" />
      <button class="button plain" onClick={() => s.clearOutputs()}>
        Clear outputs
      </button>
      <button class="button plain" onClick={() => void s.restart()}>
        <Icon name="restart" /> Restart
      </button>
    </div>
  );
}
