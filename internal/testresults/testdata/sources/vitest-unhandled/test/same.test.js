import { test, expect, describe } from 'vitest';
describe.each([1,2])('case %i', (n) => { test('is the same', () => { throw new Error('same'); }); });
test.skip('x', () => {});
