package egress

import (
	"fmt"
	"strings"
	"testing"

	"sandgate/sandboxclient"
)

// newPolicy makes a policy of an app "listed" in mode AllowList and one "open".
func newPolicy(t *testing.T, allow, private string) *Policy {
	t.Helper()
	p := &Policy{Apps: map[string]Mode{"listed": AllowList, "open": Open}}
	for text := range strings.FieldsSeq(allow) {
		rule, err := ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		p.Allow = append(p.Allow, rule)
	}
	for text := range strings.FieldsSeq(private) {
		target, err := ParseTarget(text)
		if err != nil {
			t.Fatal(err)
		}
		p.Private = append(p.Private, target)
	}
	return p
}

func TestPermits(t *testing.T) {
	long := strings.Repeat("0123456789", 5)
	p := newPolicy(t, "git.example *.cdn.example plain.example:80 203.0.113.7:443 "+long+".example",
		"127.0.0.1:4873 mirror.house:8080 [fd00::5]:443 localhost:9000")
	const yes = ""
	for _, c := range []struct {
		host         string
		port         int
		listed, open string // what the refusal names
	}{
		{"git.example", 443, yes, yes},
		{"GIT.example.", 443, yes, yes},
		{"git.example", 80, "--egress-allow git.example:80", yes},
		{"plain.example", 80, yes, yes},
		{"plain.example", 443, "--egress-allow plain.example:443", yes},
		{"other.example", 443, "--egress-allow other.example:443", yes},
		{"sub.git.example", 443, "--egress-allow sub.git.example:443", yes},
		{"evilgit.example", 443, "--egress-allow evilgit.example:443", yes},
		{"git.example.evil.example", 443, "--egress-allow git.example.evil.example:443", yes},
		{"a.cdn.example", 443, yes, yes},
		{"a.b.cdn.example", 443, yes, yes},
		{"cdn.example", 443, "--egress-allow cdn.example:443", yes},
		{"evilcdn.example", 443, "--egress-allow evilcdn.example:443", yes},
		{"203.0.113.7", 443, yes, yes},
		{"203.0.113.8", 443, "--egress-allow 203.0.113.8:443", yes},
		{"93.184.216.34", 443, "--egress-allow 93.184.216.34:443", yes},

		{"127.0.0.1", 4873, yes, yes},
		{"::ffff:127.0.0.1", 4873, yes, yes},
		{"mirror.house", 8080, yes, yes},
		{"fd00::5", 443, yes, yes},
		{"[fd00::5]", 443, yes, yes},
		{"localhost", 9000, yes, yes},
		{"127.0.0.1", 4874, "--egress-allow-private 127.0.0.1:4874", "--egress-allow-private 127.0.0.1:4874"},
		{"localhost", 4873, "--egress-allow-private localhost:4873", "--egress-allow-private localhost:4873"},
		{"db.localhost", 443, "--egress-allow-private db.localhost:443", "--egress-allow-private db.localhost:443"},
		{"169.254.169.254", 80, "--egress-allow-private 169.254.169.254:80", "--egress-allow-private 169.254.169.254:80"},
		{"::ffff:169.254.169.254", 80, "--egress-allow-private 169.254.169.254:80", "--egress-allow-private 169.254.169.254:80"},
		{"fd00:ec2::254", 80, "--egress-allow-private [fd00:ec2::254]:80", "--egress-allow-private [fd00:ec2::254]:80"},

		{long + ".example", 443, yes, yes},
		{"x" + long + ".example", 443, "--egress-allow", "too long"},
		{strings.Repeat("abcdefgh.", 14) + "example", 443, "--egress-allow", "too long"},
		{"2130706433", 80, "no target", "no target"},
		{"127.1", 80, "no target", "no target"},
		{"git.example", 0, "no target", "no target"},
		{"git.example:443", 443, "no target", "no target"},
		{"bücher.example", 443, "no target", "no target"},
	} {
		for app, want := range map[string]string{"listed": c.listed, "open": c.open, "closed": "--egress closed=allow-list"} {
			if c.listed == "no target" {
				want = c.listed
			}
			t.Run(fmt.Sprintf("%s %.40s %d", app, c.host, c.port), func(t *testing.T) {
				judge(t, p.Permits(app, c.host, c.port), want)
			})
		}
	}
}

// judge checks that an error is nil, or a refusal whose sentence says want.
func judge(t *testing.T, err error, want string) {
	t.Helper()
	if want == "" {
		if err != nil {
			t.Error(err)
		}
		return
	}
	code := sandboxclient.CodeForbidden
	if want == "no target" {
		code = sandboxclient.CodeInvalid
	}
	if sandboxclient.CodeOf(err) != code || !strings.Contains(fmt.Sprint(err), want) {
		t.Errorf("%v; want a refusal that says %q", err, want)
	}
}

func TestPrivateAllowed(t *testing.T) {
	p := newPolicy(t, "git.example", "127.0.0.1:4873 mirror.house:8080")
	for _, c := range []struct {
		host string
		port int
		want bool
	}{
		{"127.0.0.1", 4873, true}, {"::ffff:127.0.0.1", 4873, true}, {"Mirror.House.", 8080, true},
		{"127.0.0.1", 80, false}, {"mirror.house", 80, false}, {"sub.mirror.house", 8080, false}, {"git.example", 443, false}, {"", 0, false},
	} {
		if got := p.PrivateAllowed(c.host, c.port); got != c.want {
			t.Errorf("PrivateAllowed(%q, %d) = %v", c.host, c.port, got)
		}
	}
}
