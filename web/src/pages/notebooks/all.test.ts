import { expect, it } from "vitest";

import type { Sandbox } from "../../api/sandboxes";
import { freeName, together } from "./all";

const sandbox = (app: string, name: string, lastUsed: string): Sandbox => ({
  app, name, lastUsed, state: "hibernated", createdAt: "", memoryBytes: 0, diskBytes: 0,
});

it("lists the gateway's notebooks with those that are kept here", () => {
  const kept = [{ name: "both", changed: Date.parse("2026-01-02T00:00:00Z") }, { name: "here", changed: 0 }];
  const there = [
    sandbox("notebook", "both", "2026-01-04T00:00:00Z"),
    sandbox("notebook", "there", "2026-01-03T00:00:00Z"),
    sandbox("coderunner", "run", "2026-01-03T00:00:00Z"),
  ];
  const rows = together(kept, there);
  expect(rows.map((r) => [r.name, r.elsewhere])).toEqual([["there", true], ["both", false], ["here", false]]);
});

it("finds a name for a new one", () => {
  expect(freeName([])).toBe("notebook-1");
  expect(freeName(together([], [sandbox("notebook", "notebook-2", "")]))).toBe("notebook-3");
});
