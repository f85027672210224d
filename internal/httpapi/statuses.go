package httpapi

import (
	"net/http"

	"sandgate/sandboxclient"
)

// StatusClientClosed is what the log says of a request whose client left
// before it was answered. It is never sent.
const StatusClientClosed = 499

// statuses is the one table of codes and statuses, read in both directions.
var statuses = [...]struct {
	code   sandboxclient.Code
	status int
}{
	{sandboxclient.CodeInvalid, http.StatusBadRequest},
	{sandboxclient.CodeUnauthenticated, http.StatusUnauthorized},
	{sandboxclient.CodeForbidden, http.StatusForbidden},
	{sandboxclient.CodeNotFound, http.StatusNotFound},
	{sandboxclient.CodeMethodNotAllowed, http.StatusMethodNotAllowed},
	{sandboxclient.CodeConflict, http.StatusConflict},
	{sandboxclient.CodePreconditionFailed, http.StatusPreconditionFailed},
	{sandboxclient.CodeTooLarge, http.StatusRequestEntityTooLarge},
	{sandboxclient.CodeExhausted, http.StatusTooManyRequests},
	{sandboxclient.CodeCanceled, StatusClientClosed},
	{sandboxclient.CodeInternal, http.StatusInternalServerError},
	{sandboxclient.CodeUnsupported, http.StatusNotImplemented},
	{sandboxclient.CodeBadGateway, http.StatusBadGateway},
	{sandboxclient.CodeUnavailable, http.StatusServiceUnavailable},
	{sandboxclient.CodeTimeout, http.StatusGatewayTimeout},
	{sandboxclient.CodeNoSpace, http.StatusInsufficientStorage},
}

// StatusOf gives a code's status; 500 for a code that nobody knows.
func StatusOf(code sandboxclient.Code) int {
	for _, row := range statuses {
		if row.code == code {
			return row.status
		}
	}
	return http.StatusInternalServerError
}

// CodeOf gives a status's code. A status without one of its own is invalid if
// it blames the client, internal otherwise.
func CodeOf(status int) sandboxclient.Code {
	for _, row := range statuses {
		if row.status == status {
			return row.code
		}
	}
	if status >= 400 && status < 500 {
		return sandboxclient.CodeInvalid
	}
	return sandboxclient.CodeInternal
}
