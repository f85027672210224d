'use strict';

const assert = require('node:assert');

describe('sum', function () {
  it('adds up', function () {
    assert.strictEqual(1 + 2, 3);
  });

  it('adds wrongly', function () {
    assert.strictEqual(1 + 2, 4);
  });
});
