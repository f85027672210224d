package shim

import "testing"

func TestBeside(t *testing.T) {
	all := []process{
		{pid: 1}, {pid: 2, parent: 1}, {pid: 3, parent: 1}, {pid: 4, parent: 1},
		{pid: 10, parent: 2},                        // an interpreter
		{pid: 11, parent: 10},                       // its child
		{pid: 12, parent: 11},                       // and a grandchild
		{pid: 13, parent: 2},                        // an orphan of it
		{pid: 14, parent: 10, state: 'Z'},           // what is over
		{pid: 20, parent: 3},                        // an interpreter by itself
		{pid: 30, parent: 4}, {pid: 31, parent: 30}, // another program
		{pid: 40, parent: 1}, {pid: 41, parent: 40}, // one whose shim is lost
	}
	for name, tt := range map[string]struct {
		programs []int
		want     int
	}{
		"none":         {nil, 0},
		"children":     {[]int{10}, 3},
		"by itself":    {[]int{20}, 0},
		"two":          {[]int{10, 20}, 3},
		"gone":         {[]int{99}, 0},
		"without shim": {[]int{40}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := beside(all, tt.programs); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

func TestBeside_realProcesses(t *testing.T) {
	p := newPool(t)
	prog := shell(t, p, escapes["double fork"]+"\nread")
	prog.pids(t, 1)
	if n, err := Beside([]int{prog.Pid()}); err != nil || n != 1 {
		t.Errorf("got %d, %v, want the one that got away", n, err)
	}
}
