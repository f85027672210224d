import { signal } from "@preact/signals";

/** Whether the gateway answered the last time it was asked. */
export const reachable = signal(true);

let asking = false;

/** Notes that the gateway does not answer, and asks until it does. */
export function lostTouch(): void {
  reachable.value = false;
  if (asking) return;
  asking = true;
  ask(1000);
}

function ask(pause: number): void {
  setTimeout(async () => {
    try {
      await fetch("/v1/capabilities", { cache: "no-store" });
      asking = false;
      reachable.value = true;
    } catch {
      ask(Math.min(pause * 1.5, 10_000));
    }
  }, pause);
}

addEventListener("offline", lostTouch);

export function Offline() {
  if (reachable.value) return null;
  return (
    <div class="offline" role="alert">
      <span class="spinner" /> The gateway does not answer. What you typed is kept; this page goes on by itself.
    </div>
  );
}
