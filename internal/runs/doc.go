// Package runs runs the tests of repositories and keeps what came of them.
//
// A run clones a repository into a sandbox of its own, installs what it depends
// on, runs its tests, and is then a record, a log and some artifacts. [Engine]
// does all of it; viewers read the log and never the sandbox.
//
// # Life
//
//	queued → running: clone → install → test → ended
//
// A bounded number of runs work at once, others wait in line, first come, first
// served; when the line is full, Start is exhausted. Each run that is not ended
// has one goroutine, which ends with it or with the engine. A phase is one
// execution in the run's sandbox; a command of the visitor's own takes the
// place of install and test, and is phase test. A backup takes the place of the
// clone, as phase restore, and of the install where dependencies are there; what
// was prepared can be kept, as phase backup. These two are no executions: an
// engine that finds one begun does it again. The sandbox is destroyed with
// its workspace once results and artifacts have been read.
//
// # Events
//
// The log's first event is start, with the command; its last, and no other, is
// complete or error:
//
//	start     run, repository, ref, command
//	queued    position: 1 is the next one
//	phase     phase, state: started (command) or ended (durationMs, exitCode, status, commit, backup)
//	stdout    data: of every phase
//	stderr    data
//	warning   code, message
//	complete  the programs ended, however badly: status, exitCode, signal, durationMs,
//	          phase, results, resultsDisagree, artifacts, truncated
//	error     we failed, or could not do it: code, message, phase
//
// An install that fails is complete with phase install; a clone that fails is
// error with phase clone, for no program of the visitor's has run.
//
// # What survives
//
// The log is the truth about a run under way, and the record what leads to it.
// An event carries as its source the number of the sandbox's own event, with
// the place of its phase above it: after a restart of the gateway [Engine.Resume]
// reads the log again, follows the execution from there on, or starts the phase
// that had not begun, or ends the run with an error that says why it cannot go
// on. The id of a phase's execution follows from the run's, so that no moment
// is without a record of what may be running.
//
// Of the visitor's request the record keeps what is needed for that, variables
// of the environment included, until the run has ended. Credentials in a
// repository's address are never written anywhere.
package runs
