package objects

import "testing"

// What is put does not wait for what others give up on a server that does not
// answer.
func TestS3_makesWay(t *testing.T) {
	s := &S3{failed: map[string]bool{"failed": true}}
	s.aborting.Lock()
	if err := s.makeWay(t.Context(), "other"); err != nil {
		t.Error(err)
	}
}
