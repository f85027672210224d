package httpapi

import (
	"errors"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"sandgate/sandboxclient"
)

func asked(query string) echo.Context {
	r := httptest.NewRequest("GET", "/", nil)
	r.URL.RawQuery = query
	return echo.New().NewContext(r, httptest.NewRecorder())
}

func TestQuery(t *testing.T) {
	cases := []struct {
		query, want string
		there       bool
	}{
		{"", "", false},
		{"other=1", "", false},
		{"q", "", true},
		{"q=", "", true},
		{"q=a", "a", true},
		{"a=b&q=1&q=2", "1", true},
		{"q=a%20b+c", "a b c", true},
		{"q=100%", "100%", true},
		{"q=%zz%4", "%zz%4", true},
		{"q=%2541", "%41", true},
		{"q=a;b", "a;b", true},
		{"q=a=b", "a=b", true},
		{"%71=a", "a", true},
		{"q=%00", "\x00", true},
		{"q=%C3%A9%ff", "é\xff", true},
		{"&&q=a&", "a", true},
		{"Q=a", "", false},
	}
	for _, tc := range cases {
		got, there := Query(asked(tc.query), "q")
		if got != tc.want || there != tc.there {
			t.Errorf("%q: %q, %v, want %q, %v", tc.query, got, there, tc.want, tc.there)
		}
	}
}

// checkQuery asks a route that takes a and b.
func checkQuery(query string) error {
	return OnlyQuery([]string{"a", "b"}, func(echo.Context) error { return nil })(asked(query))
}

func TestOnlyQuery(t *testing.T) {
	for query, want := range map[string]string{
		"":                        "",
		"&&":                      "",
		"a=1&b":                   "",
		"%61=1&a=2":               "",
		"A=1":                     `"A"`,
		"a=1&c":                   `"c"`,
		"=1":                      `""`,
		"a;b=1":                   `"a;b"`,
		"c%0A%3Cb=1":              `"c\n<b"`,
		strings.Repeat("x", 9000): `"` + strings.Repeat("x", 40) + `"`,
	} {
		err := checkQuery(query)
		if want == "" && err == nil {
			continue
		}
		e, ok := errors.AsType[*sandboxclient.Error](err)
		message := "There is no query parameter " + want + " here; this route takes a, b"
		if want == "" || !ok || e.Code != sandboxclient.CodeInvalid || e.Message != message {
			t.Errorf("%.50q: %v", query, err)
		}
	}
}

// Where net/url can read a query, both read the same.
func FuzzQuery(f *testing.F) {
	for _, seed := range []string{"", "q=a", "q=%", "q=a%2", "%71=+", "q=a&q=b", "q;a=1", "q=%ff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		got, there := Query(asked(query), "q")
		values, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		if there != values.Has("q") || got != values.Get("q") {
			t.Errorf("%q: %q, %v; net/url: %q", query, got, there, values["q"])
		}
	})
}

// What is neither on nor off is refused: an empty variable must not remove files.
func TestQueryBool(t *testing.T) {
	for query, want := range map[string]bool{
		"": false, "g": false, "f": true, "g&f&h": true, "f=1": true, "f=true": true, "f=True": true, "f=0": false, "f=false": false,
	} {
		if got, err := QueryBool(asked(query), "f"); err != nil || got != want {
			t.Errorf("%q: %v, %v", query, got, err)
		}
	}
	for _, query := range []string{"f=", "f=yes", "f=maybe", "f=+", "f=%00"} {
		_, err := QueryBool(asked(query), "f")
		if sandboxclient.CodeOf(err) != sandboxclient.CodeInvalid || !strings.Contains(err.Error(), "f is true or false") {
			t.Errorf("%q: %v", query, err)
		}
	}
}

func TestQueryDuration(t *testing.T) {
	for query, want := range map[string]time.Duration{
		"":                0,
		"timeout=2":       2 * time.Second,
		"timeout=0.5":     500 * time.Millisecond,
		"timeout=1500ms":  1500 * time.Millisecond,
		"timeout=1m30s":   90 * time.Second,
		"timeout=1e2":     100 * time.Second,
		"timeout=8784h":   longestDuration,
		"timeout=.25":     250 * time.Millisecond,
		"timeout=3600":    time.Hour,
		"timeout=1d":      24 * time.Hour,
		"timeout=30d1h5s": 30*24*time.Hour + time.Hour + 5*time.Second,
		"timeout=5&x=bad": 5 * time.Second,
	} {
		got, err := QueryDuration(asked(query), "timeout")
		if err != nil || got != want {
			t.Errorf("%q: %v, %v, want %v", query, got, err, want)
		}
	}
	for _, text := range []string{
		"", "abc", "-1", "-5s", "0", "0s", "NaN", "Inf", "-Inf", "1e300", "99999999999", "1e-300", "2 s", "2,5", "8785h", "1h2", "٣",
		"d", "-1d", "1.5d", "0d", "367d", "1d-1h", "1d24h", "1d2", "1d2d", "99999999999999999999d",
	} {
		got, err := QueryDuration(asked("timeout="+url.QueryEscape(text)), "timeout")
		if sandboxclient.CodeOf(err) != sandboxclient.CodeInvalid {
			t.Errorf("%q: %v, %v, want an invalid", text, got, err)
		}
	}
}

func FuzzDuration(f *testing.F) {
	for _, seed := range []string{"2", "0.5", "1500ms", "-1", "NaN", "1e400", "0x1p4", "9223372036854775807ns", "1_000", "1d", "366d23h59m", "d"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, ok := ParseDuration(text)
		if ok && (d <= 0 || d > longestDuration) {
			t.Errorf("%q is %v", text, d)
		}
	})
}

func TestAcceptsJSON(t *testing.T) {
	for accept, want := range map[string]bool{
		"":                                  false,
		"*/*":                               false,
		"application/json":                  true,
		"APPLICATION/JSON; charset=utf-8":   true,
		"application/json, text/plain, */*": true, // as axios asks
		"text/plain, application/json":      false,
		"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8": false, // as browsers ask
		"text/plain;q=0.5, application/json":                              true,
		"application/json;q=0.5, text/plain":                              false,
		"application/*":                                                   true,
		"text/*":                                                          false,
		"application/json;q=0":                                            false,
		"application/json;q=0, */*":                                       false,
		"text/plain;q=0, */*":                                             true,
		"application/json;q=2":                                            false, // no weight at all
		"application/json;q=NaN":                                          false,
		"image/png":                                                       false,
		"text/event-stream, application/json;q=0.1":                       true,
		";;;,,, application/json":                                         true,
		strings.Repeat("a/b,", 100) + "application/json":                  false, // beyond what is looked at
	} {
		c := asked("")
		c.Request().Header.Set("Accept", accept)
		if got := AcceptsJSON(c); got != want {
			t.Errorf("%q: %v", accept, got)
		}
	}
	c := asked("")
	c.Request().Header.Add("Accept", "text/plain;q=0.1")
	c.Request().Header.Add("Accept", "application/json")
	if !AcceptsJSON(c) {
		t.Error("two header lines are not read as one")
	}
}

func FuzzAccept(f *testing.F) {
	for _, seed := range []string{"", "*/*", "application/json;q=0.3", "a/b;q=", ",;/=", "application/json; q=\"0.5\""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, accept string) {
		got := preferred(accept, "text/plain", "application/json")
		if got != "text/plain" && got != "application/json" {
			t.Errorf("%q prefers %q", accept, got)
		}
	})
}

func FuzzFailureMessage(f *testing.F) {
	f.Add("no such file", true)
	f.Add("\xff\x00<script>", false)
	f.Fuzz(func(t *testing.T, message string, json bool) {
		c := asked("")
		if json {
			c.Request().Header.Set("Accept", "application/json")
		}
		if err := writeFailure(c, sandboxclient.Errorf(sandboxclient.CodeInvalid, "%s", message)); err != nil {
			t.Fatal(err)
		}
		body := c.Response().Writer.(*httptest.ResponseRecorder).Body.String()
		if !utf8.ValidString(body) {
			t.Errorf("%q is told as %q", message, body)
		}
	})
}

func TestQueryAll(t *testing.T) {
	for query, want := range map[string][]string{
		"":                     nil,
		"other=1":              nil,
		"q":                    {""},
		"q=a&x=b&%71=c%20d&q=": {"a", "c d", ""},
	} {
		if got := QueryAll(asked(query), "q"); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
}

func TestQueryNumber(t *testing.T) {
	for query, want := range map[string]int{"": 7, "n=1": 1, "n=10": 10, "n=05": 5} {
		if got, err := QueryNumber(asked(query), "n", 1, 10, 7); got != want || err != nil {
			t.Errorf("%q: %d, %v, want %d", query, got, err, want)
		}
	}
	for _, query := range []string{"n", "n=", "n=0", "n=11", "n=-1", "n=1.5", "n=1e1", "n=99999999999999999999", "n=%201"} {
		if _, err := QueryNumber(asked(query), "n", 1, 10, 7); sandboxclient.CodeOf(err) != sandboxclient.CodeInvalid {
			t.Errorf("%q: %v", query, err)
		}
	}
}
