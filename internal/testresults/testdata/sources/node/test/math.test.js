'use strict';
const { test, describe, it, before } = require('node:test');
const assert = require('node:assert');

const add = (a, b) => a + b;

test('adds', () => { assert.strictEqual(add(1, 2), 3); });
test('names with # hash and \\ backslash', () => {});
test('is skipped', { skip: 'not on this machine' }, () => {});
test('is to do', { todo: true }, () => {});
test('is to do and fails', { todo: 'next week' }, () => { throw new Error('not yet'); });
test('adds wrongly', () => { assert.strictEqual(add(1, 2), 4); });
test('throws', async () => { throw new TypeError('no\nsuch thing'); });
test('compares objects', () => { assert.deepStrictEqual({ a: 1, b: [1, 2] }, { a: 1, b: [1, 3] }); });

describe('calculator', () => {
  it('starts at zero', () => {});
  it.skip('is skipped too', () => {});
  it.todo('is to do too');
  describe('division', () => {
    it('divides', () => { assert.equal(6 / 2, 3); });
    it('refuses zero', () => { assert.throws(() => 1 / 0, RangeError); });
  });
});

test('parent', async (t) => {
  await t.test('child passes', () => {});
  await t.test('child fails', () => { throw new Error('child broke'); });
});
