// The folders that are known, and those that are open. Paths are below
// /workspace, "" is the workspace itself.

import { signal } from "@preact/signals";

import { ApiError } from "../../api/http";
import { type Entry, list } from "../../api/files";
import { remember, remembered } from "../../frame/memory";

export interface Folder {
  entries?: Entry[];
  truncated?: boolean;
  failed?: ApiError;
}

export const folders = signal<Record<string, Folder>>({});
export const expanded = signal<string[]>(remembered<string[]>("files.expanded") ?? []);

export async function load(path: string): Promise<void> {
  let folder: Folder;
  try {
    const listing = await list(path);
    const entries = listing.entries.sort((a, b) => Number(b.type === "directory") - Number(a.type === "directory"));
    folder = { entries, truncated: listing.truncated };
  } catch (err) {
    folder = { failed: err instanceof ApiError ? err : new ApiError(String(err), "unknown", 0) };
  }
  folders.value = { ...folders.value, [path]: folder };
}

export function isExpanded(path: string): boolean {
  return path === "" || expanded.value.includes(path);
}

export function expand(path: string, on = true): void {
  const others = expanded.value.filter((p) => p !== path);
  expanded.value = on ? [...others, path] : others;
  remember("files.expanded", expanded.value.slice(-200));
  if (on && !folders.value[path]) void load(path);
}

/** Opens every folder above a path. */
export function reveal(path: string): void {
  void load("");
  const parts = path.split("/");
  for (let i = 1; i < parts.length; i++) expand(parts.slice(0, i).join("/"));
}

/** Looks again at what is shown. */
export async function refresh(): Promise<void> {
  await Promise.all(["", ...expanded.value].filter((p) => p === "" || folders.value[p]).map(load));
}

export interface Row {
  path: string;
  entry: Entry;
  depth: number;
}

/** The tree as the rows that are seen. */
export function rows(path = "", depth = 0): Row[] {
  const seen: Row[] = [];
  for (const entry of folders.value[path]?.entries ?? []) {
    const below = join(path, entry.name);
    seen.push({ path: below, entry, depth });
    if (entry.type === "directory" && isExpanded(below)) seen.push(...rows(below, depth + 1));
  }
  return seen;
}

export function join(folder: string, name: string): string {
  return folder ? `${folder}/${name}` : name;
}

export function parent(path: string): string {
  return path.split("/").slice(0, -1).join("/");
}

export function base(path: string): string {
  return path.split("/").pop()!;
}

/** Bytes as people say them. */
export function bytes(n: number): string {
  const units = ["bytes", "KiB", "MiB", "GiB"];
  let i = 0;
  for (; n >= 1024 && i < units.length - 1; i++) n /= 1024;
  return `${i === 0 ? n : n.toFixed(1)} ${units[i]}`;
}
