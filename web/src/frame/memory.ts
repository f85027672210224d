// What the pages keep in this browser. A browser that keeps nothing, or has no
// room, is no reason to fail.

const prefix = "sandgate.";

export function remembered<T>(name: string): T | undefined {
  try {
    const text = localStorage.getItem(prefix + name);
    return text === null ? undefined : (JSON.parse(text) as T);
  } catch {
    return undefined;
  }
}

/** Says whether it was kept. */
export function remember(name: string, value: unknown): boolean {
  try {
    if (value === undefined) localStorage.removeItem(prefix + name);
    else localStorage.setItem(prefix + name, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}
