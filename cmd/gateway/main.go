// Command gateway serves five small apps over HTTP and leaves all their work to
// isolated sandboxes. `gateway --help` tells how it is configured.
//
// The package is the only one that knows everything: it reads the
// configuration, picks the driver, mounts the handlers and ends it all in order.
package main

import (
	"context"
	"os"
)

// version is set by the build.
var version = "dev"

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}
