package testrunner

import (
	"bytes"
	"time"

	"github.com/labstack/echo/v4"

	"sandgate/internal/httpapi"
	"sandgate/internal/runs"
)

// maxBody is room for an address, a command and an environment.
const maxBody = 256 << 10

// An order is a body of POST /tests, understood.
type order struct {
	request       runs.Request
	cancelOnLeave bool
}

// readOrder takes the repository's address as it is, or JSON, which begins with
// a brace as no address does.
func readOrder(c echo.Context) (order, error) {
	body, err := httpapi.ReadBody(c, maxBody)
	if err != nil {
		return order{}, err
	}
	body = bytes.TrimSpace(body)
	if len(body) == 0 {
		return order{}, invalid("The body is the address of a repository, or JSON with one: {\"repository\": \"https://example.org/you/project.git\"}")
	}
	if body[0] != '{' {
		return order{request: runs.Request{Repository: string(body)}}, nil
	}
	return parseOrder(body)
}

// orderBody is an order as it comes in JSON.
type orderBody struct {
	Repository   string            `json:"repository"`
	Ref          string            `json:"ref"`
	Command      string            `json:"command"`
	Env          map[string]string `json:"env"`
	Artifacts    []string          `json:"artifacts"`
	Submodules   bool              `json:"submodules"`
	LFS          bool              `json:"lfs"`
	Timeout      httpapi.Duration  `json:"timeout"`
	OnDisconnect string            `json:"onDisconnect"`
	Backup       *keepBody         `json:"backup"`
	Restore      string            `json:"restore"`
}

// keepBody says what is to be kept of the prepared directory.
type keepBody struct {
	Dir   string           `json:"dir"`
	Label string           `json:"label"`
	TTL   httpapi.Duration `json:"ttl"`
}

func parseOrder(body []byte) (order, error) {
	var b orderBody
	if err := httpapi.DecodeJSON(body, &b); err != nil {
		return order{}, err
	}
	o := order{request: runs.Request{
		Repository: b.Repository, Ref: b.Ref, Command: b.Command, Env: b.Env, Artifacts: b.Artifacts,
		Submodules: b.Submodules, LFS: b.LFS, Restore: b.Restore,
	}}
	if b.Timeout > 0 {
		o.request.Timeout = max(time.Duration(b.Timeout), time.Millisecond)
	}
	if b.Backup != nil {
		o.request.Backup = &runs.Keep{Dir: b.Backup.Dir, Label: b.Backup.Label, TTL: time.Duration(b.Backup.TTL)}
	}
	switch b.OnDisconnect {
	case "", "continue":
	case "cancel":
		o.cancelOnLeave = true
	default:
		return order{}, invalid("onDisconnect is cancel or continue")
	}
	return o, nil
}
