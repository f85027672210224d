import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { Pace } from "./pace";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "requestAnimationFrame", "performance"] }));
afterEach(() => void vi.useRealTimers());

it("draws the next frame, then a pause apart, and the last change as well", () => {
  const drawn: number[] = [];
  let value = 0;
  const pace = new Pace(() => drawn.push(value), 100);
  for (value = 1; value <= 400; value++) {
    pace.changed();
    vi.advanceTimersByTime(1);
  }
  vi.advanceTimersByTime(1000);
  expect(drawn[0]).toBeLessThan(20);
  expect(drawn.length).toBeGreaterThan(3);
  expect(drawn.length).toBeLessThan(7);
  expect(drawn.at(-1)).toBeGreaterThanOrEqual(400);
});

it("draws nothing when nothing changes", () => {
  const draw = vi.fn();
  const pace = new Pace(draw, 100);
  pace.changed();
  vi.advanceTimersByTime(5000);
  expect(draw).toHaveBeenCalledTimes(1);
});
