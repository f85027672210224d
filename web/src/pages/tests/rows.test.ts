import { expect, it } from "vitest";

import { Rows } from "./rows";
import type { Section } from "./watch";

const section = (phase: string, from: number): Section => ({ phase, from, began: "", ended: true });
const sections = [section("clone", 0), section("install", 3), section("test", 3), section("empty", 10)];

it("finds every row, and back", () => {
  const rows = new Rows(sections, new Set(), 0, 10);
  expect(rows.count).toBe(4 + 10);
  const seen = Array.from({ length: rows.count }, (_, i) => rows.at(i)!);
  expect(seen.filter((r) => r.kind === "line").map((r) => (r as { line: number }).line)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  for (let line = 0; line < 10; line++) expect(rows.at(rows.of(line))).toEqual({ kind: "line", line });
  expect(rows.at(rows.count)).toBeUndefined();
});

it("leaves out what is folded or gone", () => {
  const rows = new Rows(sections, new Set([0]), 5, 10);
  expect(rows.count).toBe(4 + 5);
  expect(rows.at(0)).toEqual({ kind: "phase", section: 0 });
  expect(rows.at(1)).toEqual({ kind: "phase", section: 1 });
  expect(rows.at(3)).toEqual({ kind: "line", line: 5 });
});
