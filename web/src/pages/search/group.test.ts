import { expect, it } from "vitest";

import { group, pieces } from "./group";

it("puts lines that touch together", () => {
  const found = group([
    { path: "/workspace/a.py", line: 2, text: "two", before: [{ line: 1, text: "one" }], after: [{ line: 3, text: "three" }] },
    { path: "/workspace/a.py", line: 4, text: "four", before: [{ line: 3, text: "three" }] },
    { path: "/workspace/a.py", line: 9, text: "nine" },
    { path: "/workspace/b:c", line: 1, text: "x" },
  ]);
  expect(found.map((g) => [g.path, g.matches, g.blocks.map((b) => b.map((l) => l.line))])).toEqual([
    ["a.py", 3, [[1, 2, 3, 4], [9]]],
    ["b:c", 1, [[1]]],
  ]);
});

const plain = { fixed: true, ignoreCase: false, word: false };

it.each([
  ["a.b+a.b", "a.b", plain, ["", "a.b", "+", "a.b", ""]],
  ["Foo foo", "foo", { ...plain, ignoreCase: true }, ["", "Foo", " ", "foo", ""]],
  ["food foo", "foo", { ...plain, word: true }, ["food ", "foo", ""]],
  ["a(b", "a(b", { ...plain, fixed: false }, ["", "a(b", ""]],
  ["axb", "a.b", { ...plain, fixed: false }, ["axb"]],
  ["x", "", plain, ["x"]],
])("marks %s for %s", (text, term, opts, want) => {
  expect(pieces(text, term, opts)).toEqual(want);
});
