// Package sleeptest holds tests only: what becomes of sandboxd, of interpreters
// and of all that programs hold when their sandbox is put to sleep and woken, or
// when many sandboxes begin with the memory of one.
package sleeptest
