package runlog

import "sort"

// markEvery is how many bytes there are between two marks, or a line more.
const markEvery = 64 << 10

// mark says where in the file a line begins.
type mark struct{ seq, offset int64 }

// marks are those of a log, in order; the first line has one.
type marks []mark

func (m *marks) add(seq, offset int64) {
	if n := len(*m); n == 0 || offset-(*m)[n-1].offset >= markEvery {
		*m = append(*m, mark{seq, offset})
	}
}

// find gives the last mark that is not behind the first event after a number.
func (m marks) find(after int64) mark {
	behind := sort.Search(len(m), func(i int) bool { return m[i].seq-1 > after })
	if behind == 0 {
		return mark{seq: 1}
	}
	return m[behind-1]
}
