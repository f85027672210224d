package main

import (
	"context"
	"io"
	"net/http"
	"strings"
)

// attacks lists what requests cost while a fork bomb burns.
func (l *lab) attacks() []comparison {
	file := l.stored(kiB)
	state := l.get(l.standard.URL + "/notebook?notebook=bomb&language=bash")
	return []comparison{
		{
			name: "GET of 1 KiB beside a fork bomb", against: "quiet", aim: "no aim yet", unit: "ms", rounds: 4,
			measured: l.besideBomb(file), reference: l.quiet(file),
		},
		{
			name: "state of the bombed notebook", against: "quiet", aim: "no aim yet", unit: "ms", rounds: 4,
			measured: l.besideBomb(state), reference: l.quiet(state),
		},
	}
}

// bomb forks from every process until none may, which it says, and is lit again
// where it dies down. Its processes are small: a bomb of large ones takes all
// memory first, and ends.
const bomb = "while :; do sh -c 'b() { b | b & }; b'; done"

// asks is how many requests one sample is the median of.
const asks = 30

// besideBomb takes a median while a bomb burns in a notebook, with as many
// processes as a sandbox may have.
func (l *lab) besideBomb(ask sample) sample {
	return func(ctx context.Context) (float64, error) {
		s, err := l.watch(ctx, http.MethodPost, l.standard.URL+"/notebook?notebook=bomb&language=bash&timeout=600", bomb)
		if err != nil {
			return 0, err
		}
		defer s.close()
		if err := s.until(func(e event) bool { return strings.Contains(e.Data, "Cannot fork") }); err != nil {
			return 0, err
		}
		took, err := medianOf(ctx, ask)
		if err != nil {
			return 0, err
		}
		if err := l.request(ctx, http.MethodDelete, l.standard.URL+s.location, nil, 0, io.Discard); err != nil {
			return 0, err
		}
		return took, s.until(complete)
	}
}

// quiet takes the same median while nothing burns.
func (l *lab) quiet(ask sample) sample {
	return func(ctx context.Context) (float64, error) { return medianOf(ctx, ask) }
}

func medianOf(ctx context.Context, ask sample) (float64, error) {
	took := make([]float64, asks)
	for i := range took {
		var err error
		if took[i], err = ask(ctx); err != nil {
			return 0, err
		}
	}
	return quantile(took, 0.5), nil
}
