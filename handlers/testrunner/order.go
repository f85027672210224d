package testrunner

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
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

// fields says how each field of the JSON form is read into an order.
var fields = map[string]func(*order, json.RawMessage) error{
	"repository":   func(o *order, v json.RawMessage) error { return read(v, &o.request.Repository, "text") },
	"ref":          func(o *order, v json.RawMessage) error { return read(v, &o.request.Ref, "text") },
	"command":      func(o *order, v json.RawMessage) error { return read(v, &o.request.Command, "text") },
	"env":          func(o *order, v json.RawMessage) error { return read(v, &o.request.Env, "an object of texts") },
	"artifacts":    func(o *order, v json.RawMessage) error { return read(v, &o.request.Artifacts, "a list of globs") },
	"submodules":   func(o *order, v json.RawMessage) error { return read(v, &o.request.Submodules, "true or false") },
	"lfs":          func(o *order, v json.RawMessage) error { return read(v, &o.request.LFS, "true or false") },
	"timeout":      readTimeout,
	"onDisconnect": readPolicy,
	"backup":       readKeep,
	"restore":      func(o *order, v json.RawMessage) error { return read(v, &o.request.Restore, "text") },
}

func parseOrder(body []byte) (order, error) {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(body, &given); err != nil {
		return order{}, invalid("The body begins like JSON and is none: %s", err)
	}
	var unknown []string
	var o order
	for _, name := range slices.Sorted(maps.Keys(given)) {
		take, ok := fields[name]
		if !ok {
			unknown = append(unknown, name)
			continue
		}
		if err := take(&o, given[name]); err != nil {
			return order{}, invalid("%s is not %s", name, err)
		}
	}
	if len(unknown) > 0 {
		return order{}, invalid("There is no field %.200s; there are %s",
			strings.Join(unknown, ", "), strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
	}
	return o, nil
}

// wanted is what a field should have been.
type wanted string

func (w wanted) Error() string { return string(w) }

// read takes a value; null is as if the field were not there.
func read[T any](value json.RawMessage, into *T, what wanted) error {
	if err := json.Unmarshal(value, into); err != nil {
		return what
	}
	return nil
}

func readTimeout(o *order, value json.RawMessage) error {
	d, ok := httpapi.DecodeDuration(value)
	if !ok {
		return wanted("a duration above 0 and below a year: seconds such as 90, or \"15m\"")
	}
	if d > 0 {
		o.request.Timeout = max(d, time.Millisecond)
	}
	return nil
}

// readKeep reads what is to be kept of the prepared directory.
func readKeep(o *order, value json.RawMessage) error {
	const what = wanted(`an object such as {"dir": "/workspace/app", "ttl": "3d", "label": "…"}`)
	var given *struct {
		Dir   string          `json:"dir"`
		Label string          `json:"label"`
		TTL   json.RawMessage `json:"ttl"`
	}
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&given); err != nil {
		return what
	}
	if given == nil {
		return nil
	}
	keep := &runs.Keep{Dir: given.Dir, Label: given.Label}
	var ok bool
	if keep.TTL, ok = httpapi.DecodeDuration(given.TTL); !ok {
		return what
	}
	o.request.Backup = keep
	return nil
}

func readPolicy(o *order, value json.RawMessage) error {
	const what = wanted("cancel or continue")
	var policy string
	if err := read(value, &policy, what); err != nil {
		return err
	}
	switch policy {
	case "", "continue":
	case "cancel":
		o.cancelOnLeave = true
	default:
		return what
	}
	return nil
}
