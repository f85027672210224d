import { useEffect, useRef } from "preact/hooks";

import { go, href } from "../../frame/router";
import { visible } from "../../output/visible";
import { Icon } from "../../ui/icon";
import { type Row, expand, folders, isExpanded, parent, rows } from "./tree";

/** The workspace's tree, for the mouse and for the arrow keys. */
export function TreeView({ open }: { open: string }) {
  const seen = rows();
  const place = useRef<HTMLDivElement>(null);
  const root = folders.value[""];
  useEffect(() => {
    place.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [open]);
  if (root?.failed) return <p class="note bad">{root.failed.message}</p>;
  if (root && seen.length === 0) return <p class="faint">Nothing here yet. Drop files anywhere, or make a new one.</p>;
  const current = seen.some((r) => r.path === open) ? open : seen[0]?.path;
  return (
    <div class="tree" role="tree" aria-label="Files" ref={place} onKeyDown={(e) => steer(e, seen)}>
      {seen.map((r) => (
        <RowView key={r.path} row={r} open={open} reachable={r.path === current} />
      ))}
      {root?.truncated && <p class="faint">There is more than is listed.</p>}
    </div>
  );
}

function RowView({ row: r, open, reachable }: { row: Row; open: string; reachable: boolean }) {
  const folder = r.entry.type === "directory";
  const wide = folder && isExpanded(r.path);
  return (
    <a
      class="row"
      role="treeitem"
      href={href(`files/${r.path}`)}
      data-path={r.path}
      tabIndex={reachable ? 0 : -1}
      aria-level={r.depth + 1}
      aria-selected={r.path === open}
      aria-expanded={folder ? wide : undefined}
      style={{ paddingLeft: `${0.5 + r.depth}rem` }}
      onClick={() => folder && expand(r.path, !(wide && r.path === open))}
    >
      <span class={wide ? "turn wide" : "turn"}>{folder && <Icon name="right" size={12} />}</span>
      <Icon name={folder ? "folder" : r.entry.type === "symlink" ? "link" : "file"} />
      <span class="name">{visible(r.entry.name)}</span>
    </a>
  );
}

/** The arrow keys, as every tree has them. */
function steer(e: KeyboardEvent, seen: Row[]): void {
  const at = seen.findIndex((r) => r.path === (e.target as HTMLElement).dataset.path);
  const row = seen[at];
  if (!row) return;
  const folder = row.entry.type === "directory";
  const wide = folder && isExpanded(row.path);
  const moves: Record<string, () => string | undefined> = {
    ArrowDown: () => seen[at + 1]?.path,
    ArrowUp: () => seen[at - 1]?.path,
    Home: () => seen[0]?.path,
    End: () => seen[seen.length - 1]?.path,
    ArrowRight: () => (folder && !wide ? (expand(row.path), undefined) : folder ? seen[at + 1]?.path : undefined),
    ArrowLeft: () => (wide ? (expand(row.path, false), undefined) : parent(row.path) || undefined),
    " ": () => (go(href(`files/${row.path}`)), undefined),
  };
  const move = moves[e.key];
  if (!move) return;
  e.preventDefault();
  const to = move();
  if (to) (e.currentTarget as HTMLElement).querySelector<HTMLElement>(`[data-path="${CSS.escape(to)}"]`)?.focus();
}
