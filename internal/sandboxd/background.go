package sandboxd

import (
	"slices"
	"sync"

	"sandgate/internal/sandboxd/kernel"
	"sandgate/internal/sandboxd/shim"
)

// A background is the kernels that have run a cell, which may have left
// processes running.
type background struct {
	mu      sync.Mutex
	kernels []*kernel.Kernel
}

// note adds a kernel, unless it is there.
func (b *background) note(k *kernel.Kernel) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.Contains(b.kernels, k) {
		b.kernels = append(b.kernels, k)
	}
}

// count tells how many processes run beside interpreters.
func (b *background) count() (int, error) {
	return shim.Beside(b.alive())
}

// alive gives the pids of the interpreters that live, and forgets the others.
func (b *background) alive() []int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kernels = slices.DeleteFunc(b.kernels, func(k *kernel.Kernel) bool {
		select {
		case <-k.Done():
			return true
		default:
			return false
		}
	})
	pids := make([]int, len(b.kernels))
	for i, k := range b.kernels {
		pids[i] = k.Pid()
	}
	return pids
}
