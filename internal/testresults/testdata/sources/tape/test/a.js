const test = require('tape');
test('arithmetic', (t) => { t.equal(1 + 1, 2, 'adds'); t.equal(1 + 1, 3, 'adds wrongly'); t.end(); });
test('plans', (t) => { t.plan(2); t.ok(true); t.deepEqual({ a: 1, b: [1, 2] }, { a: 1, b: [1, 3] }, 'same # shape'); });
test.skip('skipped', (t) => { t.fail(); t.end(); });
test('todo', { todo: true }, (t) => { t.fail('not yet'); t.end(); });
test('nested', (t) => { t.test('inner', (s) => { s.pass('inside'); s.end(); }); t.end(); });
