import "./output.css";

import { useState } from "preact/hooks";

const most = 200; // entries of one level that are shown

interface Node {
  value: unknown;
  name?: string;
  depth?: number;
}

/** A JSON value as a tree that opens and closes. */
export function JsonTree({ value, name, depth = 0 }: Node) {
  if (value === null || typeof value !== "object") {
    return (
      <div class="json-leaf">
        <Name name={name} />
        <span class={`json-${value === null ? "null" : typeof value}`}>{JSON.stringify(value)}</span>
      </div>
    );
  }
  return <Branch value={value} name={name} depth={depth} />;
}

/** What is in a branch is made when it is first opened: a value may have more
 * branches than a page can hold. */
function Branch({ value, name, depth }: { value: object; name?: string; depth: number }) {
  const entries = Object.entries(value);
  const [open, setOpen] = useState(depth < 1 && entries.length <= 50);
  return (
    <details class="json-node" open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>
        <Name name={name} />
        <span class="faint">{Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`}</span>
      </summary>
      {open && (
        <div class="json-inner">
          {entries.slice(0, most).map(([k, v]) => (
            <JsonTree key={k} name={k} value={v} depth={depth + 1} />
          ))}
          {entries.length > most && <div class="faint">and {entries.length - most} more</div>}
        </div>
      )}
    </details>
  );
}

function Name({ name }: { name?: string }) {
  return name === undefined ? null : <span class="json-name">{name}: </span>;
}
