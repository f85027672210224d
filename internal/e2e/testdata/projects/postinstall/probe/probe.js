'use strict';

// What a hostile install script would try, told in lines that begin with
// "probe": the network, the host's files, and every process that there is room
// for. Whatever comes of it, the script succeeds, so that the tests run after it.
// npm keeps to itself what a dependency's script prints: npm test shows the log.
const fs = require('node:fs');
const path = require('node:path');
const { network } = require('./network.js');
const { files } = require('./files.js');
const { bomb } = require('./bomb.js');

const log = path.join(process.env.INIT_CWD || '.', 'probe.log');

function tell(line) {
  console.log(line);
  fs.appendFileSync(log, `${line}\n`);
}

async function main(by) {
  for (const attempt of [network, files, bomb]) {
    for (const line of await attempt()) {
      tell(`probe by ${by}: ${line}`);
    }
  }
  tell(`probe by ${by}: done`);
}

main(process.argv[2]);
