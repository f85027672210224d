import { expect, it } from "vitest";

import { parseCSV } from "./csv";

it.each([
  ["a,b\n1,2\n", [["a", "b"], ["1", "2"]]],
  ["a,b\r\n1,2", [["a", "b"], ["1", "2"]]],
  ['a,"b,c"\n"x\ny","say ""hi"""\n', [["a", "b,c"], ["x\ny", 'say "hi"']]],
  ["a\tb\n1\t2\n", [["a", "b"], ["1", "2"]]],
  ["a;b\n1,5;2\n", [["a", "b"], ["1,5", "2"]]],
  ["", []],
  ["a,\n", [["a", ""]]],
])("reads %j", (text, want) => {
  expect(parseCSV(text, 100, 100)).toEqual({ rows: want, cut: false });
});

it("stops where it is told to", () => {
  expect(parseCSV("1\n2\n3\n", 2, 2)).toEqual({ rows: [["1"], ["2"]], cut: true });
  expect(parseCSV("1,2,3\n4,5\n", 9, 2)).toEqual({ rows: [["1", "2"], ["4", "5"]], cut: true });
});
