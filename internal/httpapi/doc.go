// Package httpapi is everything of HTTP that the apps share, so that a handler
// only parses, calls the sandbox and renders.
//
// Handlers return errors. One place writes them, by one table of codes and
// statuses: in text by default, as {"error":{"code","message","requestId"}} to
// a client that asks for JSON. What went wrong on our side is told as a fixed
// sentence with the request's id; the cause is in the log under that id.
//
// The package also answers what no handler should have to think of: request
// ids, HEAD, OPTIONS and 405 with Allow, hosts and origins that are not ours,
// panics, the access log and the metrics.
package httpapi
