// Files on their way into the workspace: some at a time, each with its
// progress, each to be stopped.

import { signal } from "@preact/signals";

import { upload } from "../../api/files";
import { tell } from "../../frame/notices";
import { visible } from "../../output/visible";
import { join, refresh } from "./tree";

export interface Upload {
  id: number;
  path: string;
  size: number;
  sent: number;
  state: "waiting" | "sending" | "done" | "failed" | "stopped";
  message?: string;
  stop: () => void;
}

export const uploads = signal<Upload[]>([]);

const atOnce = 3;
const waiting: { id: number; file: File; abort: AbortController }[] = [];
let sending = 0;
let next = 1;

/** Sends files to a folder; a file's own path is below it. */
export function send(folder: string, files: { path: string; file: File }[]): void {
  const added = files.map(({ path, file }) => {
    const id = next++;
    const abort = new AbortController();
    waiting.push({ id, file, abort });
    const stop = () => {
      abort.abort();
      change(id, { state: "stopped" });
    };
    return { id, path: join(folder, path), size: file.size, sent: 0, state: "waiting" as const, stop };
  });
  uploads.value = [...uploads.value.filter((u) => u.state !== "done" && u.state !== "stopped"), ...added];
  pump();
}

function pump(): void {
  while (sending < atOnce && waiting.length > 0) {
    const { id, file, abort } = waiting.shift()!;
    if (abort.signal.aborted) continue;
    sending++;
    void one(id, file, abort).finally(() => {
      sending--;
      pump();
      if (sending === 0) finished();
    });
  }
}

async function one(id: number, file: File, abort: AbortController): Promise<void> {
  const path = uploads.value.find((u) => u.id === id)!.path;
  change(id, { state: "sending" });
  try {
    await upload(path, file, (sent) => change(id, { sent }), abort.signal);
    change(id, { state: "done", sent: file.size });
  } catch (err) {
    if (abort.signal.aborted) return;
    change(id, { state: "failed", message: err instanceof Error ? err.message : String(err) });
  }
}

function finished(): void {
  const done = uploads.value.filter((u) => u.state === "done");
  if (done.length > 0) tell(done.length === 1 ? `${visible(done[0]!.path)} was stored` : `${done.length} files were stored`);
  uploads.value = uploads.value.filter((u) => u.state === "failed");
  void refresh();
}

function change(id: number, by: Partial<Upload>): void {
  uploads.value = uploads.value.map((u) => (u.id === id ? { ...u, ...by } : u));
}

export function dismissFailed(): void {
  uploads.value = uploads.value.filter((u) => u.state !== "failed");
}

const mostFiles = 5000; // of one drop

/** The files of a drop, those in dropped folders with their paths. */
export async function dropped(data: DataTransfer): Promise<{ path: string; file: File }[]> {
  const roots = [...data.items].map((i) => i.webkitGetAsEntry?.()).filter((e) => !!e);
  if (roots.length === 0) return [...data.files].map((file) => ({ path: file.name, file }));
  const found: { path: string; file: File }[] = [];
  for (const root of roots) await walk(root, "", found);
  return found;
}

async function walk(entry: FileSystemEntry, above: string, found: { path: string; file: File }[]): Promise<void> {
  if (found.length >= mostFiles) return;
  const path = join(above, entry.name);
  if (entry.isFile) {
    found.push({ path, file: await new Promise<File>((ok, no) => (entry as FileSystemFileEntry).file(ok, no)) });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((ok, no) => reader.readEntries(ok, no));
    if (some.length === 0) return;
    for (const e of some) await walk(e, path, found);
  }
}
