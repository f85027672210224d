package archive

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

const (
	// crewSize is how many files are made at once: making one is waiting, mostly.
	crewSize = 4
	// batch is how many jobs are handed over at once: it takes a switch of threads.
	batch = 8
)

// A crew does jobs beside the reading of an archive, as the user to whom what it
// makes belongs: to make a file as root and give it away costs a seventh more in
// all. Only one goroutine gives it jobs.
type crew struct {
	jobs    chan []func() error
	next    []func() error // are handed over together
	workers sync.WaitGroup
	given   sync.WaitGroup // jobs that are not done

	mu  sync.Mutex
	err error
}

func newCrew(uid, gid int) *crew {
	c := &crew{jobs: make(chan []func() error, crewSize)}
	for range crewSize {
		c.workers.Go(func() { // ends with close
			c.note(actAs(uid, gid))
			for jobs := range c.jobs {
				for _, job := range jobs {
					c.note(job())
					c.given.Done()
				}
			}
		})
	}
	return c
}

// do gives a job; it waits while all are busy.
func (c *crew) do(job func() error) {
	c.given.Add(1)
	if c.next = append(c.next, job); len(c.next) == batch {
		c.handOver()
	}
}

func (c *crew) handOver() {
	if len(c.next) > 0 {
		c.jobs <- c.next
		c.next = nil
	}
}

// now gives a job and waits until it is done.
func (c *crew) now(job func() error) error {
	done := make(chan error)
	c.do(func() error { done <- caught(job); return nil })
	c.handOver()
	return <-done
}

// caught gives the panic of a job as its error: a decoder's would end sandboxd,
// and concerns nobody but whose archive it is.
func caught(job func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return job()
}

// actAs lets this goroutine act as a user, to its end: its thread ends with it.
// Go starts no other thread from one that is locked. The process stays root's
// as long as its first thread does, which cmd/sandboxd keeps for itself.
func actAs(uid, gid int) error {
	if os.Geteuid() == uid {
		return nil
	}
	runtime.LockOSThread()
	const same = ^uintptr(0)
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESGID, same, uintptr(gid), same); errno != 0 {
		return os.NewSyscallError("setresgid", errno)
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, same, uintptr(uid), same); errno != 0 {
		return os.NewSyscallError("setresuid", errno)
	}
	return nil
}

// wait waits until all jobs are done.
func (c *crew) wait() error {
	c.handOver()
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
	c.handOver()
	close(c.jobs)
	c.workers.Wait()
	return c.failure()
}
