package runs

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"

	"sandgate/internal/objects"
	"sandgate/internal/runlog"
	"sandgate/sandboxclient"
)

// Get gives the summary of an owner's run, ended or not; anybody else's is
// not_found.
func (e *Engine) Get(ctx context.Context, owner, id string) (Summary, error) {
	if r := e.active(owner, id); r != nil {
		return r.snapshot(), nil
	}
	rec, err := e.opts.Records.Run(ctx, owner, id)
	if err != nil {
		return Summary{}, err
	}
	return rec.summary()
}

// List gives at most limit of an owner's runs after a position, newest first,
// and where to go on; the zero Position when these are the last.
func (e *Engine) List(ctx context.Context, owner string, after Position, limit int) ([]Summary, Position, error) {
	records, err := e.opts.Records.ListRuns(ctx, owner, after, limit+1)
	if err != nil {
		return nil, Position{}, err
	}
	var next Position
	if len(records) > limit {
		records = records[:limit]
		next = records[limit-1].Position()
	}
	summaries := make([]Summary, 0, len(records))
	for _, rec := range records {
		s, err := rec.summary()
		if err != nil {
			return nil, Position{}, err
		}
		if r := e.active(owner, rec.ID); r != nil {
			s = r.snapshot()
		}
		summaries = append(summaries, s)
	}
	return summaries, next, nil
}

// Cancel ends an owner's run, one that waits as well; its events tell when that
// is done. One that has ended is no error.
func (e *Engine) Cancel(ctx context.Context, owner, id string) error {
	if r := e.active(owner, id); r != nil {
		r.end(errCanceled)
		return nil
	}
	_, err := e.opts.Records.Run(ctx, owner, id)
	return err
}

// Events gives the events of an owner's run numbered above after, from its log,
// and those to come until the run has ended. An error comes first and alone, or
// breaks the stream: it can be resumed.
func (e *Engine) Events(ctx context.Context, owner, id string, after int64) iter.Seq2[runlog.Line, error] {
	return func(yield func(runlog.Line, error) bool) {
		v := viewer{engine: e, owner: owner, id: id, last: after, yield: yield}
		if err := v.watch(ctx); err != nil && !v.left {
			yield(runlog.Line{}, err)
		}
	}
}

// A viewer hands one run's events on.
type viewer struct {
	engine *Engine
	owner  string
	id     string
	last   int64 // number of the newest event handed on
	left   bool  // nobody takes any more
	yield  func(runlog.Line, error) bool
}

// watch reads the log as long as the run goes on, and then what has become of it.
func (v *viewer) watch(ctx context.Context) error {
	if r := v.engine.active(v.owner, v.id); r != nil {
		err := v.follow(ctx, r.events)
		if !errors.Is(err, runlog.ErrClosed) {
			return err
		}
	}
	rec, err := v.engine.opts.Records.Run(ctx, v.owner, v.id)
	if err != nil {
		return err
	}
	if rec.State != StateEnded {
		return &sandboxclient.Error{Code: sandboxclient.CodeUnavailable, Message: "This run goes on when the gateway has started again"}
	}
	return v.replay(ctx)
}

func (v *viewer) follow(ctx context.Context, log *runlog.Log) error {
	if seq, _ := log.Last(); v.last > seq && !log.Ended() {
		return invalid("The run has no event with the number in after or Last-Event-ID")
	}
	reader := log.Follow(v.last)
	for {
		lines, err := reader.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, line := range lines {
			if !v.give(line) {
				return nil
			}
		}
	}
}

func (v *viewer) give(line runlog.Line) bool {
	v.last = line.Seq
	v.left = !v.yield(line, nil)
	return !v.left
}

// replay reads the log of a run that has ended.
func (v *viewer) replay(ctx context.Context) error {
	size, open, err := v.engine.openLog(ctx, v.id)
	if err != nil {
		return err
	}
	for line, err := range runlog.Replay(size, open, v.last) {
		if err != nil {
			return err
		}
		if !v.give(line) {
			return nil
		}
	}
	return nil
}

// openLog finds the log of a run that has ended: an object, or still a file.
func (e *Engine) openLog(ctx context.Context, id string) (size int64, open func(offset int64) (io.ReadCloser, error), err error) {
	body, info, err := e.opts.Objects.Get(ctx, logKey(id), 0)
	if errors.Is(err, objects.ErrNotExist) {
		return e.openLogFile(id)
	}
	if err != nil {
		return 0, nil, err
	}
	_ = body.Close() // the size was all that we wanted
	return info.Size, func(offset int64) (io.ReadCloser, error) {
		body, _, err := e.opts.Objects.Get(ctx, logKey(id), offset)
		return body, err
	}, nil
}

func (e *Engine) openLogFile(id string) (size int64, open func(offset int64) (io.ReadCloser, error), err error) {
	info, err := os.Stat(e.logPath(id))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil, sandboxclient.Errorf(sandboxclient.CodeNotFound, "The events of this run are no longer kept")
	}
	if err != nil {
		return 0, nil, err
	}
	return info.Size(), func(offset int64) (io.ReadCloser, error) {
		file, err := os.Open(e.logPath(id))
		if err != nil {
			return nil, err
		}
		_, err = file.Seek(offset, io.SeekStart)
		return file, err
	}, nil
}

// An Attachment is an artifact to be downloaded.
type Attachment struct {
	Artifact
	Body io.ReadCloser // the caller closes it
}

// Artifact opens one of the artifacts of an owner's run by its name, at an
// offset.
func (e *Engine) Artifact(ctx context.Context, owner, id, name string, offset int64) (Attachment, error) {
	s, err := e.Get(ctx, owner, id)
	if err != nil {
		return Attachment{}, err
	}
	for n, a := range s.Artifacts {
		if a.Name != name {
			continue
		}
		body, _, err := e.opts.Objects.Get(ctx, artifactKey(id, n), offset)
		if errors.Is(err, objects.ErrNotExist) { // the run is being forgotten
			break
		}
		if err != nil {
			return Attachment{}, err
		}
		return Attachment{a, body}, nil
	}
	return Attachment{}, sandboxclient.Errorf(sandboxclient.CodeNotFound, "The run has no such artifact")
}
