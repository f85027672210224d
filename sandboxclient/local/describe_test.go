package local

import "testing"

func TestKnownBad(t *testing.T) {
	for version, warnings := range map[string]int{
		"1.0.3":       2,
		"1.1.11":      2,
		"1.1.12":      1,
		"1.1.15+ds1":  1,
		"1.2.7":       1,
		"1.2.8":       0,
		"1.3.2":       1,
		"1.3.3":       0,
		"1.4.0-rc.1":  1,
		"1.4.0":       0,
		"1.5.3":       0,
		"2.0.0":       0,
		"unknown":     1,
		"1.3":         1,
		"1.5.0+dev-x": 0,
	} {
		if got := knownBad(kindRunc, version); len(got) != warnings {
			t.Errorf("runc %s: %q, want %d", version, got, warnings)
		}
	}
	for version, warnings := range map[string]int{hastyRunsc: 1, hastyRunsc + "+mended": 0, "release-20260518.0": 0} {
		if got := knownBad(kindRunsc, version); len(got) != warnings {
			t.Errorf("runsc %s: %q, want %d", version, got, warnings)
		}
	}
}
