package sandboxd

import "net/http"

// routes are all that sandboxd answers; wire's package comment describes them.
func (s *server) routes() http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, h handler) { mux.Handle(pattern, s.handle(h)) }
	work := func(pattern string, h handler) { handle(pattern, s.live(h)) }

	handle("GET /v1/health", s.health)
	handle("POST /v1/sleep", s.sleep)
	handle("DELETE /v1/sleep", s.stayAwake)

	work("POST /v1/exec", s.exec)
	work("POST /v1/run", s.runCell)
	handle("GET /v1/executions", s.listExecutions)
	handle("GET /v1/executions/{id}", s.execution)
	handle("GET /v1/executions/{id}/events", s.executionEvents)
	handle("DELETE /v1/executions/{id}", s.cancelExecution)

	handle("GET /v1/contexts", s.listContexts)
	handle("POST /v1/contexts", s.warmContext)
	handle("POST /v1/contexts/{id}/interrupt", s.interruptContext)
	handle("DELETE /v1/contexts/{id}", s.deleteContext)

	work("GET /v1/files", s.readFile)
	work("PUT /v1/files", s.writeFile)
	work("DELETE /v1/files", s.removeFile)
	work("GET /v1/stat", s.statFile)
	work("POST /v1/mkdir", s.makeDir)
	work("POST /v1/rename", s.renameFile)

	work("GET /v1/archive", s.pack)
	work("PUT /v1/archive", s.unpack)

	handle("PUT /v1/egress", s.openEgress)

	handle("/", s.unknown)
	return mux
}

// live notes that the sandbox does what a template never does, and answers.
func (s *server) live(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		s.lived.Store(true)
		return h(w, r)
	}
}
