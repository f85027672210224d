// Command filters prints the system call filters that gVisor compiles anew at
// every start of a sandbox if they were not compiled when it was built itself:
//
//	go run ./filters sentry|gofer
//
// gVisor's own build, by another tool than Go's, fills them in the same way. The
// output is a file of the package that holds them; tools/runsc.sh puts it there.
package main

import (
	"fmt"
	"log"
	"os"
	"strings"

	sentry "gvisor.dev/gvisor/runsc/boot/filter/config"
	gofer "gvisor.dev/gvisor/runsc/fsgofer/filter/config"
)

const file = `package filter

import "gvisor.dev/gvisor/pkg/seccomp/precompiledseccomp"

func renderedPrograms() map[string]precompiledseccomp.Program {
	return map[string]precompiledseccomp.Program{
%s	}
}
`

func main() {
	log.SetFlags(0)
	log.SetPrefix("filters: ")
	if len(os.Args) != 2 {
		log.Fatal("which: sentry or gofer?")
	}
	compile := sentry.PrecompiledPrograms
	if os.Args[1] == "gofer" {
		compile = gofer.PrecompiledPrograms
	}
	programs, err := compile()
	if err != nil {
		log.Fatal(err)
	}
	var entries strings.Builder
	for _, p := range programs {
		if ours(p.Name) {
			fmt.Fprintf(&entries, "\t\t%q: %s,\n", p.Name, p.Expr("\t\t", "precompiledseccomp"))
		}
	}
	fmt.Printf(file, entries.String())
}

// ours says whether a sandbox of this project can ask for a program. There are
// hundreds, for other platforms and for devices that none of them has.
func ours(name string) bool {
	for _, other := range []string{"NVProxy=true", "TPUProxy=true", "RDMAProxy=true", "HostNetwork=true"} {
		if strings.Contains(name, other) {
			return false
		}
	}
	return !strings.Contains(name, "Platform=") || strings.Contains(name, `Platform="systrap"`)
}
