package sandboxclient

import (
	"context"
	"errors"
	"testing"
)

// tally counts kernels, and how often it was asked.
type tally struct {
	Records
	kernels, asked int
	fails          error
}

func (t *tally) Generation(_ context.Context, _ ID, _ string, started bool) (int, error) {
	t.asked++
	if t.fails != nil {
		return 0, t.fails
	}
	if started {
		t.kernels++
	}
	return t.kernels, nil
}

func (t *tally) DeleteSandbox(context.Context, ID) error {
	t.kernels = 0
	return t.fails
}

func TestCountedRecords_askOnlyForWhatTheyDoNotKnow(t *testing.T) {
	records := &tally{}
	counted := newCountedRecords(records)
	for i, step := range []struct {
		started     bool
		want, asked int
	}{
		{false, 0, 1},
		{false, 0, 2}, // what never was is not kept
		{true, 1, 3},
		{false, 1, 3},
		{true, 2, 4},
		{false, 2, 4},
	} {
		n, err := counted.Generation(t.Context(), "id", "default-python", step.started)
		if err != nil || n != step.want || records.asked != step.asked {
			t.Errorf("step %d: %d, %v, asked %d times; want %d, asked %d times", i, n, err, records.asked, step.want, step.asked)
		}
	}
	if n, _ := counted.Generation(t.Context(), "id", "default-bash", false); n != 2 || records.asked != 5 {
		t.Errorf("another context: %d, asked %d times", n, records.asked)
	}
	if err := counted.DeleteSandbox(t.Context(), "id"); err != nil {
		t.Fatal(err)
	}
	if n, _ := counted.Generation(t.Context(), "id", "default-python", false); n != 0 || records.asked != 6 {
		t.Errorf("after the sandbox: %d, asked %d times", n, records.asked)
	}
}

func TestCountedRecords_keepNoFailure(t *testing.T) {
	records := &tally{fails: errors.New("the disk is full")}
	counted := newCountedRecords(records)
	if _, err := counted.Generation(t.Context(), "id", "default-python", true); !errors.Is(err, records.fails) {
		t.Error(err)
	}
	records.fails = nil
	if n, err := counted.Generation(t.Context(), "id", "default-python", true); n != 1 || err != nil {
		t.Errorf("then %d, %v", n, err)
	}
}
