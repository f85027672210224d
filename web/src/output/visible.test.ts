import { expect, it } from "vitest";

import { visible } from "./visible";

it.each([
  ["a plain name.txt", "a plain name.txt"],
  ["übung – 试.txt", "übung – 试.txt"],
  ["invoice\u202efdp.exe", "invoice\\u{202e}fdp.exe"],
  ["two\nlines", "two\\u{a}lines"],
  ["\u200bnothing", "\\u{200b}nothing"],
])("shows what is in %j", (name, seen) => expect(visible(name)).toBe(seen));
