// One execution as a page shows it: what it printed, its results, how it ended.

import { type Signal, signal } from "@preact/signals";

import { ApiError } from "../api/http";
import type { Exit, Result, StreamEvent } from "../api/types";
import { Pace } from "../frame/pace";
import { Log } from "./log";

export type State = "idle" | "running" | "ended" | "failed";

export type Item = { kind: "log"; log: Log } | { kind: "result"; result: Result } | { kind: "warning"; text: string };

const pause = 60; // milliseconds between drawings

/** Grows as events come; version changes when it is to be drawn. */
export class Execution {
  readonly items: Item[] = [];
  readonly version = signal(0);
  readonly state: Signal<State> = signal("running");
  readonly connected = signal(true);
  exit?: Exit;
  failure?: { message: string; requestId?: string };
  start?: { start?: string; generation?: number; restart?: string };
  location?: string;
  readonly begun = Date.now();
  private readonly pace = new Pace(() => this.version.value++, pause);

  take(e: StreamEvent): void {
    switch (e.type) {
      case "start":
        this.start = e;
        break;
      case "stdout":
      case "stderr":
        this.log().write(e.type, e.data);
        break;
      case "result":
        this.items.push({ kind: "result", result: e });
        break;
      case "warning":
        this.items.push({ kind: "warning", text: e.message });
        break;
      case "gap":
        this.items.push({ kind: "warning", text: `${e.bytes ? `${e.bytes} bytes` : "Some"} of the output were not kept` });
        break;
      case "complete":
        this.exit = e;
        this.state.value = "ended";
        break;
      case "error":
        this.fail(new ApiError(e.message, e.code, 0));
        break;
    }
    this.changed();
  }

  fail(err: unknown): void {
    const message = err instanceof Error ? err.message : String(err);
    this.failure = { message, requestId: err instanceof ApiError ? err.requestId : undefined };
    this.state.value = "failed";
    this.changed();
  }

  /** The log that what is printed now goes to: a new one after a result. */
  private log(): Log {
    const last = this.items[this.items.length - 1];
    if (last?.kind === "log") return last.log;
    const log = new Log();
    this.items.push({ kind: "log", log });
    return log;
  }

  private changed(): void {
    this.pace.changed();
  }
}
