package execution

import "slices"

// Running gives the executions that have not ended.
func (r *Registry) Running() []*Execution {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]*Execution, 0, r.running)
	for _, x := range r.byID {
		if !slices.Contains(r.ended, x) {
			all = append(all, x)
		}
	}
	return all
}
