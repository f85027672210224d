'use strict';

// What an open handle does to a runner that does not force its end: the summary
// is there, and the process stays.
console.log('TAP version 14');
console.log('1..2');
console.log('ok 1 - adds');
console.log('ok 2 - subtracts');
setInterval(() => {}, 60_000);
