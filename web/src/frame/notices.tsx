import { signal } from "@preact/signals";

import { ApiError } from "../api/http";
import { Icon } from "../ui/icon";

interface Notice {
  id: number;
  text: string;
  bad: boolean;
  requestId?: string;
  action?: { label: string; run: () => void };
}

const notices = signal<Notice[]>([]);
let next = 1;

const stay = 6000; // milliseconds; what went wrong stays until it is dismissed

function add(n: Omit<Notice, "id">): void {
  const id = next++;
  notices.value = [...notices.value.slice(-3), { ...n, id }];
  if (!n.bad) setTimeout(() => dismiss(id), n.action ? 2 * stay : stay);
}

function dismiss(id: number): void {
  notices.value = notices.value.filter((n) => n.id !== id);
}

/** Tells the visitor something that passes. */
export function tell(text: string, action?: Notice["action"]): void {
  add({ text, bad: false, action });
}

/** Tells the visitor what went wrong, and what to do if the gateway said so. */
export function tellError(doing: string, err: unknown): void {
  if (err instanceof DOMException && err.name === "AbortError") return;
  const message = err instanceof Error ? err.message : String(err);
  add({ text: `${doing}: ${message}`, bad: true, requestId: err instanceof ApiError ? err.requestId : undefined });
}

export function Notices() {
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.value.map((n) => (
        <div key={n.id} class={n.bad ? "notice bad" : "notice"}>
          <div>
            {n.text}
            {n.requestId && <div class="faint mono">request {n.requestId}</div>}
          </div>
          {n.action && (
            <button class="button small" onClick={() => (n.action!.run(), dismiss(n.id))}>
              {n.action.label}
            </button>
          )}
          <button class="button small icon plain" aria-label="Dismiss" onClick={() => dismiss(n.id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
