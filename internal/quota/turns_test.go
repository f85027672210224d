package quota

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// While one owner's burst holds everything and fills the line, another's single
// requests wait for one turn each, and never for the burst.
func TestTurns_aBurstStarvesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most, turn = 4, time.Second
		turns := NewTurns(most, most)
		ctx, stop := context.WithCancel(t.Context())
		var burst sync.WaitGroup
		for range 3 * most { // more than fit, each coming back at once
			burst.Go(func() {
				for ctx.Err() == nil {
					if turns.Enter(ctx, "greedy") != nil {
						time.Sleep(turn / 10)
						continue
					}
					time.Sleep(turn)
					turns.Leave("greedy")
				}
			})
		}
		synctest.Wait()
		if holding, waiting := turns.Load(); holding != most || waiting != most {
			t.Fatalf("%d hold, %d wait", holding, waiting)
		}
		for range 20 {
			began := time.Now()
			if err := turns.Enter(t.Context(), "modest"); err != nil {
				t.Fatal(err)
			}
			if waited := time.Since(began); waited > turn {
				t.Errorf("waited %v", waited)
			}
			turns.Leave("modest")
			time.Sleep(turn / 3)
		}
		stop()
		burst.Wait()
		if holding, waiting := turns.Load(); holding != 0 || waiting != 0 || len(turns.held) != 0 {
			t.Errorf("%d hold, %d wait, %v", holding, waiting, turns.held)
		}
	})
}

// However long an owner holds all that it may, there is room for others; and it
// is let in again when it has left.
func TestTurns_leavesSomethingForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(4, 3)
		for range 3 {
			_ = turns.Enter(t.Context(), "greedy")
		}
		waited := make(chan error, 1)
		go func() { waited <- turns.Enter(t.Context(), "greedy") }()
		synctest.Wait()
		for range 10 {
			if err := turns.Enter(t.Context(), "modest"); err != nil {
				t.Fatal(err)
			}
			turns.Leave("modest")
			synctest.Wait()
		}
		if holding, waiting := turns.Load(); holding != 3 || waiting != 1 {
			t.Errorf("%d hold, %d wait", holding, waiting)
		}
		turns.Leave("greedy")
		if err := <-waited; err != nil {
			t.Error(err)
		}
	})
}

// Of equals the one who came first is let in first.
func TestTurns_firstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(3, 3)
		for range 3 {
			_ = turns.Enter(t.Context(), "a")
		}
		var order []string
		var wg sync.WaitGroup
		for i := range 3 {
			name := fmt.Sprint(i)
			wg.Go(func() {
				_ = turns.Enter(t.Context(), "a")
				order = append(order, name)
			})
			synctest.Wait()
		}
		for range 3 {
			turns.Leave("a")
			synctest.Wait()
		}
		wg.Wait()
		if !slices.Equal(order, []string{"0", "1", "2"}) {
			t.Error(order)
		}
	})
}

func TestTurns_full(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(2, 2)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		results := make(chan error, 10)
		for range 4 { // two are in, two wait
			go func() { results <- turns.Enter(ctx, "a") }()
			synctest.Wait()
		}
		if err := turns.Enter(ctx, "a"); !errors.Is(err, ErrFull) {
			t.Errorf("a fifth: %v", err)
		}
		go func() { results <- turns.Enter(ctx, "b") }() // takes the newest place
		synctest.Wait()
		for range 2 {
			if err := <-results; err != nil {
				t.Errorf("one of the first two: %v", err)
			}
		}
		if err := <-results; !errors.Is(err, ErrFull) {
			t.Errorf("who lost its place: %v", err)
		}
		if err := turns.Enter(ctx, "b"); !errors.Is(err, ErrFull) { // now each has one
			t.Errorf("b's second: %v", err)
		}
		cancel()
		if a, b := <-results, <-results; !errors.Is(a, context.Canceled) || !errors.Is(b, context.Canceled) {
			t.Errorf("who left: %v, %v", a, b)
		}
		turns.Leave("a")
		turns.Leave("a")
		if holding, waiting := turns.Load(); holding != 0 || waiting != 0 {
			t.Errorf("%d hold, %d wait", holding, waiting)
		}
	})
}

// Whatever is done at once, no more are in than may be and none is lost.
func TestTurns_race(t *testing.T) {
	turns := NewTurns(3, 2)
	var wg sync.WaitGroup
	var mu sync.Mutex
	in := 0
	for i := range 50 {
		wg.Go(func() {
			owner := fmt.Sprint(i % 5)
			for n := range 50 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(n)*time.Microsecond)
				if turns.Enter(ctx, owner) == nil {
					mu.Lock()
					if in++; in > 3 {
						t.Errorf("%d are in", in)
					}
					mu.Unlock()
					mu.Lock()
					in--
					mu.Unlock()
					turns.Leave(owner)
				}
				cancel()
			}
		})
	}
	wg.Wait()
	if holding, waiting := turns.Load(); holding != 0 || waiting != 0 {
		t.Errorf("%d hold, %d wait", holding, waiting)
	}
}
