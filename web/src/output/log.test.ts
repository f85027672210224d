import { describe, expect, it } from "vitest";

import { spans } from "./ansi";
import { Log, plain } from "./log";

function text(pieces: string[], stream = "stdout"): string[] {
  const log = new Log();
  for (const p of pieces) log.write(stream, p);
  return log.lines.map((l) => plain(l.text));
}

describe("Log", () => {
  it.each([
    ["plain lines", "a\nb\n", ["a", "b"]],
    ["an open line", "a\nb", ["a", "b"]],
    ["an empty line", "a\n\nb\n", ["a", "", "b"]],
    ["\\r\\n", "a\r\nb\r\n", ["a", "b"]],
    ["a progress bar", "10 %\r20 %\r30 %\n", ["30 %"]],
    ["a shorter text over a longer one", "hello\rHE\n", ["HEllo"]],
    ["an erased line", "hello\r\x1b[2Khi\n", ["hi"]],
    ["backspaces", "abc\b\bX\n", ["aX"]],
    ["colours", "\x1b[31mred\x1b[0m\n", ["red"]],
    ["a title", "\x1b]0;title\x07x\n", ["x"]],
  ])("shows %s", (_, data, want) => {
    expect(text([data])).toEqual(want);
  });

  it("does not care where the data is cut", () => {
    const data = "one\r\n10 %\r20 %\r\n\x1b[32mgreen\x1b[0m and not\nlast";
    const whole = text([data]);
    for (let i = 1; i < data.length; i++) {
      // A sequence that is cut in two is the gateway's business: it cuts none.
      if (/\x1b[^m]*$/.test(data.slice(0, i))) continue;
      expect(text([data.slice(0, i), data.slice(i)])).toEqual(whole);
    }
  });

  it("begins a line where another stream breaks in", () => {
    const log = new Log();
    log.write("stdout", "out");
    log.write("stderr", "err\n");
    log.write("stdout", "more\n");
    expect(log.lines.map((l) => [l.stream, l.text])).toEqual([
      ["stdout", "out"],
      ["stderr", "err"],
      ["stdout", "more"],
    ]);
  });

  it("carries a colour over the end of a line", () => {
    const log = new Log();
    log.write("stdout", "\x1b[31mred\nstill red\x1b[0m\nplain\n");
    expect(log.lines.map((l) => l.style?.fg)).toEqual([undefined, "1", undefined]);
  });

  it("keeps the newest lines, and counts the others", () => {
    const log = new Log(100);
    for (let i = 0; i < 1000; i++) log.write("stdout", `${i}\n`);
    expect(log.lines.length + log.dropped).toBe(1000);
    expect(log.lines.length).toBeLessThanOrEqual(110);
    expect(log.lines.at(-1)!.text).toBe("999");
  });

  it("survives a hostile line", () => {
    const log = new Log();
    const began = Date.now();
    log.write("stdout", "a\b".repeat(500_000));
    log.write("stdout", "\x1b[".repeat(500_000));
    log.write("stdout", "\r\x1b[K".repeat(100_000));
    log.write("stdout", `\n${"x".repeat(60_000)}`);
    log.write("stdout", "\ra".repeat(500_000));
    expect(spans("\x1b[31ma\x1b[32mb".repeat(30_000)).length).toBeLessThan(1000);
    expect(Date.now() - began).toBeLessThan(10_000);
  });
});
