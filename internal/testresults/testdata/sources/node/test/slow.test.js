'use strict';
const { test, describe, it, before } = require('node:test');
test('is too slow', { timeout: 30 }, async () => { await new Promise((r) => setTimeout(r, 3000).unref()); });
describe('with a broken hook', () => {
  before(() => { throw new Error('hook broke'); });
  it('never runs', () => {});
});
console.log('a line of the program # that is no test');
console.log('ok then');
