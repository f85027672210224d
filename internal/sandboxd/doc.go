// Package sandboxd is the daemon inside every sandbox: PID 1, and the only way in.
//
// It runs as root and does what the gateway asks over connections that it dials
// itself: commands and cells as the sandbox user, files below /workspace.
// What it is asked, package wire tells. What runs as the sandbox user is
// hostile to it, and can reach neither its memory nor its token nor its socket.
//
//	awake        the time that users have had
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
//
// # Sleep
//
// A sandbox may be checkpointed at any moment and restored: as the one that it
// was, or as a new one, of which there may be many. To those inside it seems that
// nobody had run for long: all clocks have gone on, and timers fire whose time
// has come. Connections are lost, and dialled again at once.
//
// That it was asleep, the token beside the socket tells: it is read at every
// dial, and another one means another link. Package awake takes the time that
// has passed since the last dial off what is promised to users. If nothing has been asked of this
// sandboxd before but what is asked of a template, health, a warm code context
// and a way out, it is in a sandbox of its own now. Then the workspace is swept
// like at the start, and interpreters that wait for their first cell but cannot
// draw their random numbers anew are ended. All of this comes before the hello,
// so before any request.
//
// So that one checkpoint serves for many, a template touches nothing below
// /workspace: sandboxd holds its root, interpreters stand in it, modules are
// imported without it, and all caches lie elsewhere.
package sandboxd
