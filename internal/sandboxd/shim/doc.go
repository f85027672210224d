// Package shim starts programs as the sandbox user and ends them with
// everything that they started.
//
// A shim is sandboxd's own binary run again as root (`sandboxd shim`). It makes
// itself a child subreaper, so whatever its program leaves behind, through
// setsid, double forks or a cleared environment, becomes its child and not
// sandboxd's. When the program ends, or when asked, the shim kills until no
// child is left. A shim whose tree is gone serves the next program; a few are
// kept started, because starting a process costs some 20 ms under gVisor.
package shim
