import { effect, signal } from "@preact/signals";

import { cancel, runCode } from "../../api/run";
import { remember, remembered } from "../../frame/memory";
import { tellError } from "../../frame/notices";
import { asked, attach } from "../../output/attach";
import { Execution } from "../../output/execution";
import { examples } from "./examples";

// What the page holds outlives a visit to another one, and a reload.
const kept = remembered<{ language: string; code: Record<string, string>; stdin: string; fresh: boolean }>("run");

export const language = signal(kept?.language ?? "python");
/** The code of each language. */
export const code = signal<Record<string, string>>(kept?.code ?? firstCode());
export const stdin = signal(kept?.stdin ?? "");
export const fresh = signal(kept?.fresh ?? false);
export const execution = signal<Execution | undefined>(takeUp());

/** What ran when the page was reloaded. */
function takeUp(): Execution | undefined {
  const location = remembered<string>("run.execution");
  if (!location) return undefined;
  const x = new Execution();
  void attach(x, location).then((known) => known || forget(x));
  return x;
}

/** Shows nothing when nothing is known of it any more. */
function forget(x: Execution): void {
  if (execution.value !== x) return;
  execution.value = undefined;
  remember("run.execution", undefined);
}

effect(() => {
  remember("run", { language: language.value, code: code.value, stdin: stdin.value, fresh: fresh.value });
});

function firstCode(): Record<string, string> {
  const first: Record<string, string> = {};
  for (const e of examples) first[e.language] ??= e.code;
  return first;
}

export function setCode(text: string): void {
  code.value = { ...code.value, [language.peek()]: text };
}

let leaving: AbortController | undefined;

export async function run(): Promise<void> {
  if (execution.value?.state.value === "running") return;
  const x = new Execution();
  execution.value = x;
  leaving = new AbortController();
  // What runs goes on when the page is reloaded, which then takes it up again. A
  // fresh sandbox ends with its visitor.
  const query = { language: language.value, fresh: fresh.value, onDisconnect: fresh.value ? undefined : "continue" };
  remember("run.execution", fresh.value ? undefined : asked);
  try {
    await runCode("/run", query, { code: code.value[language.value] ?? "", stdin: stdin.value }, {
      signal: leaving.signal,
      onStart: (location) => {
        x.location = location ?? undefined;
        if (!fresh.value) remember("run.execution", x.location);
      },
      onConnection: (connected) => (x.connected.value = connected),
      onEvent: (e) => x.take(e),
    });
  } catch (err) {
    if (!x.location) remember("run.execution", undefined);
    x.fail(err);
  }
}

/** Ends what runs. A run that has not begun is left, which ends it as well. */
export function stop(): void {
  const x = execution.value;
  if (x?.state.value !== "running") return;
  if (!x.location) return leaving?.abort(new Error("It was stopped"));
  cancel(x.location).catch((err) => tellError("It could not be stopped", err));
}
