// Command sandboxd is the daemon inside every sandbox. It takes no flags: where
// it finds the gateway and the workspace is fixed.
package main

import (
	"os"

	"sandgate/internal/sandboxd"
)

func main() { os.Exit(sandboxd.Run(os.Args[1:], os.Stdout, os.Stderr)) }
