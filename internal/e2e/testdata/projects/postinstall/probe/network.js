'use strict';

const dns = require('node:dns');
const http = require('node:http');
const net = require('node:net');

const patience = 5_000;

// within gives up on what does not answer.
function within(attempt) {
  const late = new Promise((resolve) => setTimeout(resolve, patience, 'no answer').unref());
  return Promise.race([attempt, late]);
}

function connect(host, port) {
  return new Promise((resolve) => {
    const socket = net.connect({ host, port });
    socket.on('connect', () => resolve('CONNECTED'));
    socket.on('error', (error) => resolve(error.code));
  });
}

function lookUp(name) {
  return new Promise((resolve) => {
    dns.lookup(name, (error, address) => resolve(error ? error.code : `FOUND ${address}`));
  });
}

// tunnel asks the sandbox's own proxy for a way to a host.
function tunnel(to) {
  const proxy = process.env.HTTPS_PROXY || process.env.https_proxy;
  if (!proxy) {
    return Promise.resolve('no proxy');
  }
  const { hostname, port } = new URL(proxy);
  return new Promise((resolve) => {
    const request = http.request({ hostname, port, method: 'CONNECT', path: to });
    request.on('connect', (response, socket) => {
      socket.destroy();
      resolve(response.statusCode === 200 ? 'CONNECTED' : `refused with ${response.statusCode}`);
    });
    request.on('response', (response) => resolve(`refused with ${response.statusCode}`));
    request.on('error', (error) => resolve(error.code));
    request.end();
  });
}

// network tries addresses and names that no install needs: those of documents
// and of clouds' metadata.
exports.network = async () => {
  const attempts = {
    'direct to 192.0.2.1:443': connect('192.0.2.1', 443),
    'direct to 169.254.169.254:80': connect('169.254.169.254', 80),
    'look-up of secret.example.org': lookUp('secret.example.org'),
    'proxy to secret.example.org:443': tunnel('secret.example.org:443'),
    'proxy to 169.254.169.254:80': tunnel('169.254.169.254:80'),
    'proxy to [fd00:ec2::254]:80': tunnel('[fd00:ec2::254]:80'),
    'proxy to 127.0.0.1:22': tunnel('127.0.0.1:22'),
    'proxy to localhost:8787': tunnel('localhost:8787'),
  };
  const lines = [];
  for (const [what, attempt] of Object.entries(attempts)) {
    lines.push(`network, ${what}: ${await within(attempt)}`);
  }
  return lines;
};
