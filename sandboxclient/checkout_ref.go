package sandboxclient

import (
	"slices"
	"strings"
)

// What the script is told that a ref is.
const (
	howClone  = "clone"  // a branch, a tag, or empty
	howFetch  = "fetch"  // the full name of a ref
	howCommit = "commit" // the full name of an object
	howGuess  = "guess"  // a branch, a tag, or a part of an object's name
)

const maxRef = 255

// how says in which way git gets the ref, and what git is to call it.
func (c Checkout) how() (how, ref string, err error) {
	ref = strings.TrimSpace(c.Ref)
	branch, isBranch := strings.CutPrefix(ref, "refs/heads/")
	switch {
	case ref == "" || ref == "HEAD":
		return howClone, "", nil
	case !validRef(ref) || isBranch && !validRef(branch):
		return "", "", Errorf(CodeInvalid, "The ref is no name of a branch, a tag or a commit")
	case isBranch:
		return howClone, branch, nil
	case strings.HasPrefix(ref, "refs/"):
		return howFetch, ref, nil
	case isObjectName(ref):
		return howCommit, strings.ToLower(ref), nil
	case len(ref) >= minAbbreviation && isHex(ref):
		return howGuess, ref, nil
	default:
		return howClone, ref, nil
	}
}

// minAbbreviation is the shortest part of an object's name that git takes.
const minAbbreviation = 4

// isObjectName says whether a text is a whole SHA-1 or SHA-256.
func isObjectName(text string) bool {
	return (len(text) == 40 || len(text) == 64) && isHex(text)
}

func isHex(text string) bool {
	return strings.Trim(text, "0123456789abcdefABCDEF") == ""
}

// validRef holds a name against the rules of git check-ref-format, and some of
// ours: it is of a bearable length and cannot be taken for an option.
func validRef(ref string) bool {
	switch {
	case ref == "" || len(ref) > maxRef || ref == "@":
		return false
	case strings.HasPrefix(ref, "-"), strings.HasSuffix(ref, "."):
		return false
	case strings.Contains(ref, ".."), strings.Contains(ref, "@{"):
		return false
	case strings.ContainsFunc(ref, isControl), strings.ContainsAny(ref, ` ~^:?*[\`):
		return false
	}
	return !slices.ContainsFunc(strings.Split(ref, "/"), badRefComponent)
}

func badRefComponent(part string) bool {
	return part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock")
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }
