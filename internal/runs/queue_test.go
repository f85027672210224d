package runs

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"
)

// awaiting starts to await a turn and gives the places that are told.
func awaiting(ctx context.Context, p *turn) (places func() []int, began <-chan error) {
	var told []int
	done := make(chan error, 1)
	go func() {
		done <- p.await(ctx, func(position int) error { told = append(told, position); return nil })
	}()
	return func() []int { synctest.Wait(); return slices.Clone(told) }, done
}

func TestTurns_areServedInTheOrderOfTheirComing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns(1, 2)
		first := turns.join()
		second, third := turns.join(), turns.join()
		if turns.join() != nil {
			t.Error("the line has more room than it was given")
		}
		_, began := awaiting(t.Context(), first)
		if err := <-began; err != nil {
			t.Fatal(err)
		}
		secondPlaces, secondBegan := awaiting(t.Context(), second)
		thirdPlaces, thirdBegan := awaiting(t.Context(), third)
		if got := thirdPlaces(); !slices.Equal(got, []int{2}) {
			t.Errorf("the third was told %v", got)
		}
		first.leave()
		if err := <-secondBegan; err != nil {
			t.Fatal(err)
		}
		if got := secondPlaces(); !slices.Equal(got, []int{1}) {
			t.Errorf("the second was told %v", got)
		}
		if got := thirdPlaces(); !slices.Equal(got, []int{2, 1}) {
			t.Errorf("the third was told %v", got)
		}
		second.leave()
		if err := <-thirdBegan; err != nil {
			t.Fatal(err)
		}
		third.leave()
	})
}

func TestTurns_whoGivesUpMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns(1, 2)
		first, second, third := turns.join(), turns.join(), turns.join()
		leaving, leave := context.WithCancelCause(t.Context())
		_, secondEnded := awaiting(leaving, second)
		places, thirdBegan := awaiting(t.Context(), third)
		synctest.Wait()
		gaveUp := errors.New("gave up")
		leave(gaveUp)
		if err := <-secondEnded; !errors.Is(err, gaveUp) {
			t.Errorf("ended with %v", err)
		}
		second.leave()
		if got := places(); !slices.Equal(got, []int{2, 1}) {
			t.Errorf("the third was told %v", got)
		}
		first.leave()
		if err := <-thirdBegan; err != nil {
			t.Error(err)
		}
		if working, waiting := turns.load(); working != 1 || waiting != 0 {
			t.Errorf("%d work, %d wait", working, waiting)
		}
	})
}

func TestTurns_thoseFromBeforeARestartHaveTheirPlaces(t *testing.T) {
	turns := newTurns(1, 1)
	worked := []*turn{turns.rejoin(true), turns.rejoin(true)} // more than may, now
	waited := []*turn{turns.rejoin(false), turns.rejoin(false)}
	if turns.join() != nil {
		t.Error("a new one goes before them")
	}
	for _, p := range worked {
		if p.position() != 0 {
			t.Error("one that worked waits")
		}
		p.leave()
	}
	if waited[0].position() != 0 || waited[1].position() != 1 {
		t.Errorf("places %d and %d", waited[0].position(), waited[1].position())
	}
}

// However runs come and go, no more work than may, none waits while one more
// could work, and the line keeps its order.
func TestTurns_holdWhateverHappens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most, room := rapid.IntRange(1, 3).Draw(t, "most"), rapid.IntRange(0, 4).Draw(t, "room")
		turns := newTurns(most, room)
		var here []*turn // in the order of their coming
		t.Repeat(map[string]func(*rapid.T){
			"come": func(t *rapid.T) {
				if p := turns.join(); p != nil {
					here = append(here, p)
				} else if len(here) < most+room {
					t.Fatalf("refused with %d here", len(here))
				}
			},
			"leave": func(t *rapid.T) {
				if len(here) == 0 {
					t.Skip("nobody is here")
				}
				i := rapid.IntRange(0, len(here)-1).Draw(t, "who")
				here[i].leave()
				here = slices.Delete(here, i, i+1)
			},
			"": func(t *rapid.T) {
				working, waiting := turns.load()
				if working > most || working+waiting != len(here) || waiting > 0 && working < most {
					t.Fatalf("%d work, %d wait of %d", working, waiting, len(here))
				}
				last := 0
				for _, p := range here {
					if place := p.position(); place > 0 {
						if place != last+1 {
							t.Fatalf("place %d after %d", place, last)
						}
						last = place
					}
				}
			},
		})
	})
}
