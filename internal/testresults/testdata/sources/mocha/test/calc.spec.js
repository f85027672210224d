'use strict';
const assert = require('node:assert');
const { add, fail } = require('../src/calc.js');

describe('calculator', function () {
  it('adds', function () { assert.strictEqual(add(1, 2), 3); });
  it('adds wrongly', function () { assert.strictEqual(add(1, 2), 4); });
  it.skip('is skipped', function () {});
  it('is pending');
  it('is slow', function (done) { setTimeout(done, 120); });
  describe('deeper', function () {
    it('fails in the source', function () { fail('deep down'); });
    it('compares objects', function () { assert.deepStrictEqual({ a: 1, b: [1, 2] }, { a: 1, b: [1, 3] }); });
    it('never calls back', function (done) { this.timeout(50); });
    it('throws many lines', function () { throw new Error('first\nsecond\n  third'); });
  });
});

describe('broken hook', function () {
  before(function () { throw new TypeError('hook broke'); });
  it('never runs', function () {});
});

it('is at the top', function () {});
