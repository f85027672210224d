package recent

import "testing"

func TestMap_staysBounded(t *testing.T) {
	m := New[int, int](100)
	m.Put(-1, 1)
	for i := range 10_000 {
		m.Put(i, i)
		if _, ok := m.Get(-1); !ok {
			t.Fatalf("what is used all the time was forgotten after %d others", i)
		}
		if m.Len() > 100 {
			t.Fatalf("%d entries", m.Len())
		}
	}
	if _, ok := m.Get(9_999); !ok {
		t.Error("the last one is not there")
	}
	if _, ok := m.Get(0); ok {
		t.Error("the first one still is")
	}
}

func TestMap_getOrAndDelete(t *testing.T) {
	m := New[string, int](2)
	made := 0
	fresh := func() int { made++; return made }
	for range 2 {
		if got := m.GetOr("a", fresh); got != 1 || made != 1 {
			t.Errorf("%d, made %d", got, made)
		}
	}
	m.Put("b", 7)
	m.Put("c", 8)
	m.Delete("b")
	m.Delete("c")
	if m.GetOr("c", fresh) != 2 {
		t.Error("what was deleted is there")
	}
}
