// Package execution keeps what commands and cells say: numbered events, a
// bounded replay of them, and exactly one end.
//
// Whoever runs a program emits its events into an [Execution]; any number of
// readers follow at their own pace and hold nobody up. A reader that falls
// behind what is kept is told of the gap. An execution that has ended is kept
// for a while, so that a lost connection loses nothing.
//
// # Where events are
//
// The events of an execution are its [Log]. The newest are records in memory.
// All logs of a sandbox share a budget there; once it is used up, a log that
// grows encodes its oldest records into a block and moves that to the disk,
// behind others in a segment. So a log is at any time
//
//	segments on the disk │ records in memory │ the newest, still open for more output
//
// with numbers that grow without a hole. Readers take whole blocks, bounded
// pieces of memory, and nobody holds a log while the disk works.
//
// A segment is a file without a name. It is not punched or truncated, which
// gVisor cannot do, but closed as a whole when its log lets go of it: because
// the log is forgotten, because the disk takes no more, because the user's own
// files need the room, or because a block cannot be read back as it was written.
package execution
