package main

import (
	"context"
	"slices"

	"sandgate/internal/sandboxtest"
)

// comparisons lists what is measured, in the order of the table; growth is told
// beside so many sandboxes that sleep.
func (l *lab) comparisons(cold bool, asleep int) []comparison {
	all := slices.Concat(l.runs(), l.sleeps(), l.growths(asleep), l.identities(), l.transfers(), l.backups(), l.searches(), l.streams(), l.tests(), l.attacks(), l.throughput(), l.pages())
	if cold {
		all = append(all, l.coldStart())
	}
	return all
}

// runs lists what it takes to run something.
func (l *lab) runs() []comparison {
	return []comparison{
		l.warmRun("warm POST /run, standard library", l.standard, "≤ 0.15"),
		l.warmRun("warm POST /run, IPython", l.ipython, "≤ 0.25"),
		{
			name: "exec of true", against: "P", aim: "no aim yet", unit: "ms", rounds: 40,
			measured: l.execTrue, reference: python,
		},
		{
			name: "gateway's memory, idle", aim: "no aim yet", unit: "MiB", rounds: 3,
			measured: func(context.Context) (float64, error) { return memory(l.standard.PID(), "VmRSS") },
		},
	}
}

func (l *lab) warmRun(name string, g *sandboxtest.Gateway, aim string) comparison {
	return comparison{
		name: name, against: "P", aim: aim, unit: "ms", rounds: 200,
		measured: l.post(g.URL+"/run", `print("hello")`, `"hello\n"`), reference: python,
	}
}
