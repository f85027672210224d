package testresults

import "strings"

// mocha reads Mocha's summary, which most of its reporters end with:
//
//	3 passing (196ms)
//	2 pending
//	1 failing
//
//	1) calculator
//	     adds wrongly:
//	   AssertionError: …
//	    at Context.<anonymous> (test/calc.spec.js:7:43)
type mocha struct {
	sum     tally
	summing bool // among the summary's lines
	failing int  // how many failures the list has
	listed  int  // of them begun
	open    *capture
	titles  int  // read of the open one's; -1: all
	blank   bool // its last line was
	diff    bool // its comparison was begun
}

func newMocha() *mocha {
	return &mocha{sum: newTally("mocha")}
}

func (m *mocha) line(text string) step {
	if rest, n, ok := mochaCount(text, " passing ("); ok {
		m.close()
		m.begin(n, rest)
		return finished
	}
	if m.summing {
		m.summing = m.summary(text)
	}
	m.list(text)
	return nothing
}

func (m *mocha) begin(passing int, took string) {
	m.sum.count(passed, passing)
	m.sum.DurationMS += duration(took)
	m.sum.totalled = true
	m.summing, m.failing, m.listed = true, 0, 0
}

// summary reads a line after the first, and reports whether another may follow.
func (m *mocha) summary(text string) bool {
	if _, n, ok := mochaCount(text, " pending"); ok {
		m.sum.count(skipped, n)
		return true
	}
	if _, n, ok := mochaCount(text, " failing"); ok {
		m.sum.count(failed, n)
		m.failing = n
	}
	return false
}

// mochaCount reads "  12 pending".
func mochaCount(text, word string) (rest string, n int, ok bool) {
	text, ok = strings.CutPrefix(text, "  ")
	if !ok {
		return "", 0, false
	}
	digits, rest, ok := strings.Cut(text, word)
	n, isNumber := number(digits)
	return rest, n, ok && isNumber
}

// list reads a line of the list of failures, or one that is none.
func (m *mocha) list(text string) {
	if title, ok := m.next(text); ok {
		m.close()
		m.open, m.titles = &capture{}, 0
		m.title(title)
		m.listed++
		return
	}
	if m.open == nil {
		return
	}
	if m.isTitle(text) {
		m.title(strings.TrimSpace(text))
		return
	}
	m.titles = -1
	m.told(text)
}

// next recognises the failure that comes next in the list, "  2) calculator".
func (m *mocha) next(text string) (title string, ok bool) {
	if m.listed == m.failing || !strings.HasPrefix(text, "  ") {
		return "", false
	}
	digits, title, ok := strings.Cut(text[2:], ") ")
	n, isNumber := number(digits)
	return title, ok && isNumber && n == m.listed+1
}

// isTitle recognises the name of a suite or test inside the last one, by its
// indent. A message never has exactly that.
func (m *mocha) isTitle(text string) bool {
	return m.titles > 0 && text != "" && indentOf(text) == 5+2*m.titles
}

func (m *mocha) title(text string) {
	m.open.name = joinNames(m.open.name, strings.TrimSuffix(text, ":"))
	m.titles++
}

// told reads a line of what a test threw. After the last one, whatever is
// printed next could be taken for more of it: an empty line after its stack, or
// two anywhere, end it.
func (m *mocha) told(text string) {
	blank := strings.TrimSpace(text) == ""
	if m.listed == m.failing && blank && (m.open.inStack || m.blank) {
		m.close()
		return
	}
	m.blank = blank
	if m.open.told == (place{}) {
		m.open.told = timedOut(text)
	}
	m.open.add(m.dedent(text))
}

// dedent takes Mocha's own indent off a message: its first line has one, and so
// has the comparison that may follow; what is between is as it was thrown.
func (m *mocha) dedent(text string) string {
	m.diff = m.diff || strings.TrimSpace(text) == "+ expected - actual"
	if m.diff || m.open.message.Len() == 0 {
		return dedent(text, 6)
	}
	return text
}

// timedOut finds the file that Mocha names behind the message of a timeout.
func timedOut(text string) place {
	_, file, _ := cutLast(strings.TrimSuffix(text, ")"), " ("+appDir)
	return ownPlace(file, 0)
}

func (m *mocha) close() {
	if m.open != nil {
		m.sum.fail(m.open.failure())
	}
	m.open, m.blank, m.diff = nil, false, false
}

func (m *mocha) end() { m.close() }

func (m *mocha) tallies() []tally { return []tally{m.sum.with(m.open)} }
