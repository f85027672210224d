package kernel_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"sandgate/sandboxclient/wire"
)

func TestPython_json(t *testing.T) {
	eachEngine(t, func(t *testing.T, n *notebook) {
		for _, c := range []struct{ code, text, json string }{
			{"{'k': 42}", "{'k': 42}", `{"k":42}`},
			{"[]", "[]", `[]`},
			{"{}", "{}", `{}`},
			{"[1, 2**64, None, True, 'é']", "[1, 18446744073709551616, None, True, 'é']", `[1,18446744073709551616,null,true,"é"]`},
			{"{1: (2, 3)}", "{1: (2, 3)}", `{"1":[2,3]}`},
			{"[float('nan')]", "[nan]", ""},
			{"{'a': float('inf')}", "{'a': inf}", ""},
			{"[{1}]", "[{1}]", ""},
			{"{(1, 2): 3}", "{(1, 2): 3}", ""},
			{"a = []; a.append(a); a", "[[...]]", ""},
			{"(1, 2)", "(1, 2)", ""},
			{"display({'k': 1})", "{'k': 1}", `{"k":1}`},
		} {
			o := n.run(t, c.code)
			if len(o.results) != 1 || o.exit.Error != nil {
				t.Errorf("%s gives %+v, %+v", c.code, o.results, o.exit.Error)
				continue
			}
			got := o.results[0]
			if got.Text != c.text || normal(string(got.JSON)) != c.json {
				t.Errorf("%s gives text %q and JSON %s, want %q and %s", c.code, got.Text, got.JSON, c.text, c.json)
			}
		}
	})
}

// normal undoes the escaping of what is beyond ASCII.
func normal(json string) string { return strings.ReplaceAll(json, `\u00e9`, "é") }

const everyForm = `class A:
    def _repr_html_(self): return "<b>h</b>"
    def _repr_png_(self): return b"\x89PNG"
    def _repr_jpeg_(self): return b"jpeg"
    def _repr_svg_(self): return "<svg/>"
    def _repr_latex_(self): return "$x$"
    def _repr_markdown_(self): return "**m**"
    def _repr_json_(self): return {"j": 1}
    def _repr_javascript_(self): return "alert(1)"
    def __repr__(self): return "A"
A()`

func TestPython_everyForm(t *testing.T) {
	eachEngine(t, func(t *testing.T, n *notebook) {
		want := wire.Result{
			Text: "A", HTML: "<b>h</b>", PNG: base64.StdEncoding.EncodeToString([]byte("\x89PNG")),
			JPEG: base64.StdEncoding.EncodeToString([]byte("jpeg")), SVG: "<svg/>", LaTeX: "$x$",
			Markdown: "**m**", JavaScript: "alert(1)", JSON: []byte(`{"j":1}`),
		}
		o := n.run(t, everyForm)
		if len(o.results) != 1 || !equal(o.results[0], want) {
			t.Errorf("results are %+v, want %+v", o.results, want)
		}
	})
}

func equal(a, b wire.Result) bool {
	sameJSON := string(a.JSON) == string(b.JSON)
	a.JSON, b.JSON = nil, nil
	return sameJSON && a.Text == b.Text && a.HTML == b.HTML && a.PNG == b.PNG && a.JPEG == b.JPEG &&
		a.SVG == b.SVG && a.LaTeX == b.LaTeX && a.Markdown == b.Markdown && a.JavaScript == b.JavaScript
}

func TestPython_display(t *testing.T) {
	eachEngine(t, func(t *testing.T, n *notebook) {
		n.expectAll(t, []answer{
			{name: "in_order", code: "display('d1'); display(2, [3]); 4", results: []string{"'d1'", "2", "[3]", "4"}},
			{name: "kept_before_an_error", code: "display(1)\n1/0", results: []string{"1"}, err: "ZeroDivisionError", stderr: "Traceback…"},
			{name: "of_a_broken_form", code: "class H:\n    def _repr_html_(self): 1/0\n    def __repr__(self): return 'H'\nH()", results: []string{"H"}, stderr: "Traceback…"},
			{name: "from_a_thread", code: "import threading\nt = threading.Thread(target=display, args=(1,)); t.start(); t.join()", results: []string{"1"}},
		})
		bundle := n.run(t, "class M:\n    def _repr_mimebundle_(self, include=None, exclude=None): return {'text/plain': 'p', 'text/html': 'h'}\nM()")
		if len(bundle.results) != 1 || bundle.results[0].Text != "p" || bundle.results[0].HTML != "h" {
			t.Errorf("a bundle gives %+v", bundle.results)
		}
		raw := n.run(t, "display({'text/plain': 'p', 'image/svg+xml': '<svg/>'}, raw=True)")
		if len(raw.results) != 1 || raw.results[0].Text != "p" || raw.results[0].SVG != "<svg/>" {
			t.Errorf("raw data gives %+v", raw.results)
		}
	})
}

func TestPython_figures(t *testing.T) {
	eachEngine(t, func(t *testing.T, n *notebook) {
		for _, c := range []struct {
			code string
			want string // p: a picture, t: text alone
		}{
			{"import matplotlib.pyplot as plt\nfigure = plt.figure(); a = plt.plot([1, 2])\nb = plt.figure()", "pp"},
			{"1", "t"}, // the figures above were shown once and closed
			{"a = plt.plot([1, 2]); plt.show()\na = plt.plot([2, 1]); plt.show()", "pp"},
			{"a = plt.plot([1]); print('beside'); 3", "tp"},
			{"a = plt.plot([1]); plt.gcf()", "p"},
			{"a = plt.plot([1]); display(plt.gcf()); 2", "pt"},
			{"a = plt.plot([1]); plt.close()", ""},
			{"a = plt.plot([1]); 1/0", "p"},
		} {
			o := n.run(t, c.code)
			if got := forms(o.results); got != c.want {
				t.Errorf("%q shows %q, want %q: %q", c.code, got, c.want, o.texts())
			}
			if o.exit.Error == nil && o.stderr != "" {
				t.Errorf("%q is noisy: %s", c.code, o.stderr)
			}
		}
	})
}

func forms(results []wire.Result) string {
	var b strings.Builder
	for _, r := range results {
		switch picture, _ := base64.StdEncoding.DecodeString(r.PNG); {
		case strings.HasPrefix(string(picture), "\x89PNG\r\n"):
			b.WriteByte('p')
		default:
			b.WriteByte('t')
		}
	}
	return b.String()
}

func TestPython_resultsAreBounded(t *testing.T) {
	eachEngine(t, func(t *testing.T, n *notebook) {
		large := "class Big:\n    def __init__(self, n): self.n = n\n    def _repr_html_(self): return '<' * self.n\n    def __repr__(self): return 'big'\n"
		for _, c := range []struct {
			name, code string
			results    int
			warnings   []string
		}{
			{"text", "'x' * 3_000_000", 1, []string{"result_too_large"}},
			{"wide_text", "'☕' * 1_000_000", 1, []string{"result_too_large"}},
			{"json", "[0] * 1_000_000", 1, []string{"result_too_large"}},
			{"form", large + "Big(20_000_000)", 1, []string{"result_too_large"}},
			{"form_that_grows_in_the_event", large + "Big(6_000_000)", 1, []string{"result_too_large"}},
			{"form_that_fits", large + "Big(1_000_000)", 1, nil},
			{"many", "for i in range(1100): display(i)", 1000, []string{"too_many_results"}},
			{"deep_json", "import sys; sys.setrecursionlimit(9000)\na = []\nfor i in range(2000): a = [a]\na", 1, nil},
		} {
			o := n.run(t, c.code)
			if len(o.results) != c.results || !slices.Equal(o.warnings, c.warnings) || o.exit.Error != nil {
				t.Errorf("%s: %d results, warnings %q, error %+v", c.name, len(o.results), o.warnings, o.exit.Error)
			}
		}
		sum := n.run(t, "for i in range(40): display('y' * 900_000)")
		if len(sum.results) > 18 || !slices.Contains(sum.warnings, "too_many_results") {
			t.Errorf("%d large results, warnings %q", len(sum.results), sum.warnings)
		}
		n.expect(t, answer{code: "1+1", results: []string{"2"}})
	})
}
