package sandboxd

import "net/http"

// routes are all that sandboxd answers; wire's package comment describes them.
func (s *server) routes() http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, h handler) { mux.Handle(pattern, s.handle(h)) }

	handle("GET /v1/health", s.health)

	handle("POST /v1/exec", s.exec)
	handle("POST /v1/run", s.runCell)
	handle("GET /v1/executions", s.listExecutions)
	handle("GET /v1/executions/{id}", s.execution)
	handle("GET /v1/executions/{id}/events", s.executionEvents)
	handle("DELETE /v1/executions/{id}", s.cancelExecution)

	handle("GET /v1/contexts", s.listContexts)
	handle("POST /v1/contexts/{id}/interrupt", s.interruptContext)
	handle("DELETE /v1/contexts/{id}", s.deleteContext)

	handle("GET /v1/files", s.readFile)
	handle("PUT /v1/files", s.writeFile)
	handle("DELETE /v1/files", s.removeFile)
	handle("GET /v1/stat", s.statFile)
	handle("POST /v1/mkdir", s.makeDir)
	handle("POST /v1/rename", s.renameFile)

	handle("PUT /v1/egress", s.openEgress)

	handle("/", s.unknown)
	return mux
}
