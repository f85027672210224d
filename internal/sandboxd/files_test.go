package sandboxd

import (
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sandgate/sandboxclient/wire"
)

func filesPath(path string) string { return "/v1/files?path=" + url.QueryEscape(path) }

func (d *daemon) put(path, content string, headers ...string) wire.FileInfo {
	d.Helper()
	var info wire.FileInfo
	d.decode(d.do("PUT", filesPath(path), strings.NewReader(content), headers...), &info)
	return info
}

func TestFiles_readAsHTTPDoes(t *testing.T) {
	d := start(t)
	const content = "0123456789"
	info := d.put("dir/f.html", content)
	path := filesPath("dir/f.html")
	for _, tt := range []struct {
		name    string
		headers []string
		status  int
		body    string
	}{
		{"all", nil, 200, content},
		{"a range", []string{"Range", "bytes=2-4"}, 206, "234"},
		{"the end", []string{"Range", "bytes=-3"}, 206, "789"},
		{"beyond", []string{"Range", "bytes=100-"}, 416, ""},
		{"if-range, the same", []string{"Range", "bytes=0-0", "If-Range", info.ETag}, 206, "0"},
		{"if-range, another", []string{"Range", "bytes=0-0", "If-Range", `"x"`}, 200, content},
		{"known", []string{"If-None-Match", info.ETag}, 304, ""},
		{"not this", []string{"If-Match", `"x"`}, 412, ""},
		{"not newer", []string{"If-Modified-Since", info.Modified.Format(http.TimeFormat)}, 304, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := d.do("GET", path, nil, tt.headers...)
			if a.status != tt.status || tt.status < 300 && a.body != tt.body {
				t.Errorf("got %d %q", a.status, a.body)
			}
			if tt.status < 400 && a.header.Get("ETag") != info.ETag {
				t.Errorf("tag %s, want %s", a.header.Get("ETag"), info.ETag)
			}
			if tt.status < 300 && (a.header.Get("Content-Type") != "application/octet-stream" || a.header.Get("Last-Modified") == "") {
				t.Errorf("headers %v", a.header)
			}
		})
	}
	d.put("empty", "")
	for _, ranges := range []string{"bytes=-5", "bytes=0-", "bytes=0-0"} {
		if a := d.do("GET", filesPath("empty"), nil, "Range", ranges); a.status != 200 || a.body != "" || a.header.Get("Content-Range") != "" {
			t.Errorf("%s of nothing: %d %v", ranges, a.status, a.header)
		}
	}
	head := d.do("HEAD", path, nil)
	if head.status != 200 || head.body != "" || head.header.Get("Content-Length") != "10" {
		t.Errorf("HEAD: %d %v", head.status, head.header)
	}
}

func TestFiles_listsDirectories(t *testing.T) {
	d := start(t)
	d.put("b/c", "x")
	d.put("a", "x")
	a := d.do("GET", filesPath("."), nil)
	var listing wire.Listing
	d.decode(a, &listing)
	if a.header.Get("Content-Type") != wire.ContentTypeListing || listing.Path != "/workspace" ||
		len(listing.Entries) != 2 || listing.Entries[0].Name != "a" || listing.Entries[1].Type != wire.TypeDirectory {
		t.Errorf("got %s", a.body)
	}
	if head := d.do("HEAD", filesPath("."), nil); head.status != 200 || head.header.Get("Content-Type") != wire.ContentTypeListing {
		t.Errorf("HEAD: %d %v", head.status, head.header)
	}
}

func TestFiles_refusals(t *testing.T) {
	d := start(t)
	d.put("file", "x")
	if err := syscall.Mkfifo(filepath.Join(d.inside, "fifo"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(d.inside, "out")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(d.inside, "dir"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		method, path string
		status       int
		code         string
	}{
		{"GET", "/v1/files", 400, wire.CodeInvalid},
		{"GET", filesPath("../etc/passwd"), 400, wire.CodeInvalid},
		{"GET", filesPath("out"), 400, wire.CodeInvalid},
		{"GET", filesPath("fifo"), 400, wire.CodeInvalid},
		{"GET", filesPath("nothing"), 404, wire.CodeNotFound},
		{"PUT", filesPath("dir"), 409, wire.CodeConflict},
		{"PUT", filesPath("file/x"), 409, wire.CodeConflict},
		{"PUT", filesPath("x") + "&max=no", 400, wire.CodeInvalid},
		{"PUT", filesPath("x") + "&max=-1", 400, wire.CodeInvalid},
		{"DELETE", filesPath("."), 409, wire.CodeConflict},
		{"DELETE", filesPath("nothing"), 404, wire.CodeNotFound},
		{"DELETE", filesPath("dir") + "&recursive=maybe", 400, wire.CodeInvalid},
		{"GET", "/v1/stat?path=nothing", 404, wire.CodeNotFound},
		{"POST", "/v1/mkdir?path=file", 409, wire.CodeConflict},
	} {
		d.wantError(d.do(tt.method, tt.path, nil), tt.status, tt.code)
	}
	d.wantError(d.do("PUT", filesPath("file"), strings.NewReader("y"), "If-None-Match", "*"), 412, wire.CodePreconditionFailed)
	d.wantError(d.post("/v1/rename", wire.RenameRequest{From: "file", To: "dir"}), 409, wire.CodeConflict)
}

func TestFiles_boundTheBody(t *testing.T) {
	d := start(t)
	d.put("f", "before")
	known := d.do("PUT", filesPath("f")+"&max=5", strings.NewReader("123456"))
	d.wantError(known, http.StatusRequestEntityTooLarge, wire.CodeTooLarge)
	unknown := d.do("PUT", filesPath("f")+"&max=5", io.MultiReader(strings.NewReader("123456")))
	d.wantError(unknown, http.StatusRequestEntityTooLarge, wire.CodeTooLarge)
	if a := d.do("GET", filesPath("f"), nil); a.body != "before" {
		t.Errorf("it became %q", a.body)
	}
	for _, limit := range []string{"6", "0"} {
		if a := d.do("PUT", filesPath("f")+"&max="+limit, io.MultiReader(strings.NewReader("123456"))); a.status != 200 {
			t.Errorf("max %s: %d %s", limit, a.status, a.body)
		}
	}
}

func TestFiles_changes(t *testing.T) {
	d := start(t)
	d.put("a/f", "x")
	var info wire.FileInfo
	d.decode(d.do("POST", "/v1/mkdir?path=b/c", nil), &info)
	if info.Type != wire.TypeDirectory || info.Name != "c" {
		t.Errorf("made %+v", info)
	}
	d.decode(d.post("/v1/rename", wire.RenameRequest{From: "a/f", To: "b/c/g"}), &info)
	if info.Name != "g" || info.Type != wire.TypeFile {
		t.Errorf("moved to %+v", info)
	}
	d.decode(d.do("GET", "/v1/stat?path=b/c/g", nil), &info)
	if info.Size != 1 {
		t.Errorf("it is %+v", info)
	}
	d.wantError(d.do("DELETE", filesPath("b"), nil), http.StatusConflict, wire.CodeConflict)
	if a := d.do("DELETE", filesPath("b")+"&recursive=true", nil); a.status != http.StatusNoContent {
		t.Errorf("got %d %s", a.status, a.body)
	}
}

// What is sent is a promise of more than comes: nothing may change.
func TestFiles_bodyThatBreaksOff(t *testing.T) {
	d := start(t)
	d.put("f", "before")
	reader, writer := io.Pipe()
	go func() {
		_, _ = io.WriteString(writer, "half")
		writer.CloseWithError(io.ErrClosedPipe)
	}()
	r, err := http.NewRequestWithContext(t.Context(), "PUT", d.url+filesPath("f"), reader)
	if err != nil {
		t.Fatal(err)
	}
	if res, err := http.DefaultClient.Do(r); err == nil {
		res.Body.Close()
		t.Fatal("a broken body is answered")
	}
	for {
		entries, err := os.ReadDir(d.inside)
		if err != nil {
			t.Fatal(err)
		}
		if len(entries) == 1 {
			break // the temporary file is gone again
		}
	}
	if a := d.do("GET", filesPath("f"), nil); a.body != "before" {
		t.Errorf("it became %q", a.body)
	}
}

func TestLog_knowsNothingOfUsers(t *testing.T) {
	d := start(t)
	d.put("secret-name", "secret-content")
	d.do("GET", filesPath("secret-missing"), nil)
	d.post("/v1/exec", wire.ExecRequest{ID: "x", Argv: []string{"sh", "-c", "echo secret"}, Env: map[string]string{"S": "secret"}, Dir: "/"})
	d.post("/v1/exec", wire.ExecRequest{ID: "y", Argv: []string{"secret-program"}, Dir: "/"})
	d.post("/v1/run", wire.RunRequest{ID: "z", Context: wire.ContextSpec{ID: "secret", Language: wire.Python, Dir: "/"}, Code: "secret"})
	d.log.mu.Lock()
	defer d.log.mu.Unlock()
	if strings.Contains(d.log.String(), "secret") {
		t.Errorf("the log: %s", d.log.String())
	}
}
