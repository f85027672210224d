// Package runlog keeps the numbered events of one run in a file, for any number
// of viewers: live ones, late ones, and those who were cut off and resume.
//
// # Format
//
// One event is one line, numbered from 1:
//
//	<seq> <source> <event>\n
//
// The event is anything without a line feed, JSON in practice. The source is a
// number of the caller's, which says where the event came from, or 0; it is
// never shown to viewers. In front of the last event of a log that has ended
// there is a dot. So an event is there whole and with its place, or not at all.
//
// # What survives
//
// An event has reached the kernel when Append returns: it survives the death of
// the gateway. It survives a loss of power once Sync has returned. Open cuts off
// what was being written, so that what is left is a prefix of what was appended.
//
// # Full disk
//
// A log keeps some room ahead of its end that only the last event may use: a run
// that fills the disk can still be told to have failed by it.
package runlog
