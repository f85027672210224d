// All notebooks: those whose cells this browser keeps, and those of the gateway.

import { type Signal, signal } from "@preact/signals";

import { type Sandbox, allSandboxes } from "../../api/sandboxes";
import type { Entry } from "./store";

/** The gateway's sandboxes; undefined until it has told. */
export const there: Signal<Sandbox[] | undefined> = signal(undefined);
/** Why it did not tell. */
export const untold = signal("");

/** Asks the gateway, which wakes nothing. */
export async function look(end: AbortSignal): Promise<void> {
  try {
    there.value = (await allSandboxes(end)).sandboxes;
    untold.value = "";
  } catch (err) {
    if (!end.aborted) untold.value = err instanceof Error ? err.message : String(err);
  }
}

export interface Row extends Entry {
  /** Its cells are not kept here. */
  elsewhere: boolean;
}

/** Both as one list, what was changed or used last first. */
export function together(kept: Entry[], sandboxes: Sandbox[]): Row[] {
  const here = new Set(kept.map((e) => e.name));
  const others = sandboxes.filter((s) => s.app === "notebook" && !here.has(s.name));
  return [
    ...kept.map((e) => ({ ...e, elsewhere: false })),
    ...others.map((s) => ({ name: s.name, changed: Date.parse(s.lastUsed), elsewhere: true })),
  ].sort((a, b) => b.changed - a.changed);
}

/** A name that none of them has. */
export function freeName(rows: Row[]): string {
  const taken = new Set(rows.map((r) => r.name));
  let n = rows.length + 1;
  while (taken.has(`notebook-${n}`)) n++;
  return `notebook-${n}`;
}
