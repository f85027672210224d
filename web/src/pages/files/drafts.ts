// What was typed and not saved yet, by file. It outlives the page.

import { signal } from "@preact/signals";

import { remember, remembered } from "../../frame/memory";

export interface Draft {
  text: string;
  etag?: string; // of the file that it changes; none: there is no file yet
}

const most = 512 << 10; // characters of a draft that is kept over a reload

export const drafts = signal<Record<string, Draft>>(remembered<Record<string, Draft>>("files.drafts") ?? {});

export function setDraft(path: string, draft: Draft | undefined): void {
  const { [path]: _, ...rest } = drafts.value;
  drafts.value = draft ? { ...rest, [path]: draft } : rest;
  const small = Object.entries(drafts.value).filter(([, d]) => d.text.length <= most);
  remember("files.drafts", Object.fromEntries(small));
}

/** A draft moves with its file, or with a folder above it. */
export function moveDrafts(from: string, to: string | undefined): void {
  for (const [path, draft] of Object.entries(drafts.value)) {
    if (path !== from && !path.startsWith(`${from}/`)) continue;
    setDraft(path, undefined);
    if (to !== undefined) setDraft(to + path.slice(from.length), draft);
  }
}

addEventListener("beforeunload", (e) => {
  if (Object.values(drafts.value).some((d) => d.text.length > most)) e.preventDefault();
});
