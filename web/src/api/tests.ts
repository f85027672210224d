import { request, requestJSON } from "./http";
import type { Exit, TestResults } from "./types";

export interface Artifact {
  name: string;
  size: number;
  url: string;
}

export interface Run {
  id: string;
  repository: string; // empty for a run that started from a backup
  ref?: string;
  commit?: string;
  command: string;
  phase?: string;
  status: Exit["status"] | "queued" | "running" | "error";
  exitCode?: number;
  signal?: string;
  createdAt: string;
  startedAt?: string;
  endedAt?: string;
  durationMs?: number;
  results?: TestResults;
  resultsDisagree?: boolean;
  artifacts: Artifact[];
  truncated?: boolean;
  ownCommand?: boolean; // command was named, and is not the usual one
  restored?: string; // the backup that it started from
  backup?: { id: string }; // of what it prepared
  error?: { code: string; message: string };
}

export interface Order {
  repository?: string;
  restore?: string; // a backup, in place of a repository
  ref?: string;
  command?: string;
  timeout?: string;
  artifacts?: string[];
}

export async function startRun(order: Order): Promise<Run> {
  return requestJSON<Run>("/tests", { method: "POST", body: JSON.stringify(order) });
}

export function getRun(id: string, signal?: AbortSignal): Promise<Run> {
  return requestJSON<Run>(`/tests/${encodeURIComponent(id)}`, { signal });
}

export function listRuns(after?: string, signal?: AbortSignal): Promise<{ runs: Run[]; next?: string }> {
  return requestJSON("/tests", { query: { limit: 30, after }, signal });
}

export async function cancelRun(id: string): Promise<void> {
  await request(`/tests/${encodeURIComponent(id)}`, { method: "DELETE" });
}

/** How a run stands: good, bad, or not yet known. */
export function verdict(run: Run): { look: "good" | "bad" | "busy" | "warn"; word: string } {
  switch (run.status) {
    case "queued":
      return { look: "busy", word: "queued" };
    case "running":
      return { look: "busy", word: run.phase ?? "running" };
    case "error":
      return { look: "bad", word: "error" };
    case "canceled":
      return { look: "warn", word: "canceled" };
    case "exited":
      if (run.exitCode === 0) return run.resultsDisagree ? { look: "warn", word: "doubtful" } : { look: "good", word: "passed" };
      return { look: "bad", word: run.phase === "install" ? "install failed" : "failed" };
  }
  return { look: "bad", word: run.status.replaceAll("_", " ") };
}
