'use strict';

const express = require('express');

// app adds up what it is asked: GET /sum?of=1&of=2 answers {"sum":3}.
const app = express();

app.get('/sum', (request, response) => {
  const numbers = [request.query.of].flat().map(Number);
  if (numbers.some(Number.isNaN)) {
    response.status(400).json({ error: 'of has to be a number' });
    return;
  }
  response.json({ sum: numbers.reduce((a, b) => a + b, 0) });
});

module.exports = app;
