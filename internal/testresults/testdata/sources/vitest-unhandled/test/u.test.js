import { test, expect } from 'vitest';
test('passes and leaves something', () => { setTimeout(() => { throw new Error('too late'); }, 5); Promise.reject(new TypeError('nobody caught')); return new Promise((r) => setTimeout(r, 50)); });
