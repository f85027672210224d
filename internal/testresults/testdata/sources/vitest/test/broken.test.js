import './no-such-module.js';
import { test } from 'vitest';
test('never runs', () => {});
