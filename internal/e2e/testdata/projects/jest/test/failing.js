'use strict';

const { add, divide } = require('../src/calculator.js');

test('adds wrongly', () => {
  expect(add(1, 2)).toBe(4);
});

test('throws in the source', () => {
  divide(1, 0);
});
