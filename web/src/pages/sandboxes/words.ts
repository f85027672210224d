// A sandbox in words: what it is for, how it is, when something will happen.

import type { Sandbox, Which } from "../../api/sandboxes";
import { href } from "../../frame/router";
import { bytes } from "../files/tree";
import { notebookPage } from "../notebooks/address";

const apps: Record<string, string> = {
  coderunner: "Code Runner",
  notebook: "Notebook",
  files: "Workspace Files",
  testrunner: "Test Runner",
};

export function appName(app: string): string {
  return apps[app] ?? app;
}

/** Where the pages show what is in a sandbox; undefined when they do not. */
export function pageOf({ app, name }: Which): string | undefined {
  switch (app) {
    case "coderunner":
      return href("run");
    case "notebook":
      return notebookPage(name);
    case "files":
      return href("files");
    case "testrunner":
      return href(`tests/${name}`);
  }
  return undefined;
}

export interface Look {
  look: "good" | "busy" | "";
  word: string;
}

export function stateOf(state: Sandbox["state"]): Look {
  switch (state) {
    case "running":
      return { look: "good", word: "running" };
    case "starting":
      return { look: "busy", word: "starting" };
    case "hibernated":
      return { look: "", word: "asleep" };
  }
  return { look: "", word: state };
}

/** What happens to a sandbox next if nobody uses it. */
export function fate(s: Sandbox, now: number, canSleep = true): string {
  if (s.state === "running" && s.sleepsAt) return `${canSleep ? "sleeps" : "ends"} ${until(s.sleepsAt, now)}`;
  if (s.destroyedAt) return `destroyed ${until(s.destroyedAt, now)}`;
  return "";
}

/** All of them in one line, which leaves out what there is none of. */
export function summary(all: Sandbox[]): string {
  const sum = (of: (s: Sandbox) => number) => all.reduce((n, s) => n + of(s), 0);
  const count = (state: Sandbox["state"]) => all.filter((s) => s.state === state).length;
  const [running, memory, asleep, disk] = [count("running"), sum((s) => s.memoryBytes), count("hibernated"), sum((s) => s.diskBytes)];
  const parts = [];
  if (running) parts.push(`${running} running${memory ? ` with ${bytes(memory)} of memory` : ""}`);
  if (asleep) parts.push(`${asleep} asleep`);
  if (disk) parts.push(`${bytes(disk)} on disk`);
  return parts.join(", ");
}

/** What is lost with a sandbox. */
export function loss({ app }: Which): string {
  switch (app) {
    case "notebook":
      return "Its variables, its processes and its files are lost. Cells that a browser keeps stay there.";
    case "files":
      return "Every file of the workspace is lost.";
    case "testrunner":
      return "The run ends, and its checkout is lost.";
  }
  return "Its variables, its processes and its files are lost.";
}

export function ago(when: string, now: number): string {
  const passed = now - Date.parse(when);
  return passed < 10_000 ? "just now" : `${span(passed)} ago`;
}

function until(when: string, now: number): string {
  const left = Date.parse(when) - now;
  return left <= 0 ? "any moment" : `in ${span(left)}`;
}

const units: [string, number][] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000],
];

/** A time in its largest unit: "3 minutes". */
function span(ms: number): string {
  const [name, size] = units.find(([, size]) => ms >= size) ?? units[units.length - 1]!;
  const n = Math.round(ms / size);
  return `${n} ${name}${n === 1 ? "" : "s"}`;
}
