import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { asked } from "../frame/who";
import { startStream } from "./events";
import { ApiError, request } from "./http";

beforeEach(() => void (asked.value = false));
afterEach(() => vi.unstubAllGlobals());

function answer(status: number, type: string, body: string): void {
  const headers = { "Content-Type": type, "X-Request-Id": "r1", "Retry-After": "3" };
  vi.stubGlobal("fetch", async () => new Response(body, { status, headers }));
}

const refused = (sent: Promise<unknown>): Promise<ApiError> => sent.then(() => expect.fail("was not refused"), (err) => err);

it.each([
  ["plain text", "text/plain; charset=utf-8", "You have no room left\n", "You have no room left"],
  ["JSON", "application/json", '{"error":{"code":"exhausted","message":"You have no room left","requestId":"r1"}}', "You have no room left"],
  ["a proxy's page", "text/html", "<h1>Bad gateway</h1>", "The gateway answered 507"],
  ["JSON of another's", "application/json", '{"detail":1}', "The gateway answered 507"],
  ["nothing", "text/plain", "", "The gateway answered 507"],
])("reads a refusal in %s", async (_, type, body, want) => {
  answer(507, type, body);
  for (const sent of [request("/run"), startStream("/run", {}, { onEvent: () => {} })]) {
    expect(await refused(sent)).toMatchObject({ message: want, status: 507, requestId: "r1", retryAfter: 3 });
  }
  expect(asked.value).toBe(false);
});

it("asks who the visitor is when the gateway does not know", async () => {
  answer(401, "text/plain", "The key was revoked");
  expect(await refused(startStream("/run", {}, { onEvent: () => {} }))).toMatchObject({ message: "The key was revoked", status: 401 });
  expect(asked.value).toBe(true);
});
