package httpapi

import (
	"errors"
	"testing"
	"time"

	"sandgate/sandboxclient"
)

// orderForm has a field of each kind that a body of ours has.
type orderForm struct {
	Name  string            `json:"name"`
	File  *string           `json:"file"`
	On    bool              `json:"on"`
	Globs []string          `json:"globs"`
	Env   map[string]string `json:"env"`
	TTL   Duration          `json:"ttl"`
	Keep  *struct {
		Dir string   `json:"dir"`
		TTL Duration `json:"ttl,omitempty"`
	} `json:"keep"`
}

func TestDecodeJSON(t *testing.T) {
	var o orderForm
	body := ` {"name":"a","file":"f","on":true,"globs":["*"],"env":{"A":"1"},"ttl":1.5,"keep":{"dir":"d","ttl":"3d"}} `
	if err := DecodeJSON([]byte(body), &o); err != nil {
		t.Fatal(err)
	}
	if o.Name != "a" || *o.File != "f" || !o.On || len(o.Globs) != 1 || o.Env["A"] != "1" || o.TTL != Duration(1500*time.Millisecond) {
		t.Errorf("%+v", o)
	}
	if o.Keep == nil || o.Keep.Dir != "d" || o.Keep.TTL != Duration(72*time.Hour) {
		t.Errorf("%+v", o.Keep)
	}
	var none orderForm
	nothing := `{"name":null,"file":null,"on":null,"globs":null,"env":null,"ttl":null,"keep":null}`
	if err := DecodeJSON([]byte(nothing), &none); err != nil || none.File != nil || none.Keep != nil || none.TTL != 0 {
		t.Errorf("%+v, %v", none, err)
	}
}

// What is wrong is told by the name of the field and in words that are not Go's.
func TestDecodeJSON_refuses(t *testing.T) {
	const begin, end = "The body is not a JSON object", "; its fields are name, file, on, globs, env, ttl, keep"
	for body, want := range map[string]string{
		"":                   begin + end,
		" ":                  begin + end,
		"[1]":                begin + end,
		`"x"`:                begin + end,
		"foo":                begin + ": it goes wrong at byte 2" + end,
		`{"on":`:             begin + ": it goes wrong at byte 6" + end,
		`{"on":true} x`:      "The body is more than one JSON object" + end,
		`{"on":true}{}`:      "The body is more than one JSON object" + end,
		`{"On":1,"no":1}`:    "There is no field On, no; there are name, file, on, globs, env, ttl, keep",
		`{"name":1}`:         "name is text",
		`{"file":1}`:         "file is text",
		`{"on":"yes"}`:       "on is true or false",
		`{"globs":"x"}`:      "globs is a list of texts",
		`{"globs":[1]}`:      "globs is a list of texts",
		`{"env":{"A":1}}`:    "env is an object of texts",
		`{"ttl":"2y"}`:       "ttl is " + durationWords,
		`{"ttl":{}}`:         "ttl is " + durationWords,
		`{"keep":1}`:         "keep is an object with fields of dir, ttl",
		`{"keep":{"dir":1}}`: "keep.dir is text",
		`{"keep":{"ttl":0}}`: "keep.ttl is " + durationWords,
		`{"keep":{"a":1}}`:   "There is no field keep.a; there are keep.dir, keep.ttl",
	} {
		err := DecodeJSON([]byte(body), new(orderForm))
		e, ok := errors.AsType[*sandboxclient.Error](err)
		if !ok || e.Code != sandboxclient.CodeInvalid || e.Message != want {
			t.Errorf("%s: %v, want %s", body, err, want)
		}
	}
}
