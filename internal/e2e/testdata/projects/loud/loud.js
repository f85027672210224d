'use strict';

// 50 MB in numbered lines of 100 bytes, then a summary. What is written waits
// for the reader, so that nothing of it piles up here.
const lines = 500_000;

async function main() {
  for (let n = 1; n <= lines; n++) {
    const line = `line ${n} `.padEnd(99, '.') + '\n';
    if (!process.stdout.write(line)) {
      await new Promise((resolve) => process.stdout.once('drain', resolve));
    }
  }
  process.stdout.write('TAP version 14\n1..1\nok 1 - was heard\n');
}

main();
