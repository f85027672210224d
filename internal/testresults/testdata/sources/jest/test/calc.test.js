const { add, fail } = require('../src/calc.js');

describe('calculator', () => {
  test('adds', () => { expect(add(1, 2)).toBe(3); });
  test('adds wrongly', () => { expect(add(1, 2)).toBe(4); });
  test.skip('is skipped', () => {});
  test.todo('is to do');
  describe('deeper', () => {
    it('fails in the source', () => { fail('deep down'); });
    it('compares objects', () => { expect({ a: 1, b: [1, 2] }).toEqual({ a: 1, b: [1, 3] }); });
    it('never calls back', (done) => {}, 50);
    it('throws many lines', () => { throw new Error('first\nsecond\n  third'); });
  });
});
