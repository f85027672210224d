package launch

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"

	"sandgate/internal/sandboxd/shim"
	"sandgate/sandboxclient/wire"
)

func TestError_classesWhatTheKernelSays(t *testing.T) {
	for errno, want := range map[syscall.Errno]string{
		syscall.ENOENT: wire.CodeInvalid, syscall.EACCES: wire.CodeInvalid, syscall.ENOEXEC: wire.CodeInvalid,
		syscall.ENOTDIR: wire.CodeInvalid, syscall.E2BIG: wire.CodeInvalid, syscall.ELOOP: wire.CodeInvalid,
		syscall.EAGAIN: wire.CodeExhausted, syscall.ENOMEM: wire.CodeExhausted, syscall.EMFILE: wire.CodeExhausted,
	} {
		err := Error(&shim.StartError{Argv0: "prog", Errno: errno})
		e, ok := errors.AsType[*wire.Error](err)
		if !ok || e.Code != want {
			t.Errorf("%v: %v, want %s", errno, err, want)
		}
	}
	for _, err := range []error{errors.New("other"), &shim.StartError{Errno: syscall.EIO}} {
		if got := Error(err); got != err {
			t.Errorf("%v became %v: it is ours, not the visitor's", err, got)
		}
	}
}

func TestEnv_isSortedAndOverridden(t *testing.T) {
	env, err := Env(map[string]string{"HOME": "/tmp", "A": ""})
	if err != nil || !slices.IsSorted(env) {
		t.Fatalf("%v, %v", env, err)
	}
	homes := 0
	for _, entry := range env {
		if strings.HasPrefix(entry, "HOME=") {
			homes++
		}
	}
	if homes != 1 || !slices.Contains(env, "HOME=/tmp") || !slices.Contains(env, "A=") {
		t.Errorf("%q", env)
	}
	if again, _ := Env(nil); !slices.Contains(again, "HOME="+home) {
		t.Error("the defaults were changed")
	}
}
