// Notebooks as this browser keeps them: their code, and of what it gave the
// address under which the gateway still has it for a while.

import { signal } from "@preact/signals";

import { remember, remembered } from "../../frame/memory";

export interface Cell {
  id: string;
  code: string;
}

export interface Notebook {
  name: string;
  language: string;
  cells: Cell[];
  changed: number; // milliseconds since 1970
}

const listName = "notebooks";
const cellsName = (name: string) => `notebook.${name}`;

export interface Entry {
  name: string;
  changed: number;
}

export const entries = signal<Entry[]>(remembered<Entry[]>(listName) ?? []);

export function newCell(code = ""): Cell {
  return { id: Math.random().toString(36).slice(2), code };
}

const welcome = [
  "# Each cell runs in this notebook's own sandbox. Shift+Enter runs it and goes on.\nx = 41",
  "x + 1",
];

/** The notebook of a name, if its cells are kept here. */
export function open(name: string): Notebook | undefined {
  const kept = remembered<Notebook>(cellsName(name));
  return kept?.cells?.length ? { ...kept, name } : undefined;
}

/** The cells of a notebook that has none here: examples in the very first one.
 * Where there may be a sandbox already, they would overwrite what is in it. */
export function firstCells(isNew: boolean): Cell[] {
  return isNew && entries.value.length === 0 ? welcome.map(newCell) : [newCell()];
}

/** Says whether the browser had room for it. */
export function save(nb: Notebook): boolean {
  const kept = remember(cellsName(nb.name), { ...nb, changed: Date.now() });
  const others = entries.value.filter((e) => e.name !== nb.name);
  entries.value = [{ name: nb.name, changed: Date.now() }, ...others];
  return remember(listName, entries.value) && kept;
}

export function forget(name: string): Notebook | undefined {
  const was = remembered<Notebook>(cellsName(name));
  remember(cellsName(name), undefined);
  entries.value = entries.value.filter((e) => e.name !== name);
  remember(listName, entries.value);
  return was;
}

/** Why a notebook cannot have this name, by the rules of the gateway; undefined when it can. */
export function nameProblem(name: string): string | undefined {
  if (!name) return "A notebook needs a name";
  if ([...name].length > 128) return "The name is too long";
  if (/\p{Cc}/u.test(name)) return "A name has no control characters";
  return undefined;
}
