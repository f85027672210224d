// The gateway's answers, as far as the pages read them.

export interface Result {
  text: string;
  html?: string;
  png?: string;
  jpeg?: string;
  svg?: string;
  json?: unknown;
  latex?: string;
  markdown?: string;
  javascript?: string;
}

export interface CodeError {
  name: string;
  message: string;
  traceback: string[];
  lineNumber?: number;
}

export interface Exit {
  status: "exited" | "signaled" | "timed_out" | "oom_killed" | "output_limited" | "canceled";
  exitCode: number;
  signal?: string;
  durationMs: number;
  executionCount?: number;
  error?: CodeError;
  truncated?: boolean;
  kernelDied?: string;
}

/** One event of an execution or a run; seq is the number to resume after. */
export type StreamEvent = { seq: number; timestamp: string } & (
  | { type: "start"; start?: string; generation?: number; restart?: string; command?: string }
  | { type: "stdout" | "stderr"; data: string; background?: boolean }
  | ({ type: "result" } & Result)
  | { type: "warning"; code: string; message: string }
  | { type: "gap"; from: number; to: number; bytes: number }
  | { type: "phase"; phase: string; state: "started" | "ended"; durationMs?: number; exitCode?: number; command?: string }
  | { type: "queued"; position: number }
  | ({ type: "complete" } & Exit & { results?: TestResults; resultsDisagree?: boolean; phase?: string })
  | { type: "error"; code: string; message: string; phase?: string }
);

export interface TestFailure {
  name: string;
  file?: string;
  line?: number;
  message?: string;
}

export interface TestResults {
  framework: string;
  passed: number;
  failed: number;
  skipped: number;
  todo: number;
  total: number;
  durationMs: number;
  failures: TestFailure[];
}

export interface FileInfo {
  name: string;
  type: "file" | "directory" | "symlink" | "other";
  size: number;
  mode: string;
  modified: string;
}

export interface Listing {
  path: string;
  entries: FileInfo[];
  truncated: boolean;
}
