package drivertest

import "strings"

// checkNeighbours looks from one sandbox for what another one has and does, and
// from there as well: what cannot be found at all shows no wall.
func checkNeighbours(r *rig) {
	one, two := r.start(), r.start()
	done := make(chan error, 1)
	c, ctx := r.client(one), r.ctx()
	go func() {
		_, err := c.exec(ctx, patience, "/usr/bin/python3", "-c", r.source("walls")+"\n\n"+r.source("stand"))
		done <- err
	}()
	r.must(one, "until test -s /workspace/stands; do sleep 0.05; done")
	for _, w := range r.walls(one, "neighbours") {
		if !strings.HasPrefix(w.allowed, "done: ") {
			r.Errorf("%s: not there for its own sandbox: %s", w.name, w.allowed)
		}
	}
	for _, w := range r.walls(two, "neighbours") {
		if !strings.HasPrefix(w.refused, "refused: ") {
			r.Errorf("%s: there for the neighbour: %s", w.name, w.refused)
		}
	}
	r.must(one, "touch /workspace/end")
	if err := <-done; err != nil {
		r.Errorf("the neighbour: %v", err)
	}
}
