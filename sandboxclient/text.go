package sandboxclient

import "unicode/utf8"

// Text turns a piece of output into valid UTF-8: each invalid byte becomes
// U+FFFD.
func Text(data []byte) string { return text(data, false) }

// text turns a program's output into valid UTF-8: each invalid byte becomes
// U+FFFD, and a rune that was cut by truncation goes.
func text(data []byte, truncated bool) string {
	if truncated {
		data = trimPartialRune(data)
	}
	if utf8.Valid(data) {
		return string(data)
	}
	return string([]rune(string(data)))
}

// trimPartialRune drops the beginning of a rune at the end of data.
func trimPartialRune(data []byte) []byte {
	for back := 1; back <= min(utf8.UTFMax-1, len(data)); back++ {
		at := len(data) - back
		if utf8.RuneStart(data[at]) {
			if !utf8.FullRune(data[at:]) {
				return data[:at]
			}
			return data
		}
	}
	return data
}
