// Package archtest holds the rules of the house as tests: who may import whom,
// what packages are called and how they are documented, which versions belong
// together, and what no file may name.
//
// A rule whose subject is gone fails as well, so that none of them goes on
// passing after a rename.
package archtest
