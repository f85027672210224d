'use strict';

const fs = require('node:fs');

// Files and folders of a host that no sandbox should show.
const secrets = [
  '/etc/shadow',
  '/etc/ssh/ssh_host_ed25519_key',
  '/root',
  '/home',
  '/proc/1/environ',
  '/proc/1/root/etc/shadow',
  '/var/run/docker.sock',
  '/run/containerd/containerd.sock',
  '/var/log/syslog',
  '/dev/sda',
  '/dev/vda',
  '/dev/mem',
];

const places = ['/usr/bin/probe', '/etc/probe', '/sys/fs/cgroup/probe', '/proc/sys/kernel/core_pattern'];

function attempt(action) {
  try {
    return action();
  } catch (error) {
    return error.code;
  }
}

function read(file) {
  if (fs.statSync(file).isDirectory()) {
    return `HOLDS ${fs.readdirSync(file).join(' ') || 'nothing'}`;
  }
  return `READ ${fs.readFileSync(file).length} bytes`;
}

function write(file) {
  fs.writeFileSync(file, 'probe\n');
  return 'WRITTEN';
}

exports.files = () => [
  ...secrets.map((file) => `file, ${file}: ${attempt(() => read(file))}`),
  ...places.map((file) => `file, writing ${file}: ${attempt(() => write(file))}`),
  `user: ${process.getuid()}`,
];
