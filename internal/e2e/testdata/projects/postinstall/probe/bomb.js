'use strict';

const { spawn } = require('node:child_process');

// More than any sandbox has room for, and few enough for a machine to bear that
// lets them all in.
const most = 5_000;

// start gives a process, or nothing where there is no room for it.
function start() {
  return new Promise((resolve) => {
    let child;
    try {
      child = spawn('sleep', ['60'], { stdio: 'ignore' });
    } catch {
      resolve();
      return;
    }
    child.on('spawn', () => resolve(child));
    child.on('error', () => resolve());
  });
}

// bomb starts processes until there is no room, and ends them again.
exports.bomb = async () => {
  const children = [];
  for (let child = await start(); child && children.length < most; child = await start()) {
    children.push(child);
  }
  const ends = children.map((child) => new Promise((resolve) => child.on('exit', resolve)));
  children.forEach((child) => child.kill('SIGKILL'));
  await Promise.all(ends);
  return [`bomb: ${children.length === most ? 'ALL' : 'not all'} of ${most} processes, ${children.length} ran`];
};
