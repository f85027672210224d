package cell

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"sandgate/internal/httpapi"
	"sandgate/sandboxclient"
)

// Source is what a visitor sent to be run.
type Source struct {
	Code  string
	Stdin []byte
}

// Read takes the source from a request's body, of at most limit bytes. The
// body is the code, whatever its content type says (curl -d calls everything a
// form), but for multipart/form-data with the fields code and stdin.
func Read(c echo.Context, limit int64) (Source, error) {
	kind, params, err := mime.ParseMediaType(c.Request().Header.Get("Content-Type"))
	if err == nil && kind == "multipart/form-data" {
		return readForm(c, params["boundary"], limit)
	}
	body, err := httpapi.ReadBody(c, limit)
	if err != nil {
		return Source{}, err
	}
	return source(body, nil)
}

func source(code, stdin []byte) (Source, error) {
	if !utf8.Valid(code) {
		return Source{}, sandboxclient.Errorf(sandboxclient.CodeInvalid, "Code must be UTF-8")
	}
	code = bytes.TrimPrefix(code, []byte("\uFEFF")) // as some editors begin a file
	return Source{Code: string(code), Stdin: stdin}, nil
}

// readForm reads the parts of a form; the limit holds for all of it.
func readForm(c echo.Context, boundary string, limit int64) (Source, error) {
	body, err := httpapi.OpenBody(c, limit)
	if err != nil {
		return Source{}, err
	}
	fields := map[string][]byte{}
	form := multipart.NewReader(body, boundary)
	for {
		part, err := form.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Source{}, formError(body, err)
		}
		if err := readField(fields, part); err != nil {
			return Source{}, formError(body, err)
		}
	}
	// A client that leaves is noticed only once its body has been read to the end.
	if _, err := io.Copy(io.Discard, body); err != nil {
		return Source{}, err
	}
	code, ok := fields["code"]
	if !ok {
		return Source{}, sandboxclient.Errorf(sandboxclient.CodeInvalid, "The form has no field named code")
	}
	return source(code, fields["stdin"])
}

// readField keeps a field that is ours.
func readField(fields map[string][]byte, part *multipart.Part) error {
	name := part.FormName()
	if name != "code" && name != "stdin" {
		return nil
	}
	if _, twice := fields[name]; twice {
		return sandboxclient.Errorf(sandboxclient.CodeInvalid, "The form has two fields named %s", name)
	}
	data, err := io.ReadAll(part)
	fields[name] = data
	return err
}

// formError tells a body that could not be read from a form that is wrong.
func formError(body *httpapi.Body, err error) error {
	if body.Err() != nil {
		return body.Err()
	}
	if e, ok := errors.AsType[*sandboxclient.Error](err); ok {
		return e
	}
	return &sandboxclient.Error{Code: sandboxclient.CodeInvalid, Message: "The form cannot be read", Err: err}
}
