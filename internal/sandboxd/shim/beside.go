package shim

import "slices"

// Beside counts the living processes in the trees of programs, which are not
// among them: what these have started, and what that left behind.
func Beside(programs []int) (int, error) {
	if len(programs) == 0 {
		return 0, nil
	}
	all, err := processes()
	if err != nil {
		return 0, err
	}
	return beside(all, programs), nil
}

func beside(all []process, programs []int) (n int) {
	var shims []int // each has one program, and is given the orphans of its tree
	for _, p := range all {
		if slices.Contains(programs, p.pid) && p.parent > 1 {
			shims = append(shims, p.parent)
		}
	}
	for _, p := range familyOf(all, shims...) {
		if !slices.Contains(programs, p.pid) {
			n++
		}
	}
	return n
}
