// Package runs runs tests of repositories and keeps what came of them.
package runs
