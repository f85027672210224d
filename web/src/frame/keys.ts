// Keyboard shortcuts: each is registered where it works, and listed in the help.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

export interface Shortcut {
  keys: string; // "Mod+Enter", "g r", "?"
  does: string;
  run?: () => void; // undefined: it is heeded elsewhere, and listed here
  inText?: boolean; // also while typing
}

export const shortcuts = signal<Shortcut[]>([]);

const mac = /Mac|iPhone|iPad/.test(navigator.platform);

/** The keys as this machine's keyboard names them. */
export function keyNames(keys: string): string[] {
  return keys.split(/[+ ]/).map((k) => (k === "Mod" ? (mac ? "⌘" : "Ctrl") : k === "Enter" ? "↵" : k));
}

/** Makes shortcuts work as long as the component is there. */
export function useShortcuts(list: Shortcut[]): void {
  useEffect(() => {
    shortcuts.value = [...shortcuts.value, ...list];
    return () => {
      shortcuts.value = shortcuts.value.filter((s) => !list.includes(s));
    };
  });
}

let pending = ""; // the first key of a sequence such as "g r"
let pendingUntil = 0;

addEventListener("keydown", (e) => {
  if (e.defaultPrevented || e.isComposing || document.querySelector("dialog[open]")) return;
  const pressed = name(e);
  const sequence = Date.now() < pendingUntil ? `${pending} ${pressed}` : pressed;
  const typing = isText(e.target);
  const found = shortcuts.value.findLast((s) => s.run && (s.keys === sequence || s.keys === pressed) && (s.inText || !typing));
  pending = pressed;
  pendingUntil = found || typing ? 0 : Date.now() + 1000;
  if (!found) return;
  e.preventDefault();
  found.run!();
});

function name(e: KeyboardEvent): string {
  const mod = mac ? e.metaKey : e.ctrlKey;
  const key = e.key.length === 1 && mod ? e.key.toLowerCase() : e.key;
  return (mod ? "Mod+" : "") + (e.shiftKey && e.key.length > 1 ? "Shift+" : "") + (e.altKey ? "Alt+" : "") + key;
}

function isText(target: EventTarget | null): boolean {
  const el = target as HTMLElement | null;
  return !!el?.closest?.("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable=true], .cm-editor");
}
