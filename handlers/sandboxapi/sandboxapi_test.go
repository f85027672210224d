package sandboxapi

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v4"

	"sandgate/sandboxclient"
	"sandgate/sandboxclient/selftest"
)

func TestCapabilities(t *testing.T) {
	h := New(Document{
		Version:   "v",
		Isolation: Isolation{Proven: false, Checks: []selftest.Check{{Name: "user", Found: "uid 0", Remedy: "repair it"}}},
		Engine:    sandboxclient.Engine{Driver: "d", Network: "none", Warnings: []string{"told elsewhere"}},
		Limits:    []sandboxclient.Limit{{Name: "memory", Value: 1 << 40, Unit: "bytes", By: "nothing"}},
		Languages: []selftest.Language{{Name: "bash", Reason: "missing"}},
		Egress: Egress{
			Apps: map[string]string{"testrunner": "allow-list"}, Allow: []string{"git.example:443"}, Private: []string{},
			Limits: []sandboxclient.Limit{}, Notes: []string{},
		},
		Warnings: []string{"<b>"},
	})
	rec := httptest.NewRecorder()
	if err := h.Capabilities(echo.New().NewContext(httptest.NewRequest(http.MethodGet, "/v1/capabilities", nil), rec)); err != nil {
		t.Fatal(err)
	}
	want := `{"version":"v",` +
		`"isolation":{"proven":false,"checks":[{"name":"user","proven":false,"found":"uid 0","remedy":"repair it"}]},` +
		`"engine":{"driver":"d","ownKernel":false,"network":"none","hibernation":false},` +
		`"limits":[{"name":"memory","value":1099511627776,"unit":"bytes","enforced":false,"by":"nothing"}],` +
		`"languages":[{"name":"bash","available":false,"reason":"missing"}],` +
		`"egress":{"apps":{"testrunner":"allow-list"},"allow":["git.example:443"],"private":[],"limits":[],"notes":[]},"warnings":["<b>"]}` + "\n"
	if got := rec.Body.String(); rec.Code != http.StatusOK || got != want {
		t.Errorf("got %d\n%s\nwant\n%s", rec.Code, got, want)
	}
}
