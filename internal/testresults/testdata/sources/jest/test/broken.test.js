const x = require('./no-such-module.js');
test('never runs', () => {});
