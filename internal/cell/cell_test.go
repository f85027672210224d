package cell

import (
	"bytes"
	"encoding/json"
	"mime/multipart"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/labstack/echo/v4"

	"sandgate/sandboxclient"
)

const limit = 1000

func sent(kind, body string) echo.Context {
	r := httptest.NewRequest("POST", "/", strings.NewReader(body))
	r.Header.Set("Content-Type", kind)
	return echo.New().NewContext(r, httptest.NewRecorder())
}

// form writes name, value pairs as multipart/form-data.
func form(t testing.TB, pairs ...string) (kind, body string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i < len(pairs); i += 2 {
		part, err := w.CreateFormFile(pairs[i], "file.py")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.Write([]byte(pairs[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return w.FormDataContentType(), b.String()
}

func TestRead_rawWhateverTheType(t *testing.T) {
	const code = "print('a=b&c%41+☕')\n"
	for _, kind := range []string{
		"", "text/plain", "application/x-www-form-urlencoded", "application/json", "text/x-python; charset=latin-1", ";;;",
	} {
		got, err := Read(sent(kind, code), limit)
		if err != nil || got.Code != code || got.Stdin != nil {
			t.Errorf("%q: %q, %v", kind, got, err)
		}
	}
}

func TestRead_form(t *testing.T) {
	kind, body := form(t, "ignored", "\xff", "stdin", "in\x00put\xff", "code", "input()")
	got, err := Read(sent(kind, body), limit)
	want := Source{Code: "input()", Stdin: []byte("in\x00put\xff")}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

// The body is read to its end: before that nobody notices that the client left.
func TestRead_formToItsEnd(t *testing.T) {
	kind, body := form(t, "code", "1")
	rest := strings.NewReader(body + strings.Repeat("epilogue", 1000))
	r := httptest.NewRequest("POST", "/", rest)
	r.Header.Set("Content-Type", kind)
	_, err := Read(echo.New().NewContext(r, httptest.NewRecorder()), 1<<20)
	if err != nil || rest.Len() > 0 {
		t.Errorf("%d bytes are left, %v", rest.Len(), err)
	}
}

func TestRead_bom(t *testing.T) {
	if got, err := Read(sent("", "\uFEFFx = 1"), limit); err != nil || got.Code != "x = 1" {
		t.Errorf("%q, %v", got.Code, err)
	}
}

func TestRead_refuses(t *testing.T) {
	both, twice := "code", "code"
	twiceKind, twiceBody := form(t, both, "1", twice, "2")
	noneKind, noneBody := form(t, "stdin", "1")
	badKind, badBody := form(t, "code", "\xff")
	bigKind, bigBody := form(t, "code", strings.Repeat("x", limit))
	for name, tc := range map[string]struct {
		kind, body string
		code       sandboxclient.Code
	}{
		"not UTF-8":         {"", "print('\xff')", sandboxclient.CodeInvalid},
		"too large":         {"", strings.Repeat("x", limit+1), sandboxclient.CodeTooLarge},
		"field twice":       {twiceKind, twiceBody, sandboxclient.CodeInvalid},
		"no code":           {noneKind, noneBody, sandboxclient.CodeInvalid},
		"field not UTF-8":   {badKind, badBody, sandboxclient.CodeInvalid},
		"form too large":    {bigKind, bigBody, sandboxclient.CodeTooLarge},
		"form cut":          {twiceKind, twiceBody[:len(twiceBody)/3], sandboxclient.CodeInvalid},
		"form that is none": {"multipart/form-data; boundary=x", "print(1)", sandboxclient.CodeInvalid},
		"no boundary":       {"multipart/form-data", "print(1)", sandboxclient.CodeInvalid},
	} {
		if got, err := Read(sent(tc.kind, tc.body), limit); sandboxclient.CodeOf(err) != tc.code {
			t.Errorf("%s: %q, %v, want %s", name, got, err, tc.code)
		}
	}
}

func FuzzRead(f *testing.F) {
	kind, body := form(f, "code", "print(1)", "stdin", "x")
	f.Add(kind, body)
	f.Add("multipart/form-data; boundary=x", "--x\r\n\r\n--x--")
	f.Add("multipart/form-data; boundary=\"", "--\r\n")
	f.Add("", "print(1)")
	f.Fuzz(func(t *testing.T, kind, body string) {
		source, err := Read(sent(kind, body), limit)
		if err == nil && len(source.Code)+len(source.Stdin) > limit {
			t.Errorf("%d bytes came through", len(source.Code)+len(source.Stdin))
		}
	})
}

func TestAnswer_empty(t *testing.T) {
	got, err := json.Marshal(NewAnswer(&sandboxclient.Run{
		Exit: sandboxclient.Exit{Status: sandboxclient.StatusExited, ExecutionCount: 3, DurationMS: 0.5}, Start: sandboxclient.StartRunning, Generation: 1,
	}))
	want := `{"output":[],"errors":[],"results":[],"status":"exited","exitCode":0,"executionCount":3,"durationMs":0.5,"start":"running","generation":1}`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}

func TestAnswer_full(t *testing.T) {
	failure := &sandboxclient.CodeError{Name: "ZeroDivisionError", Message: "division by zero", Traceback: []string{"line"}, LineNumber: 1}
	results := []sandboxclient.Result{{Text: "42"}}
	got := NewAnswer(&sandboxclient.Run{
		Stdout: "out\n", Stderr: "err\n", Results: results, Start: sandboxclient.StartRestarted, Generation: 2, Restart: "killed", Background: true,
		Exit: sandboxclient.Exit{
			Status: sandboxclient.StatusSignaled, Signal: "SIGKILL", ExecutionCount: 1, DurationMS: 7, Error: failure, Truncated: true, KernelDied: "killed",
		},
	})
	want := Answer{
		Output: []string{"out\n"}, Errors: []string{"err\n"}, Results: results, Error: failure, Status: "signaled", Signal: "SIGKILL",
		ExecutionCount: 1, DurationMS: 7, Truncated: true, Background: true, KernelDied: "killed", Start: "restarted", Generation: 2, Restart: "killed",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
