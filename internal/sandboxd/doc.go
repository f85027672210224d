// Package sandboxd is the daemon inside every sandbox: PID 1, and the only way in.
//
// It runs as root and does what the gateway asks over connections that it dials
// itself: commands and cells as the sandbox user, files below /workspace.
// What it is asked, package wire tells. What runs as the sandbox user is
// hostile to it, and can reach neither its memory nor its token nor its socket.
//
//	link         parked connections to the gateway
//	reaper       wait statuses, PID 1's duty
//	shim         programs, started and ended with all they start
//	launch       what programs are started with
//	execution    events, their replay, their one end
//	command      one command
//	codecontext  living interpreters and their cells
//	kernel       one interpreter
//	workspace    files
//	proxy        the way out, when there is one
package sandboxd
