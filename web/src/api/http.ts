// Requests to the gateway. What goes wrong is an ApiError with the gateway's
// own words and the id under which its log has it.

import { lostTouch, reachable } from "../frame/online";
import { askWho } from "../frame/who";

export class ApiError extends Error {
  constructor(
    message: string,
    readonly code: string,
    readonly status: number,
    readonly requestId?: string,
    readonly retryAfter?: number, // seconds
  ) {
    super(message);
  }
}

export type Query = Record<string, string | number | boolean | undefined>;

export function url(path: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "" && value !== false) search.set(name, String(value));
  }
  const text = search.toString();
  return path + (text && `?${text}`);
}

export interface Init {
  method?: string;
  query?: Query;
  headers?: Record<string, string>;
  body?: BodyInit;
  signal?: AbortSignal;
  accept?: string;
}

/** Sends a request; an answer of 400 and above is an ApiError. */
export async function request(path: string, init: Init = {}): Promise<Response> {
  const response = await send(path, init);
  if (response.status === 401) askWho();
  if (!response.ok) throw await failure(response);
  return response;
}

export async function requestJSON<T>(path: string, init: Init = {}): Promise<T> {
  return (await request(path, init)).json() as Promise<T>;
}

async function send(path: string, init: Init): Promise<Response> {
  try {
    const response = await fetch(url(path, init.query), {
      method: init.method,
      headers: { Accept: init.accept ?? "application/json", ...init.headers },
      body: init.body,
      signal: init.signal,
      cache: "no-store",
    });
    reachable.value = true;
    return response;
  } catch (err) {
    if (init.signal?.aborted) throw err;
    lostTouch();
    throw new ApiError("The gateway does not answer", "unreachable", 0);
  }
}

async function failure(response: Response): Promise<ApiError> {
  const retryAfter = Number(response.headers.get("Retry-After")) || undefined;
  const id = response.headers.get("X-Request-Id") ?? undefined;
  const text = await response.text().catch(() => "");
  const { message, code = "unknown", requestId = id } = told(response, text);
  return new ApiError(message || `The gateway answered ${response.status}`, code, response.status, requestId, retryAfter);
}

type Told = { message?: string; code?: string; requestId?: string };

/** What a refusal says: in JSON or, to who asked for a stream, in plain text.
 * Anything else is the page of a proxy on the way. */
function told(response: Response, text: string): Told {
  if (response.headers.get("Content-Type")?.startsWith("text/plain")) return { message: text.trim() };
  try {
    return JSON.parse(text).error ?? {};
  } catch {
    return {};
  }
}
