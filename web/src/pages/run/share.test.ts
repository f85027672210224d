// @vitest-environment node
import { expect, it } from "vitest";

import { pack, unpack } from "./share";

it("carries code there and back", async () => {
  const shared = { language: "python", code: "print('☕')\n".repeat(50), stdin: "1\n" };
  expect(await unpack((await pack(shared))!)).toEqual(shared);
});

it("refuses what is too long for a link", async () => {
  const noise = Array.from({ length: 200_000 }, () => String.fromCharCode(33 + Math.random() * 90)).join("");
  expect(await pack({ language: "bash", code: noise })).toBeUndefined();
});

it.each(["", "L12", "1", "1!!!", "1abcd", "2abcd"])("does not understand %s", async (hash) => {
  expect(await unpack(hash)).toBeUndefined();
});
