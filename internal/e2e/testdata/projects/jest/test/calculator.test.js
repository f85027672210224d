'use strict';

const { add, divide } = require('../src/calculator.js');

test('adds', () => {
  expect(add(1, 2)).toBe(3);
});

describe('division', () => {
  it('divides', () => {
    expect(divide(6, 2)).toBe(3);
  });

  it('refuses zero', () => {
    expect(() => divide(1, 0)).toThrow(RangeError);
  });
});

test.skip('is skipped', () => {});
test.todo('is to do');
