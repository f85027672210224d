import "./files.css";

import { useEffect, useRef, useState } from "preact/hooks";

import type { PageProps } from "../../app";
import { ApiError } from "../../api/http";
import { list } from "../../api/files";
import { href } from "../../frame/router";
import { Page } from "../../frame/shell";
import { visible } from "../../output/visible";
import { Icon } from "../../ui/icon";
import { newFile, newFolder } from "./actions";
import { FileView } from "./fileview";
import { FolderView } from "./folderview";
import { folders, join, parent, refresh, reveal } from "./tree";
import { TreeView } from "./treeview";
import { dropped, send } from "./uploads";
import { UploadsView } from "./uploadview";

export default function FilesPage({ rest: path }: PageProps) {
  const kind = useKind(path);
  const folder = kind === "folder" ? path : parent(path);
  const [over, setOver] = useState(false);
  useEffect(() => reveal(path), [path]);
  return (
    <Page title={visible(path) || "Files"} class="files" tools={<Tools folder={folder} />}>
      <aside class="side">
        <TreeView open={path} />
      </aside>
      <section
        class={over ? "pane over" : "pane"}
        aria-label={visible(path) || "Workspace"}
        onDragOver={(e) => (e.preventDefault(), setOver(true))}
        onDragLeave={() => setOver(false)}
        onDrop={(e) => {
          e.preventDefault();
          setOver(false);
          void dropped(e.dataTransfer!).then((files) => send(folder, files));
        }}
      >
        <UploadsView />
        <Crumbs path={path} />
        {kind === "file" && <FileView key={path} path={path} />}
        {kind === "folder" && <FolderView key={path} path={path} />}
        {kind instanceof ApiError && <Missing path={path} failed={kind} />}
      </section>
    </Page>
  );
}

/** What is at a path, asked of the gateway when the tree does not know it. */
function useKind(path: string): "file" | "folder" | ApiError | undefined {
  const [asked, setAsked] = useState<{ path: string; kind: "file" | "folder" | ApiError }>();
  const known = path === "" ? "folder" : kindIn(path);
  useEffect(() => {
    if (known) return;
    const abort = new AbortController();
    const say = (kind: "file" | "folder" | ApiError) => abort.signal.aborted || setAsked({ path, kind });
    const above = parent(path);
    list(above, abort.signal).then(
      (l) => {
        const entry = l.entries.find((e) => join(above, e.name) === path);
        say(entry ? (entry.type === "directory" ? "folder" : "file") : new ApiError(`There is nothing at ${visible(path)}`, "not_found", 404));
      },
      (err) => say(err instanceof ApiError ? err : new ApiError(String(err), "unknown", 0)),
    );
    return () => abort.abort();
  }, [path, known]);
  return known ?? (asked?.path === path ? asked.kind : undefined);
}

function kindIn(path: string): "file" | "folder" | undefined {
  const above = parent(path);
  const entry = folders.value[above]?.entries?.find((e) => join(above, e.name) === path);
  return entry && (entry.type === "directory" ? "folder" : "file");
}

function Crumbs({ path }: { path: string }) {
  const parts = path ? path.split("/") : [];
  return (
    <nav class="crumbs" aria-label="Where this is">
      <a href={href("files")}>workspace</a>
      {parts.map((p, i) => (
        <>
          <span aria-hidden="true">/</span>
          <a href={href(`files/${parts.slice(0, i + 1).join("/")}`)} aria-current={i === parts.length - 1 ? "page" : undefined}>
            {visible(p)}
          </a>
        </>
      ))}
    </nav>
  );
}

function Missing({ path, failed }: { path: string; failed: ApiError }) {
  return (
    <div class="empty">
      <h2>{failed.status === 404 ? "Nothing is here" : "This could not be read"}</h2>
      <p>{failed.message}</p>
      <p>
        <a href={href(`files/${parent(path)}`.replace(/\/$/, ""))}>Up to the folder</a>
      </p>
    </div>
  );
}

function Tools({ folder }: { folder: string }) {
  const files = useRef<HTMLInputElement>(null);
  const tree = useRef<HTMLInputElement>(null);
  useEffect(() => tree.current?.setAttribute("webkitdirectory", ""), []);
  const chosen = (input: HTMLInputElement) => {
    send(folder, [...(input.files ?? [])].map((file) => ({ path: file.webkitRelativePath || file.name, file })));
    input.value = "";
  };
  return (
    <div class="toolbar">
      <span class="gap" />
      <button class="button" onClick={() => void newFile(folder)}>
        <Icon name="plus" /> New file
      </button>
      <button class="button" onClick={() => void newFolder(folder)}>
        <Icon name="folder" /> New folder
      </button>
      <button class="button" onClick={() => files.current!.click()}>
        <Icon name="upload" /> Upload
      </button>
      <button class="button plain" onClick={() => tree.current!.click()}>
        Upload folder
      </button>
      <button class="button plain" onClick={() => void refresh()}>
        <Icon name="restart" /> Refresh
      </button>
      <input ref={files} type="file" multiple hidden aria-label="Files to upload" onChange={(e) => chosen(e.currentTarget)} />
      <input ref={tree} type="file" multiple hidden aria-label="Folder to upload" onChange={(e) => chosen(e.currentTarget)} />
    </div>
  );
}
