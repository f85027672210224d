import { describe, expect, it, test, beforeAll } from 'vitest';
import { add, fail } from '../src/calc.js';

describe('calculator', () => {
  test('adds', () => { expect(add(1, 2)).toBe(3); });
  test('adds wrongly', () => { expect(add(1, 2)).toBe(4); });
  test.skip('is skipped', () => {});
  test.todo('is to do');
  test.fails('is expected to fail', () => { expect(1).toBe(2); });
  describe('deeper', () => {
    it('fails in the source', () => { fail('deep down'); });
    it('compares objects', () => { expect({ a: 1, b: [1, 2] }).toEqual({ a: 1, b: [1, 3] }); });
    it('never ends', () => new Promise(() => {}), 50);
    it('throws many lines', () => { throw new Error('first\nsecond\n  third'); });
  });
});
