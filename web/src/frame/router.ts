import { signal } from "@preact/signals";

/** Where the visitor is: a path below /app/, its query and the part after #. */
export interface Place {
  path: string; // "run", "files/src/a.py", decoded
  query: URLSearchParams;
  hash: string; // "L12"
}

const base = "/app/";

function read(): Place {
  const { pathname, search, hash } = location;
  const path = pathname.startsWith(base) ? pathname.slice(base.length) : "";
  return { path: decode(path), query: new URLSearchParams(search), hash: decode(hash.slice(1)) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a stray %
  }
}

export const place = signal<Place>(read());

addEventListener("popstate", () => (place.value = read()));

/** The address of a place. Slashes in path separate, everything else is data. */
export function href(path: string, query: Record<string, string | undefined> = {}, hash = ""): string {
  const parts = path.split("/").map(encodeURIComponent).join("/");
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value) search.set(name, value);
  }
  const text = search.toString();
  return base + parts + (text && `?${text}`) + (hash && `#${encodeURIComponent(hash)}`);
}

/** Goes to an address of ours; with replace, the back button skips where we were. */
export function go(to: string, replace = false): void {
  if (to === location.pathname + location.search + location.hash) return;
  if (replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  place.value = read();
}

// A plain click on a link of ours needs no reload.
addEventListener("click", (e) => {
  if (e.defaultPrevented || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
  const link = (e.target as Element).closest?.("a");
  if (!link || link.target || link.hasAttribute("download") || link.origin !== location.origin) return;
  if (!link.pathname.startsWith(base)) return;
  if (link.hash && document.getElementById(link.hash.slice(1))) return; // a place on this page
  e.preventDefault();
  go(link.pathname + link.search + link.hash);
});
