package local

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Where an ext4 file system says how it is, and what it says when the kernel
// found errors in it.
const (
	superblockState = 1024 + 0x3a
	stateErrors     = 2
)

// hasErrors says whether the kernel found errors in a file system. A mere
// unclean end is none: the journal takes care of that when it is mounted.
func hasErrors(image *os.File) bool {
	state := make([]byte, 2)
	_, err := image.ReadAt(state, superblockState)
	return err == nil && binary.LittleEndian.Uint16(state)&stateErrors != 0
}

// checkImage repairs what can be repaired without a loss.
func checkImage(ctx context.Context, path string) error {
	const uncorrected = 4
	e2fsck, ok := findTool("e2fsck")
	if !ok {
		return fmt.Errorf("the file system in %s has to be checked, and e2fsck is missing: install e2fsprogs", path)
	}
	out, err := exec.CommandContext(ctx, e2fsck, "-p", path).CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() > 0 && exit.ExitCode() < uncorrected {
		return nil // it found something, and corrected it
	}
	if err != nil {
		return fmt.Errorf("the file system in %s is damaged: look at it with e2fsck: %w: %.500s", path, err, strings.TrimSpace(string(out)))
	}
	return nil
}
