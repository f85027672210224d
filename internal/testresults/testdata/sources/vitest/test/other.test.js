import { describe, it, test, beforeAll } from 'vitest';
test('passes', () => { console.log('hello from a test'); });
describe('broken hook', () => {
  beforeAll(() => { throw new TypeError('hook broke'); });
  it('never runs', () => {});
});
