package sandboxclient

import (
	"os/exec"
	"strings"
	"testing"
)

// The published helper's answers, input by input.
var publishedQuotes = []struct{ input, want string }{
	{"", `$''`},
	{"a", "a"},
	{"-n", "-n"},
	{"--", "--"},
	{"user@host:/p,x=1+2%3", "user@host:/p,x=1+2%3"},
	{"a_b", `$'a_b'`},
	{"a b", `$'a b'`},
	{"it's", `$'it\'s'`},
	{`say "hi"`, `$'say "hi"'`},
	{"$HOME", `$'$HOME'`},
	{"${HOME}", `$'${HOME}'`},
	{"$(id)", `$'$(id)'`},
	{"`id`", "$'`id`'"},
	{"!", `$'!'`},
	{"!!", `$'!!'`},
	{"hi!", `$'hi!'`},
	{"*", `$'*'`},
	{"?", `$'?'`},
	{"[a]", `$'[a]'`},
	{"{a,b}", `$'{a,b}'`},
	{"~", `$'~'`},
	{"#x", `$'#x'`},
	{";", `$';'`},
	{"&&", `$'&&'`},
	{"|", `$'|'`},
	{`\`, `$'\\'`},
	{`\n`, `$'\\n'`},
	{`C:\x`, `$'C:\\x'`},
	{"a\nb", `$'a\nb'`},
	{"a\r\nb", `$'a\r\nb'`},
	{"a\tb", `$'a\tb'`},
	{"\a\x1b", "$'\a\x1b'"},
	{"héllo ☕", "$'héllo ☕'"},
	{"é", "$'é'"},
	{"a\x00b", "$'a\x00b'"},
	{"'; echo INJECTED; #", `$'\'; echo INJECTED; #'`},
}

func TestShellQuote_agreesWithThePublishedHelper(t *testing.T) {
	for _, c := range publishedQuotes {
		if got := ShellQuote(c.input); got != c.want {
			t.Errorf("ShellQuote(%q) = %q, want %q", c.input, got, c.want)
		}
	}
}

// FuzzShellQuote sends every quoted text through bash and wants it back.
func FuzzShellQuote(f *testing.F) {
	for _, c := range publishedQuotes {
		f.Add(c.input)
	}
	f.Fuzz(func(t *testing.T, input string) {
		if strings.ContainsRune(input, 0) || len(input) > 64<<10 {
			t.Skip("no argument can hold this")
		}
		out, err := exec.Command("bash", "-c", "printf %s "+ShellQuote(input)).Output()
		if err != nil || string(out) != input {
			t.Fatalf("bash gave %q (%v) for %q", out, err, input)
		}
	})
}
