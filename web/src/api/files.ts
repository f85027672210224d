import { ApiError, request, requestJSON, url } from "./http";
import type { FileInfo, Listing } from "./types";

export type Entry = FileInfo;

export function list(path: string, signal?: AbortSignal): Promise<Listing> {
  return requestJSON<Listing>("/files", { query: { path: path || "/workspace" }, signal });
}

export interface Loaded {
  bytes: Blob;
  type: string;
  etag?: string;
  size: number;
  cut: boolean; // there is more than was asked for
}

/** Reads a file, the first bytes of one that is larger than most. */
export async function read(path: string, most: number, signal?: AbortSignal): Promise<Loaded> {
  let response: Response;
  try {
    response = await request("/files", { query: { path }, headers: { Range: `bytes=0-${most - 1}` }, accept: "*/*", signal });
  } catch (err) {
    if (!(err instanceof ApiError) || err.status !== 416) throw err; // an empty file has no first byte
    response = await request("/files", { query: { path }, accept: "*/*", signal });
  }
  const bytes = await response.blob();
  const total = Number(response.headers.get("Content-Range")?.split("/")[1] ?? bytes.size);
  return {
    bytes,
    type: response.headers.get("Content-Type") ?? "",
    etag: response.headers.get("ETag") ?? undefined,
    size: total,
    cut: total > bytes.size,
  };
}

export interface Condition {
  etag?: string; // what we saw; undefined: there must be nothing yet
  anyway?: boolean; // whatever is there
}

/** Stores a file, if it is as we saw it. Gives its new ETag. */
export async function save(path: string, body: BodyInit, condition: Condition): Promise<string | undefined> {
  const headers: Record<string, string> = {};
  if (!condition.anyway && condition.etag) headers["If-Match"] = condition.etag;
  if (!condition.anyway && !condition.etag) headers["If-None-Match"] = "*";
  const response = await request("/files", { method: "PUT", query: { path }, headers, body });
  return ((await response.json()) as { etag?: string }).etag;
}

export async function makeDirectory(path: string): Promise<void> {
  await request("/files", { method: "POST", query: { path } });
}

export async function move(from: string, to: string): Promise<void> {
  await request("/files", { method: "POST", query: { path: to, from } });
}

export async function remove(path: string, recursive: boolean): Promise<void> {
  await request("/files", { method: "DELETE", query: { path, recursive } });
}

export function address(path: string, download = false): string {
  return url("/files", { path, download: download ? 1 : undefined });
}

/** Stores a file and tells how much of it is sent. fetch cannot say that. */
export function upload(path: string, file: Blob, progress: (sent: number) => void, signal: AbortSignal): Promise<void> {
  return new Promise((done, fail) => {
    const r = new XMLHttpRequest();
    r.open("PUT", address(path));
    r.setRequestHeader("Accept", "application/json");
    r.upload.onprogress = (e) => progress(e.loaded);
    r.onload = () => (r.status < 400 ? done() : fail(failure(r)));
    r.onerror = () => fail(new ApiError("The gateway does not answer", "unreachable", 0));
    r.onabort = () => fail(new DOMException("The upload was stopped", "AbortError"));
    signal.addEventListener("abort", () => r.abort(), { once: true });
    r.send(file);
  });
}

function failure(r: XMLHttpRequest): ApiError {
  try {
    const { error } = JSON.parse(r.responseText);
    return new ApiError(error.message, error.code, r.status, error.requestId);
  } catch {
    return new ApiError(`The gateway answered ${r.status}`, "unknown", r.status);
  }
}
