// Package egress is the way out of sandboxes, on the gateway's side: it
// decides where a sandbox may connect to, and connects it.
//
// A sandbox has no network. A program inside that uses the proxy which sandboxd
// offers has its connections relayed here, each with the target that it asked
// for, a name or an address. Nothing is resolved inside. Here a slot is taken,
// the target is read, the [Policy] of the sandbox's app is asked, and only then
// is the name resolved and dialled; what the name led to is judged once more, on
// the very address of the connection, so that a name which changes its answer
// gains nothing.
//
// Addresses that are not public are refused in every mode: private, loopback,
// link-local (which the metadata services of clouds use), shared, multicast,
// unspecified and this host's own, in IPv4, in IPv6, and in the notations of one
// in the other. Documentation ranges are let through: closed networks put their
// registries there. A target that the operator named as private is exempt.
//
// Which addresses are public is the business of code.dny.dev/ssrf, which follows
// IANA's registries.
package egress
