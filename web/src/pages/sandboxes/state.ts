// The sandboxes as the gateway last told them, asked again while they are shown.

import { type Signal, signal } from "@preact/signals";

import { ApiError } from "../../api/http";
import { type Sandbox, type Which, allSandboxes, canHibernate, destroy, hibernate, wake } from "../../api/sandboxes";
import { confirm } from "../../frame/dialog";
import { tell, tellError } from "../../frame/notices";
import { visible } from "../../output/visible";
import { appName, loss } from "./words";

const again = 3000; // milliseconds between looks

export const sandboxes: Signal<Sandbox[] | undefined> = signal(undefined);
export const more = signal(false); // there are others that are not shown
export const failed: Signal<ApiError | undefined> = signal(undefined);
/** Whether they sleep; where they cannot, the idle ones end. */
export const canSleep = signal(true);
/** Sandboxes that something is being done to, by their keys. */
export const busy = signal<ReadonlySet<string>>(new Set());

export function key({ app, name }: Which): string {
  return `${app}/${name}`;
}

/** Looks again and again until the signal ends it. */
export async function watch(end: AbortSignal): Promise<void> {
  canHibernate(end).then(
    (can) => (canSleep.value = can),
    () => {}, // the list tells what is wrong
  );
  while (!end.aborted) {
    if (!document.hidden) await look(end);
    await new Promise((done) => setTimeout(done, again));
  }
}

async function look(end?: AbortSignal): Promise<void> {
  try {
    const all = await allSandboxes(end);
    sandboxes.value = all.sandboxes;
    more.value = all.more;
    failed.value = undefined;
  } catch (err) {
    if (!end?.aborted) failed.value = err instanceof ApiError ? err : new ApiError(String(err), "unknown", 0);
  }
}

export function sleepNow(s: Sandbox): Promise<void> {
  return act(s, () => hibernate(s), "could not be put to sleep");
}

export function wakeNow(s: Sandbox): Promise<void> {
  return act(s, () => wake(s), "could not be woken");
}

export async function destroyAsked(s: Sandbox): Promise<void> {
  if (!(await confirm(`Destroy ${called(s)}?`, loss(s), "Destroy"))) return;
  await act(s, () => destroy(s), "could not be destroyed", "was destroyed");
}

async function act(s: Sandbox, does: () => Promise<void>, wrong: string, done?: string): Promise<void> {
  busy.value = new Set([...busy.value, key(s)]);
  try {
    await does();
    if (done) tell(`${called(s)} ${done}`);
  } catch (err) {
    tellError(`${called(s)} ${wrong}`, err);
  }
  await look();
  busy.value = new Set([...busy.value].filter((k) => k !== key(s)));
}

function called(s: Which): string {
  return `${appName(s.app)} “${visible(s.name)}”`;
}
