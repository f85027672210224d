package archive

import (
	"errors"
	"sync"
)

// crewSize is how many files are made at once: making one is waiting, mostly.
const crewSize = 4

// A crew does jobs beside the reading of an archive. Only one goroutine gives it
// jobs.
type crew struct {
	jobs    chan func() error
	workers sync.WaitGroup
	given   sync.WaitGroup // jobs that are not done

	mu  sync.Mutex
	err error
}

func newCrew() *crew {
	c := &crew{jobs: make(chan func() error, crewSize)}
	for range crewSize {
		c.workers.Go(func() { // ends with close
			for job := range c.jobs {
				c.note(job())
				c.given.Done()
			}
		})
	}
	return c
}

// do gives a job; it waits while all are busy.
func (c *crew) do(job func() error) {
	c.given.Add(1)
	c.jobs <- job
}

// wait waits until all jobs are done.
func (c *crew) wait() error {
	c.given.Wait()
	return c.failure()
}

// note remembers a failure.
func (c *crew) note(err error) {
	if err == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = errors.Join(c.err, err)
}

func (c *crew) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// close waits for all jobs, and for the workers' end.
func (c *crew) close() error {
	close(c.jobs)
	c.workers.Wait()
	return c.failure()
}
