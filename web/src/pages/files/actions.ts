import { ApiError } from "../../api/http";
import { makeDirectory, move, remove, save } from "../../api/files";
import { confirm, prompt } from "../../frame/dialog";
import { tell, tellError } from "../../frame/notices";
import { go, href } from "../../frame/router";
import { visible } from "../../output/visible";
import { moveDrafts } from "./drafts";
import { expand, join, load, parent, refresh } from "./tree";

/** Makes an empty file and opens it. */
export async function newFile(folder: string): Promise<void> {
  const name = await prompt("New file", "Its name; slashes make folders", "Create", "untitled.py");
  if (!name) return;
  const path = join(folder, name);
  await attempt(`${visible(path)} could not be made`, async () => {
    await save(path, "", {});
    open(path);
  });
}

export async function newFolder(folder: string): Promise<void> {
  const name = await prompt("New folder", "Its name", "Create", "folder");
  if (!name) return;
  const path = join(folder, name);
  await attempt(`${visible(path)} could not be made`, async () => {
    await makeDirectory(path);
    expand(path);
    open(path);
  });
}

export async function rename(path: string): Promise<void> {
  const to = await prompt("Rename or move", "Its path in the workspace", "Rename", path);
  if (!to || to === path) return;
  await attempt(`${visible(path)} could not be moved`, async () => {
    await move(path, to);
    moveDrafts(path, to);
    open(to);
  });
}

export async function removeAsked(path: string, folder: boolean): Promise<void> {
  const what = folder ? "The folder and everything in it are gone then." : "The file is gone then.";
  if (!(await confirm(`Delete ${visible(path)}?`, what, "Delete"))) return;
  await attempt(`${visible(path)} could not be deleted`, async () => {
    await remove(path, folder);
    moveDrafts(path, undefined);
    go(href(`files/${parent(path)}`.replace(/\/$/, "")));
    tell(`${visible(path)} was deleted`);
  });
}

function open(path: string): void {
  const folder = parent(path);
  if (folder) expand(folder);
  void load(folder);
  go(href(`files/${path}`));
}

async function attempt(failed: string, act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (err) {
    const exists = err instanceof ApiError && err.status === 412;
    tellError(failed, exists ? new Error("there is something with this name already") : err);
  }
  await refresh();
}
