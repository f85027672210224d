package backups

import (
	"bytes"
	"errors"
	"time"

	"github.com/labstack/echo/v4"

	"sandgate/internal/backups"
	"sandgate/internal/httpapi"
)

// maxBody is room for some excludes.
const maxBody = 64 << 10

// An order is a body of POST /v1/backups, understood.
type order struct {
	app, name string
	request   backups.Request
}

// orderBody is an order as it comes.
type orderBody struct {
	App          string           `json:"app"`
	Name         string           `json:"name"`
	Dir          string           `json:"dir"`
	Label        string           `json:"label"`
	TTL          httpapi.Duration `json:"ttl"`
	Excludes     []string         `json:"excludes"`
	UseGitignore bool             `json:"useGitignore"`
}

func readOrder(c echo.Context) (order, error) {
	var body orderBody
	if err := readJSON(c, &body); err != nil {
		return order{}, err
	}
	return order{app: body.App, name: body.Name, request: backups.Request{
		Dir: body.Dir, Label: body.Label, TTL: time.Duration(body.TTL), Excludes: body.Excludes, Gitignore: body.UseGitignore,
	}}, nil
}

// A target is a body of POST /v1/backups/{id}/restore: what is left out is the
// backup's own.
type target struct {
	App  string `json:"app"`
	Name string `json:"name"`
	Dir  string `json:"dir"`
}

// complete takes what is left out from the backup. The name is one of its app's
// alone, so another app's sandbox is the usual one.
func (t *target) complete(b backups.Backup) {
	if t.App == "" {
		t.App = b.App
	}
	if t.App == b.App && t.Name == "" {
		t.Name = b.Name
	}
}

func readTarget(c echo.Context) (target, error) {
	var t target
	err := readJSON(c, &t)
	if errors.Is(err, errNoBody) {
		return t, nil
	}
	return t, err
}

var errNoBody = invalid(`The body is JSON that names an app: {"app": "files"}`)

// readJSON reads a body that is one JSON object.
func readJSON(c echo.Context, into any) error {
	body, err := httpapi.ReadBody(c, maxBody)
	if err != nil {
		return err
	}
	body = bytes.TrimSpace(body)
	if len(body) == 0 {
		return errNoBody
	}
	return httpapi.DecodeJSON(body, into)
}
