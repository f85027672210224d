// An open notebook: its cells, what runs, what can be undone.

import { signal } from "@preact/signals";

import { request } from "../../api/http";
import { runCode } from "../../api/run";
import { remember, remembered } from "../../frame/memory";
import { tell, tellError } from "../../frame/notices";
import { asked, attach } from "../../output/attach";
import { Execution } from "../../output/execution";
import { Kernel } from "./kernel";
import { type Cell, type Notebook, firstCells, newCell, open, save } from "./store";

const patience = 2000; // milliseconds that a notebook without cells waits for the gateway to know it

export class Session {
  readonly cells;
  readonly language;
  readonly selected;
  /** What each cell gave last, by its id. */
  readonly executions = signal<Record<string, Execution>>({});
  readonly kernel;
  /** Whether its sandbox was there before, and its cells are not here. */
  readonly elsewhere = signal(false);
  private saving = 0;

  constructor(readonly name: string) {
    const nb = open(name);
    this.kernel = new Kernel(name);
    this.cells = signal<Cell[]>(nb?.cells ?? []);
    this.language = signal(nb?.language ?? "python");
    this.selected = signal(nb?.cells[0]!.id ?? "");
    void this.begin();
  }

  /** Shows what the cells gave, unless that would wake a notebook that sleeps. */
  private async begin(): Promise<void> {
    const there = await this.kernel.look(AbortSignal.timeout(patience));
    if (this.cells.value.length === 0) this.beginAnew(there);
    else if (!this.kernel.sleeps) this.takeUp();
  }

  private beginAnew(there: boolean | undefined): void {
    this.cells.value = firstCells(there === false);
    this.selected.value = this.cells.value[0]!.id;
    this.elsewhere.value = there === true;
  }

  async wake(): Promise<void> {
    try {
      await this.kernel.wake();
      this.takeUp();
    } catch (err) {
      tellError("It could not be woken", err);
    }
  }

  /** What is still known of executions that an earlier visit began. */
  private takeUp(): void {
    for (const [id, location] of Object.entries(this.locations())) {
      if (this.executions.value[id] || !this.cells.value.some((c) => c.id === id)) continue;
      const x = new Execution();
      this.executions.value = { ...this.executions.value, [id]: x };
      void attach(x, location).then((known) => known || this.drop(id, x));
    }
  }

  /** Shows nothing where nothing is known any more. */
  private drop(id: string, x: Execution): void {
    if (this.executions.value[id] !== x) return;
    const { [id]: _, ...others } = this.executions.value;
    this.executions.value = others;
    this.noteLocation(id, null);
  }

  private locations(): Record<string, string> {
    return remembered<Record<string, string>>(`outputs.${this.name}`) ?? {};
  }

  private noteLocation(id: string, location: string | null): void {
    const known = this.locations();
    if (location) known[id] = location;
    else delete known[id];
    remember(`outputs.${this.name}`, known);
  }

  save(): void {
    clearTimeout(this.saving);
    this.saving = window.setTimeout(() => this.saveNow(), 300);
  }

  /** Keeps what was changed and is not kept yet, before the page goes. */
  leave(): void {
    if (this.saving) this.saveNow();
  }

  saveNow(): void {
    clearTimeout(this.saving);
    this.saving = 0;
    const nb: Notebook = { name: this.name, language: this.language.value, cells: this.cells.value, changed: Date.now() };
    if (!save(nb)) tell("This browser has no room to keep the notebook");
  }

  index(id: string): number {
    return this.cells.value.findIndex((c) => c.id === id);
  }

  setCode(id: string, code: string): void {
    this.cells.value = this.cells.value.map((c) => (c.id === id ? { ...c, code } : c));
    this.save();
  }

  setLanguage(language: string): void {
    this.language.value = language;
    this.save();
  }

  insert(at: number, cell = newCell()): void {
    this.cells.value = [...this.cells.value.slice(0, at), cell, ...this.cells.value.slice(at)];
    this.selected.value = cell.id;
    this.save();
  }

  move(id: string, by: number): void {
    const from = this.index(id);
    const to = from + by;
    if (to < 0 || to >= this.cells.value.length) return;
    const cells = [...this.cells.value];
    cells.splice(to, 0, ...cells.splice(from, 1));
    this.cells.value = cells;
    this.save();
  }

  remove(id: string): void {
    const at = this.index(id);
    const cell = this.cells.value[at];
    if (!cell) return;
    const rest = this.cells.value.filter((c) => c.id !== id);
    this.cells.value = rest.length ? rest : [newCell()];
    this.selected.value = this.cells.value[Math.min(at, this.cells.value.length - 1)]!.id;
    this.save();
    tell("The cell was deleted", { label: "Undo", run: () => this.insert(at, cell) });
  }

  select(by: number): void {
    const at = this.index(this.selected.value) + by;
    const cell = this.cells.value[Math.min(Math.max(at, 0), this.cells.value.length - 1)];
    if (cell) this.selected.value = cell.id;
  }

  get running(): boolean {
    return Object.values(this.executions.value).some((x) => x.state.value === "running");
  }

  /** Runs a cell to its end; false when it failed. */
  async run(id: string): Promise<boolean> {
    const cell = this.cells.value[this.index(id)];
    if (!cell || this.executions.value[id]?.state.value === "running") return false;
    const x = new Execution();
    this.executions.value = { ...this.executions.value, [id]: x };
    this.saveNow();
    const slept = this.kernel.sleeps;
    this.noteLocation(id, asked);
    // What runs goes on when the page is reloaded, which then takes it up again.
    const query = { notebook: this.name, language: this.language.value, onDisconnect: "continue" };
    try {
      await runCode("/notebook", query, { code: cell.code }, {
        onStart: (location) => {
          x.location = location ?? undefined;
          this.noteLocation(id, location);
        },
        onConnection: (connected) => (x.connected.value = connected),
        onEvent: (e) => {
          if (e.type === "start") this.kernel.started(e.start, e.restart);
          if (e.type === "start" && slept) this.takeUp();
          x.take(e);
        },
      });
    } catch (err) {
      if (!x.location) this.noteLocation(id, null);
      x.fail(err);
    }
    return x.exit?.status === "exited" && x.exit.exitCode === 0;
  }

  async runAll(): Promise<void> {
    for (const cell of [...this.cells.value]) {
      this.selected.value = cell.id;
      if (!(await this.run(cell.id))) return;
    }
  }

  /** Runs the selected cell and goes to the next, which is made if there is none. */
  runAndAdvance(): void {
    const id = this.selected.value;
    const at = this.index(id);
    void this.run(id);
    if (at === this.cells.value.length - 1) this.insert(at + 1);
    else this.selected.value = this.cells.value[at + 1]!.id;
  }

  interrupt(): void {
    this.steer("POST", "/notebook/interrupt", "It could not be interrupted");
  }

  async restart(): Promise<void> {
    if (await this.steer("DELETE", "/notebook", "The kernel could not be restarted")) this.kernel.restarted();
  }

  private async steer(method: string, path: string, failed: string): Promise<boolean> {
    try {
      await request(path, { method, query: { notebook: this.name, language: this.language.value } });
      return true;
    } catch (err) {
      tellError(failed, err);
      return false;
    }
  }

  clearOutputs(): void {
    const running = Object.entries(this.executions.value).filter(([, x]) => x.state.value === "running");
    this.executions.value = Object.fromEntries(running);
    for (const c of this.cells.value) if (!this.executions.value[c.id]) this.noteLocation(c.id, null);
  }
}

const sessions = new Map<string, Session>();

/** The session of a notebook; what runs in it goes on while another page is shown. */
export function session(name: string): Session {
  let s = sessions.get(name);
  if (!s) sessions.set(name, (s = new Session(name)));
  return s;
}

export function dropSession(name: string): void {
  sessions.delete(name);
}
