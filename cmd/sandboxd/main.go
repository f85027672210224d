// Command sandboxd is the daemon inside every sandbox. It takes no flags: where
// it finds the gateway and the workspace is fixed.
package main

import (
	"os"
	"runtime"

	"sandgate/internal/sandboxd"
)

func main() {
	// What it does is pass things on. Waking another thread for that costs more
	// than the work, most of all under gVisor: a warm cell took a fifth longer.
	runtime.GOMAXPROCS(1)
	os.Exit(sandboxd.Run(os.Args[1:], os.Stdout, os.Stderr))
}
