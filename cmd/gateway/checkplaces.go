package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sandgate/internal/objects"
)

// checkObjects looks at the address of the objects alone. Its words never repeat it:
// there may be credentials in it.
func checkObjects(wrong *problems, place string) {
	switch {
	case place == "":
	case objects.IsS3(place):
		// Whoever lists keys need not have the credentials; see checkCredentials.
		if _, err := objects.ParseS3(place, func(string) string { return "assumed" }); err != nil {
			wrong.addf("%v", err)
		}
	case !filepath.IsAbs(place):
		wrong.addf("objects: must be an absolute path, or s3://BUCKET/PREFIX; the address of a server goes behind it, as ?endpoint=URL")
	}
}

// checkCredentials says whether the environment has what the objects need.
func checkCredentials(c Config) error {
	if !objects.IsS3(c.Objects) {
		return nil
	}
	_, err := objects.ParseS3(c.Objects, os.Getenv)
	return err
}

// checkAuditLog looks for the folder of the audit log: only the log itself is made.
func checkAuditLog(wrong *problems, c Config) {
	if c.AuditLog == "" {
		return
	}
	if !filepath.IsAbs(c.AuditLog) {
		wrong.addf("audit-log: %q is no absolute path", c.AuditLog)
		return
	}
	dir := filepath.Dir(c.AuditLog)
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !willBeMade(c, dir):
		wrong.addf("audit-log: there is no directory %s: make it, open to the gateway alone", dir)
	case err == nil && !info.IsDir():
		wrong.addf("audit-log: %s is no directory", dir)
	}
}

// willBeMade says whether a directory is one that the gateway makes, with those above
// it, before it writes an audit log.
func willBeMade(c Config, dir string) bool {
	for _, made := range []string{c.StateDir, filepath.Dir(c.database()), c.objects()} {
		if strings.HasPrefix(filepath.Clean(made)+"/", dir+"/") {
			return true
		}
	}
	return false
}
