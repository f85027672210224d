import { request, requestJSON } from "./http";

export interface Sandbox {
  app: string;
  name: string;
  state: "starting" | "running" | "stopping" | "hibernated" | "stopped";
  createdAt: string;
  lastUsed: string;
  sleepsAt?: string; // when it goes to disk, if nobody uses it
  destroyedAt?: string; // when it is destroyed with its files, likewise
  memoryBytes: number;
  diskBytes: number;
}

export type Which = Pick<Sandbox, "app" | "name">;

interface SandboxPage {
  sandboxes: Sandbox[];
  next?: number; // to ask for what follows with
}

const path = "/v1/sandboxes";

/** Lists a page of sandboxes, the last used first. */
function listSandboxes(after?: number, signal?: AbortSignal): Promise<SandboxPage> {
  return requestJSON(path, { query: { after }, signal });
}

const mostPages = 20; // of the list that are asked for

/** Lists all of them; more says that there are others still. That wakes nothing. */
export async function allSandboxes(signal?: AbortSignal): Promise<{ sandboxes: Sandbox[]; more: boolean }> {
  const sandboxes: Sandbox[] = [];
  let next: number | undefined;
  for (let i = 0; i < mostPages && (i === 0 || next); i++) {
    const page = await listSandboxes(next, signal);
    sandboxes.push(...page.sandboxes);
    next = page.next;
  }
  return { sandboxes, more: !!next };
}

/** Whether sandboxes can be put to disk here, which takes gVisor. */
export async function canHibernate(signal?: AbortSignal): Promise<boolean> {
  const { engine } = await requestJSON<{ engine: { hibernation: boolean } }>("/v1/capabilities", { signal });
  return engine.hibernation;
}

/** Puts a sandbox to disk with all that runs in it. */
export async function hibernate({ app, name }: Which): Promise<void> {
  await request(`${path}/hibernate`, { method: "POST", query: { app, name } });
}

export async function wake({ app, name }: Which): Promise<void> {
  await request(`${path}/wake`, { method: "POST", query: { app, name } });
}

/** Ends a sandbox, with its files. */
export async function destroy({ app, name }: Which): Promise<void> {
  await request(path, { method: "DELETE", query: { app, name, files: true } });
}
