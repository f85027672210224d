import { expect, test } from 'vitest';
import { add, divide } from '../src/calculator.js';

test('adds wrongly', () => {
  expect(add(1, 2)).toBe(4);
});

test('throws in the source', () => {
  divide(1, 0);
});
