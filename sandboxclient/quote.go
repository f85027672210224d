package sandboxclient

import "strings"

// ShellQuote quotes text as one word for bash. It agrees with the published
// helper of @cloudflare/sandbox byte by byte, for programs that were written
// against it. Its $'…' form is bash's (zsh and ksh93 know it): dash and other
// /bin/sh do not, where it is no protection at all. Sandgate's own commands
// are argument vectors and never need it. NUL cannot be an argument; refuse it
// before.
func ShellQuote(text string) string {
	if text != "" && strings.IndexFunc(text, needsQuote) < 0 {
		return text
	}
	return "$'" + bashEscapes.Replace(text) + "'"
}

var bashEscapes = strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\r", `\r`, "\t", `\t`)

func needsQuote(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return false
	}
	return !strings.ContainsRune("@%+=:,./-", r)
}
