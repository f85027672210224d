'use strict';

const assert = require('node:assert');
const { test } = require('node:test');
const isNumber = require('is-number');

test('knows a number', () => assert.ok(isNumber('12')));
test('knows a word', () => assert.ok(!isNumber('twelve')));
