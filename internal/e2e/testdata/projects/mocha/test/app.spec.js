'use strict';

const assert = require('node:assert');
const app = require('../src/app.js');

describe('sum', function () {
  let server;
  let url;

  before(function (done) {
    server = app.listen(0, '127.0.0.1', () => {
      url = `http://127.0.0.1:${server.address().port}`;
      done();
    });
  });

  after(function (done) {
    server.close(done);
    server.closeAllConnections();
  });

  it('adds up', async function () {
    const response = await fetch(`${url}/sum?of=1&of=2`);
    assert.deepStrictEqual(await response.json(), { sum: 3 });
  });

  it('refuses words', async function () {
    const response = await fetch(`${url}/sum?of=one`);
    assert.strictEqual(response.status, 400);
  });

  it('subtracts');

  it.skip('is fast', function () {});
});
