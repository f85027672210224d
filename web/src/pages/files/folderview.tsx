import { useEffect } from "preact/hooks";

import { href } from "../../frame/router";
import { visible } from "../../output/visible";
import { Icon } from "../../ui/icon";
import { removeAsked, rename } from "./actions";
import { bytes, folders, join, load } from "./tree";

/** What is in a folder. */
export function FolderView({ path }: { path: string }) {
  useEffect(() => void load(path), [path]);
  const folder = folders.value[path];
  if (folder?.failed) return <p class="note bad">{folder.failed.message}</p>;
  if (!folder?.entries) return null;
  return (
    <div class="file">
      {path !== "" && (
        <div class="file-head">
          <span class="gap" />
          <button class="button small" onClick={() => void rename(path)}>
            <Icon name="edit" /> Rename
          </button>
          <button class="button small danger" onClick={() => void removeAsked(path, true)}>
            <Icon name="trash" /> Delete
          </button>
        </div>
      )}
      {folder.entries.length === 0 ? (
        <div class="empty">
          <h2>{path ? "An empty folder" : "Your workspace is empty"}</h2>
          <p>Drop files or folders anywhere on this page, or make a new file. Programs find them under /workspace.</p>
        </div>
      ) : (
        <table class="listing card">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col" class="number">
                Size
              </th>
              <th scope="col">Changed</th>
            </tr>
          </thead>
          <tbody>
            {folder.entries.map((e) => (
              <tr key={e.name}>
                <td>
                  <a href={href(`files/${join(path, e.name)}`)}>
                    <Icon name={e.type === "directory" ? "folder" : e.type === "symlink" ? "link" : "file"} /> {visible(e.name)}
                  </a>
                </td>
                <td class="number">{e.type === "file" ? bytes(e.size) : ""}</td>
                <td>
                  <time dateTime={e.modified}>{new Date(e.modified).toLocaleString([], { dateStyle: "medium", timeStyle: "short" })}</time>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {folder.truncated && <p class="faint">There is more than is listed.</p>}
    </div>
  );
}
