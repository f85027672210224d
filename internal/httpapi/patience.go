package httpapi

import (
	"net/http"
	"slices"
	"time"
)

const (
	// answerSilence bounds how long a client may read nothing of an answer.
	// Downloads as a whole have no time limit, so silence must have one.
	answerSilence = time.Minute
	// piece is how much of an answer is given that long at once.
	piece = 128 << 10
)

// A patientWriter gives the client a bounded time to read each piece of the
// answer, whichever handler writes it. Whoever reads nothing ends the answer,
// and with it the handler and what it holds.
type patientWriter struct {
	http.ResponseWriter
	rc      *http.ResponseController
	silence time.Duration
}

func newPatientWriter(w http.ResponseWriter, silence time.Duration) *patientWriter {
	return &patientWriter{ResponseWriter: w, rc: http.NewResponseController(w), silence: silence}
}

// Write implements http.ResponseWriter.
func (w *patientWriter) Write(data []byte) (written int, err error) {
	w.begin()
	if len(data) <= piece {
		return w.ResponseWriter.Write(data)
	}
	for part := range slices.Chunk(data, piece) {
		w.begin()
		n, err := w.ResponseWriter.Write(part)
		written += n
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// FlushError is found by http.ResponseController.
func (w *patientWriter) FlushError() error {
	w.begin()
	return w.rc.Flush()
}

// Unwrap is for http.ResponseController.
func (w *patientWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// begin starts the time for what is written next. A writer that knows no
// deadlines is a test's, and does not block.
func (w *patientWriter) begin() {
	_ = w.rc.SetWriteDeadline(time.Now().Add(w.silence))
}
