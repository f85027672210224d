package objects

import (
	"fmt"
	"strings"
)

const (
	maxKey  = 512
	maxName = 128
)

// CheckKey gives ErrKey for what is no key.
func CheckKey(key string) error {
	if len(key) > maxKey {
		return fmt.Errorf("%w: %d bytes", ErrKey, len(key))
	}
	for name := range strings.SplitSeq(key, "/") {
		if !isName(name) {
			return fmt.Errorf("%w: %q", ErrKey, key)
		}
	}
	return nil
}

// CheckPrefix gives ErrKey for what no key can begin with.
func CheckPrefix(prefix string) error {
	if prefix == "" || CheckKey(prefix) == nil {
		return nil
	}
	return CheckKey(prefix + "a") // the prefix ends with a slash
}

func isName(name string) bool {
	if name == "" || len(name) > maxName || name[0] == '.' {
		return false
	}
	for i := range len(name) {
		if !isNameByte(name[i]) {
			return false
		}
	}
	return true
}

func isNameByte(b byte) bool {
	switch {
	case 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z', '0' <= b && b <= '9':
		return true
	}
	return b == '.' || b == '_' || b == '-'
}
