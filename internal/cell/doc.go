// Package cell reads a cell of code out of a request and gives the answer to
// one that has run, alike for every app that runs code.
package cell
