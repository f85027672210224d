import { expect, it } from "vitest";

import type { Sandbox } from "../../api/sandboxes";
import { ago, fate, pageOf, summary } from "./words";

const now = Date.parse("2026-01-02T12:00:00Z");

it.each([
  ["2026-01-02T12:00:04Z", "just now"], // the gateway's clock is ahead
  ["2026-01-02T11:59:55Z", "just now"],
  ["2026-01-02T11:59:30Z", "30 seconds ago"],
  ["2026-01-02T11:58:59Z", "1 minute ago"],
  ["2026-01-02T09:00:00Z", "3 hours ago"],
  ["2025-12-31T12:00:00Z", "2 days ago"],
])("says when %s was", (when, want) => expect(ago(when, now)).toBe(want));

const sandbox: Sandbox = {
  app: "notebook", name: "a", state: "running", createdAt: "", lastUsed: "", memoryBytes: 0, diskBytes: 0,
  sleepsAt: "2026-01-02T12:10:00Z", destroyedAt: "2026-01-03T12:00:00Z",
};

it("says what comes next", () => {
  expect(fate(sandbox, now)).toBe("sleeps in 10 minutes");
  expect(fate(sandbox, now, false)).toBe("ends in 10 minutes");
  expect(fate({ ...sandbox, state: "hibernated" }, now)).toBe("destroyed in 1 day");
  expect(fate({ ...sandbox, state: "hibernated", destroyedAt: "2026-01-02T11:00:00Z" }, now)).toBe("destroyed any moment");
  expect(fate({ ...sandbox, sleepsAt: undefined, destroyedAt: undefined }, now)).toBe("");
});

it("sums up what is there, and nothing that is not", () => {
  const asleep: Sandbox = { ...sandbox, state: "hibernated", diskBytes: 2048 };
  const running: Sandbox = { ...sandbox, memoryBytes: 1024 };
  expect(summary([running, running, asleep])).toBe("2 running with 2.0 KiB of memory, 1 asleep, 2.0 KiB on disk");
  expect(summary([asleep])).toBe("1 asleep, 2.0 KiB on disk");
  expect(summary([sandbox])).toBe("1 running");
  expect(summary([{ ...sandbox, state: "stopped" }])).toBe("");
});

it("leads to what is in a sandbox", () => {
  expect(pageOf({ app: "notebook", name: "a/b ?" })).toBe("/app/notebooks/a%2Fb%20%3F");
  expect(pageOf({ app: "other", name: "x" })).toBeUndefined();
});
