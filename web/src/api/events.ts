// Reading event streams: over fetch, because a browser's own EventSource can
// neither POST nor say after which event to go on.

import { createParser } from "eventsource-parser";

import { lostTouch } from "../frame/online";
import { ApiError, type Init, request } from "./http";
import type { StreamEvent } from "./types";

export interface Stream {
  /** Called in order, once for each event. */
  onEvent: (e: StreamEvent) => void;
  /** Called when the answer begins, with the address under which it can be followed again. */
  onStart?: (location: string | null) => void;
  /** Called when the connection broke and again when it is back. */
  onConnection?: (connected: boolean) => void;
  signal?: AbortSignal;
}

const piece = 64 << 10; // characters read between looks at the clock
const atOnce = 12; // milliseconds of reading before the page gets its turn

export const terminal = (e: StreamEvent): boolean => e.type === "complete" || e.type === "error";

/**
 * Starts something and follows its events to the terminal one. A connection
 * that breaks is taken up again after the last event, with neither loss nor
 * repetition, for as long as the gateway remembers.
 */
export async function startStream(path: string, init: Init, stream: Stream): Promise<void> {
  const response = await request(path, { ...init, method: "POST", accept: "text/event-stream", signal: stream.signal });
  const location = response.headers.get("Location");
  stream.onStart?.(location);
  const state: Progress = { last: 0, ended: false };
  await read(response, stream, state);
  if (!state.ended) await persist(location ? `${location}/events` : null, stream, state);
}

/** Follows what was started before, from the event after `after` on. */
export async function followStream(path: string, after: number, stream: Stream): Promise<void> {
  const state: Progress = { last: after, ended: false };
  const response = await request(path, { query: { after }, accept: "text/event-stream", signal: stream.signal });
  if (response.status === 204) return;
  await read(response, stream, state);
  if (!state.ended) await persist(path, stream, state);
}

interface Progress {
  last: number;
  ended: boolean;
}

/** Takes a broken stream up again until its end was seen. */
async function persist(path: string | null, stream: Stream, state: Progress): Promise<void> {
  if (!path) throw new ApiError("The connection broke before the end", "unreachable", 0);
  stream.onConnection?.(false);
  for (let pause = 250; !state.ended; pause = Math.min(pause * 2, 5000)) {
    await sleep(pause, stream.signal);
    let response: Response;
    try {
      response = await request(path, { query: { after: state.last }, accept: "text/event-stream", signal: stream.signal });
    } catch (err) {
      if (err instanceof ApiError && (err.status === 0 || err.status === 429 || err.status === 503)) continue;
      throw err;
    }
    stream.onConnection?.(true);
    if (response.status === 204) return;
    const before = state.last;
    await read(response, stream, state);
    if (state.last > before) pause = 250;
  }
}

async function read(response: Response, stream: Stream, state: Progress): Promise<void> {
  const parser = createParser({
    onEvent(m) {
      const seq = Number(m.id);
      if (seq <= state.last && seq !== 0) return;
      const e = { ...JSON.parse(m.data), seq } as StreamEvent;
      state.last = seq || state.last;
      state.ended ||= terminal(e);
      stream.onEvent(e);
    },
  });
  let since = performance.now();
  const reader = response.body!.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array<ArrayBuffer>>).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      for (let at = 0; at < value.length; at += piece) {
        parser.feed(value.slice(at, at + piece));
        if (performance.now() - since < atOnce) continue;
        await turn();
        since = performance.now();
      }
    }
  } catch (err) {
    if (stream.signal?.aborted) throw err;
    lostTouch();
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** Lets the page draw and hear its visitor, whom what comes fast would hold up.
 * A message comes back at once; a timer would have the page wait for nothing. */
function turn(): Promise<void> {
  return new Promise((done) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      done();
    };
    port2.postMessage(undefined);
  });
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((done, fail) => {
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", () => (clearTimeout(timer), fail(signal.reason)), { once: true });
  });
}
