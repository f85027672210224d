package cell

import (
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"sandgate/internal/httpapi"
	"sandgate/sandboxclient"
	"sandgate/sandboxclient/wire"
)

// Languages that cells can be written in; the first is meant when none is named.
var Languages = []string{wire.Python, wire.JavaScript, wire.Bash}

// A Request is a cell to be run, as a visitor asked for it.
type Request struct {
	Code    string
	Options sandboxclient.RunOptions
}

// ReadRequest takes a cell from a request: the source from its body, and from
// its query ?language=, ?timeout= and ?onDisconnect=.
func ReadRequest(c echo.Context, limit int64) (Request, error) {
	language, err := Language(c)
	if err != nil {
		return Request{}, err
	}
	timeout, err := httpapi.QueryDuration(c, "timeout")
	if err != nil {
		return Request{}, err
	}
	detach, err := detached(c)
	if err != nil {
		return Request{}, err
	}
	source, err := Read(c, limit)
	if err != nil {
		return Request{}, err
	}
	if language == wire.Bash && strings.ContainsRune(source.Code, 0) {
		return Request{}, sandboxclient.Errorf(sandboxclient.CodeInvalid, "bash cannot hold a NUL byte")
	}
	return Request{source.Code, sandboxclient.RunOptions{
		Language:  language,
		Stdin:     source.Stdin,
		Timeout:   timeout,
		Detach:    detach,
		Execution: uuid.NewString(),
	}}, nil
}

// Language reads what ?language= says.
func Language(c echo.Context) (string, error) {
	name, ok := httpapi.Query(c, "language")
	if !ok {
		return Languages[0], nil
	}
	if !slices.Contains(Languages, name) {
		return "", sandboxclient.Errorf(sandboxclient.CodeUnsupported,
			"The language %.40q is not supported; there is %s", name, strings.Join(Languages, ", "))
	}
	return name, nil
}

// detached reads what becomes of the cell when its visitor leaves.
func detached(c echo.Context) (bool, error) {
	switch policy, _ := httpapi.Query(c, "onDisconnect"); policy {
	case "", "cancel":
		return false, nil
	case "continue":
		return true, nil
	default:
		return false, sandboxclient.Errorf(sandboxclient.CodeInvalid, "onDisconnect is cancel or continue")
	}
}
