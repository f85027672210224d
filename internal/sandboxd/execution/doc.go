// Package execution keeps what commands and cells say: numbered events, a
// bounded replay of them, and exactly one end.
//
// Whoever runs a program emits its events into an [Execution]; any number of
// readers follow at their own pace and hold nobody up. A reader that falls
// behind what is kept is told of the gap. An execution that has ended is kept
// for a while, so that a lost connection loses nothing.
package execution
