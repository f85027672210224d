package egress

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"sandgate/internal/sandboxtest"
)

func TestMain(m *testing.M) {
	code := sandboxtest.Main(m)
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}
