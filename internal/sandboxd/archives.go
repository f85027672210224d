package sandboxd

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"

	"sandgate/internal/sandboxd/archive"
	"sandgate/internal/sandboxd/workspace"
	"sandgate/sandboxclient/wire"
)

// archiveBuffer is how much of an archive is sent at once.
const archiveBuffer = 256 << 10

// GET /v1/archive?dir=&max=&exclude=&gitignore=&format=
func (s *server) pack(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	most, err := number(query.Get("max"))
	if err != nil {
		return err
	}
	plain := query.Get("format") == "tar"
	source, err := s.archives.Source(query.Get("dir"), archive.Options{
		Excludes: query["exclude"], Gitignore: query.Get("gitignore") == "true", Plain: plain, MaxBytes: most,
	})
	if err != nil {
		return err
	}
	defer source.Close()
	w.Header().Set("Content-Type", wire.ContentTypeZstd)
	if plain {
		w.Header().Set("Content-Type", wire.ContentTypeTar)
	}
	w.Header().Set("Trailer", wire.ArchiveTrailer)
	buffered := bufio.NewWriterSize(writerOnly{w}, archiveBuffer)
	info, err := source.Pack(r.Context(), buffered)
	return s.endArchive(w, info, errors.Join(err, buffered.Flush()))
}

// endArchive says in the trailer whether what was sent is whole.
func (s *server) endArchive(w http.ResponseWriter, info wire.ArchiveInfo, err error) error {
	end := wire.ArchiveEnd{Info: info}
	if err != nil {
		var ours bool
		if end.Error, ours = errors.AsType[*wire.Error](err); !ours {
			s.log.Error("directory was not packed", "cause", loggable(err))
			end.Error = &wire.Error{Code: wire.CodeInternal, Message: "Something went wrong in the sandbox"}
		}
	}
	text, err := json.Marshal(end)
	if err != nil {
		return err
	}
	w.Header().Set(wire.ArchiveTrailer, string(text))
	return nil
}

// PUT /v1/archive?dir=&max=&foreign=
func (s *server) unpack(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	most, err := number(query.Get("max"))
	if err != nil {
		return err
	}
	info, err := s.archives.Restore(r.Context(), query.Get("dir"), r.Body, archive.RestoreOptions{
		MaxBytes: most, Foreign: query.Get("foreign") == "true",
	})
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, info)
	return nil
}

// number reads a number of bytes; none is 0.
func number(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, &wire.Error{Code: wire.CodeInvalid, Message: "max is not a number of bytes"}
	}
	return n, nil
}

// tidy ends restores that were cut off, and begins to sweep aside what else was
// left. Of a restore that cannot be ended the former files may lie where a sweep
// would take them, so that nothing is swept until another sandboxd ends it.
func tidy(ctx context.Context, files *workspace.Workspace, log *slog.Logger) {
	if err := archive.Recover(files.Dir()); err != nil {
		log.Error("a restore that was cut off could not be ended; it is tried when sandboxd starts again", "cause", loggable(err))
		return
	}
	if err := files.Sweep(ctx); err != nil {
		log.Error("the workspace cannot be swept", "cause", loggable(err))
	}
}
