// Who the gateway takes us to be. Where it asks for keys, the visitor shows one
// once; the gateway then knows the browser by a cookie that no script can read.

import { signal } from "@preact/signals";

import { keepFor } from "./memory";

export interface Who {
  owner: string;
  key?: string; // there is none where nobody is asked
}

export const who = signal<Who | undefined>(undefined);

/** Whether the visitor is asked for a key. */
export const asked = signal(false);

/** Asks the visitor: the gateway does not know us, or not any more. */
export function askWho(): void {
  who.value = undefined;
  asked.value = true;
}

const session = (init?: RequestInit) => fetch("/v1/session", { cache: "no-store", headers: { Accept: "application/json" }, ...init });

/** Asks the gateway whom it takes us to be. */
export async function findOut(): Promise<void> {
  try {
    const response = await session();
    if (response.status === 401) askWho();
    if (!response.ok) return;
    const found: Who = await response.json();
    if (keepFor(found.owner)) location.reload();
    who.value = found;
  } catch {
    // The gateway does not answer, which the pages notice by themselves.
  }
}

/** Shows a key; gives what is wrong with it, or nothing. */
export async function signIn(key: string): Promise<string> {
  try {
    const response = await session({ method: "POST", body: JSON.stringify({ key }) });
    const answer = await response.json();
    if (!response.ok) return answer.error.message;
    keepFor(answer.owner);
    return "";
  } catch {
    return "The gateway does not answer";
  }
}

/** Ends the session, and puts away what this browser keeps of the visitor. */
export async function signOut(): Promise<void> {
  await session({ method: "DELETE" }).catch(() => undefined);
  keepFor("?"); // nobody's name
}
