// A run as the page watches it: its log by phases, growing.

import { type Signal, signal } from "@preact/signals";

import { ApiError } from "../../api/http";
import { followStream } from "../../api/events";
import { type Run, getRun } from "../../api/tests";
import type { StreamEvent } from "../../api/types";
import { Pace } from "../../frame/pace";
import { Log } from "../../output/log";

/** A part of the log. Lines are counted from 0 over the whole log. */
export interface Section {
  phase: string;
  from: number;
  began: string;
  durationMs?: number;
  exitCode?: number;
  ended: boolean;
}

const pause = 150; // milliseconds between drawings
const mostLines = 1_500_000; // as many as a browser can scroll over

export class Watch {
  readonly log = new Log(mostLines);
  readonly sections: Section[] = [];
  readonly run: Signal<Run | undefined> = signal(undefined);
  readonly failed: Signal<ApiError | undefined> = signal(undefined);
  readonly position = signal(0); // in the queue
  readonly connected = signal(true);
  readonly live = signal(true); // there is more to come
  /** Grows when the log is to be drawn. */
  readonly version = signal(0);
  readonly warnings: Signal<string[]> = signal([]);
  private readonly pace = new Pace(() => this.version.value++, pause);
  private readonly leave = new AbortController();

  constructor(readonly id: string) {
    void this.follow();
  }

  /** Lines there have been, those that are no longer held included. */
  get total(): number {
    return this.log.dropped + this.log.lines.length;
  }

  close(): void {
    this.leave.abort();
  }

  private async follow(): Promise<void> {
    const signal = this.leave.signal;
    try {
      this.run.value = await getRun(this.id, signal);
      await followStream(`/tests/${encodeURIComponent(this.id)}/events`, 0, {
        signal,
        onEvent: (e) => this.take(e),
        onConnection: (connected) => (this.connected.value = connected),
      });
    } catch (err) {
      if (signal.aborted) return;
      this.failed.value = err instanceof ApiError ? err : new ApiError(String(err), "unknown", 0);
    }
    this.live.value = false;
    this.changed();
  }

  private take(e: StreamEvent): void {
    switch (e.type) {
      case "queued":
        this.position.value = e.position;
        break;
      case "phase":
        this.takePhase(e);
        break;
      case "stdout":
      case "stderr":
        if (this.sections.length === 0) this.begin("run", e.timestamp);
        this.log.write(e.type, e.data);
        break;
      case "warning":
        this.warnings.value = [...this.warnings.value, e.message];
        this.log.note("note", e.message);
        break;
      case "gap":
        this.log.note("note", `${e.bytes} bytes of the log were not kept`);
        break;
      case "complete":
      case "error":
        this.finish(e);
        break;
    }
    this.changed();
  }

  private takePhase(e: StreamEvent & { type: "phase" }): void {
    this.position.value = 0;
    const current = this.sections[this.sections.length - 1];
    if (e.state === "started") {
      this.begin(e.phase, e.timestamp);
      this.patch({ status: "running", phase: e.phase });
    } else if (current) {
      Object.assign(current, { ended: true, durationMs: e.durationMs, exitCode: e.exitCode });
    }
  }

  private begin(phase: string, began: string): void {
    this.sections.push({ phase, from: this.total, began, ended: false });
  }

  private finish(e: StreamEvent & { type: "complete" | "error" }): void {
    if (e.type === "error") this.log.note("note", e.message);
    for (const s of this.sections) s.ended = true;
    // The summary has it all: results, artifacts, how long it took.
    getRun(this.id, this.leave.signal).then(
      (run) => (this.run.value = run),
      () => {},
    );
  }

  private patch(by: Partial<Run>): void {
    if (this.run.value && !this.run.value.endedAt) this.run.value = { ...this.run.value, ...by };
  }

  private changed(): void {
    this.pace.changed();
  }
}
