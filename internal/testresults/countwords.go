package testresults

import "strings"

// countWords adds up what Jest and Vitest print of a run: "2 failed", "1 todo".
func countWords(parts []string) (*Results, bool) {
	sum := &Results{}
	for _, part := range parts {
		digits, word, _ := strings.Cut(strings.TrimSpace(part), " ")
		n, ok := number(digits)
		if !ok {
			return nil, false
		}
		switch word {
		case "passed", "expected fail": // one that was to fail, and did
			sum.count(passed, n)
		case "failed":
			sum.count(failed, n)
		case "skipped":
			sum.count(skipped, n)
		case "todo":
			sum.count(todo, n)
		}
	}
	return sum, true
}
