const most = 200; // entries of one level that are shown

/** A JSON value as a tree that opens and closes. */
export function JsonTree({ value, name, depth = 0 }: { value: unknown; name?: string; depth?: number }) {
  const label = name !== undefined && <span class="json-name">{name}: </span>;
  if (value === null || typeof value !== "object") {
    return (
      <div class="json-leaf">
        {label}
        <span class={`json-${value === null ? "null" : typeof value}`}>{JSON.stringify(value)}</span>
      </div>
    );
  }
  const entries = Object.entries(value);
  const array = Array.isArray(value);
  return (
    <details class="json-node" open={depth < 1 && entries.length <= 50}>
      <summary>
        {label}
        <span class="faint">{array ? `[${entries.length}]` : `{${entries.length}}`}</span>
      </summary>
      <div class="json-inner">
        {entries.slice(0, most).map(([k, v]) => (
          <JsonTree key={k} name={k} value={v} depth={depth + 1} />
        ))}
        {entries.length > most && <div class="faint">and {entries.length - most} more</div>}
      </div>
    </details>
  );
}
