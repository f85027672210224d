package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"sandgate/sandboxclient"
)

// DecodeJSON reads a body that is one JSON value and has no field that is not
// known: one that is misspelt must not be ignored.
func DecodeJSON(body []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(into)
	if errors.Is(err, io.EOF) {
		err = errors.New("it is empty")
	}
	if err != nil {
		return sandboxclient.Errorf(sandboxclient.CodeInvalid,
			"The body is not the JSON that is expected: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return sandboxclient.Errorf(sandboxclient.CodeInvalid, "The body is more than one JSON value")
	}
	return nil
}
