// Package deploy checks the files beside it that put the gateway on a machine.
package deploy

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sandgate/internal/sandboxtest"
)

const unit = "sandgate.service"

// installedGateway is where the unit, the Dockerfile and README.md put the program.
const installedGateway = "/usr/local/lib/sandgate/gateway"

func TestUnit_isWhatSystemdUnderstands(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		sandboxtest.Missing(t, "there is no systemd-analyze")
	}

	out, err := exec.CommandContext(t.Context(), "systemd-analyze", "verify", "--man=no", installedUnit(t)).CombinedOutput()
	if err != nil {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
	// What it only warns of, and ignores, counts too; other units are not ours.
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, unit) {
			t.Error(line)
		}
	}
}

// installedUnit copies the unit as if the gateway were installed, since
// systemd-analyze looks for the program.
func installedUnit(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	gateway := filepath.Join(dir, "gateway")
	if err := os.WriteFile(gateway, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}

	written := read(t, unit)
	command := []byte("ExecStart=" + installedGateway + " ")
	if !bytes.Contains(written, command) {
		t.Fatalf("%s does not start %s", unit, installedGateway)
	}
	path := filepath.Join(dir, unit)
	copied := bytes.Replace(written, command, []byte("ExecStart="+gateway+" "), 1)
	if err := os.WriteFile(path, copied, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDockerfile_agreesWithTheRest(t *testing.T) {
	dockerfile := read(t, "Dockerfile")
	if !bytes.Contains(dockerfile, []byte(`"`+installedGateway+`"`)) {
		t.Errorf("the image does not start %s", installedGateway)
	}

	makefile := read(t, "../Makefile")
	programs := regexp.MustCompile(`bin/\w+`).FindAll(dockerfile, -1)
	if len(programs) == 0 {
		t.Error("the image builds nothing")
	}
	for _, program := range programs {
		if !bytes.Contains(makefile, append([]byte("\n"), append(program, ':')...)) {
			t.Errorf("the image needs %s, which make does not build", program)
		}
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
