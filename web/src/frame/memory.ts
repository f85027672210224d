// What the pages keep in this browser. A browser that keeps nothing, or has no
// room, is no reason to fail.

const prefix = "sandgate.";
const ownerKey = `${prefix}owner`;

// What one visitor left is not shown to the next at the same browser, and is there
// again when the first comes back. Without keys everybody is "local".
const owner = read(ownerKey) ?? "local";
let left = false; // by the visitor: what is on the page until it is loaded anew is not kept

function read(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function place(name: string): string {
  return owner === "local" || name === "theme" ? prefix + name : `${prefix}${owner}:${name}`;
}

/** Keeps things for another visitor from the next load on. Says whether that is one, so that there has to be one. */
export function keepFor(next: string): boolean {
  if (next === owner) return false;
  try {
    localStorage.setItem(ownerKey, next);
  } catch {
    return false;
  }
  left = read(ownerKey) === next;
  return left;
}

export function remembered<T>(name: string): T | undefined {
  try {
    const text = localStorage.getItem(place(name));
    return text === null ? undefined : (JSON.parse(text) as T);
  } catch {
    return undefined;
  }
}

/** Says whether it was kept. */
export function remember(name: string, value: unknown): boolean {
  if (left) return true;
  try {
    if (value === undefined) localStorage.removeItem(place(name));
    else localStorage.setItem(place(name), JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}
