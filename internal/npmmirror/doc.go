// Package npmmirror answers npm in sandboxes out of a cache that all of them
// share and none can write to.
//
// A sandbox asks by plain HTTP, which spares it the encryption, and may only
// read: packages' documents and tarballs, by names whose form is checked. What
// is not in the cache is fetched from the registry by the gateway, on nobody's
// behalf in particular: no header of a sandbox reaches the registry, so nothing
// that a run says can change what another one gets.
//
// A tarball is fetched whole, its length and, where the package's document is
// known, its integrity are checked, and only then is it kept and answered. npm
// itself compares it with the lock file once more. Documents are asked for again
// after a minute, by their ETag; when the registry does not answer, what is
// there is better than nothing.
//
// The cache is a directory of bounded size, out of which what was not used for
// longest goes first.
package npmmirror
