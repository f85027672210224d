// Package kernel keeps one interpreter process per code context and runs cells
// in it.
//
// # The process
//
// The program of a language is embedded in sandboxd, written below /run/kernels
// where only root can change it, and started as the sandbox user through
// [shim.Starter]. It is given five descriptors:
//
//	0  /dev/null; for a cell with Stdin, a file that holds it
//	1  a pipe, read as stdout
//	2  a pipe, read as stderr
//	3  a pipe with requests
//	4  a pipe with replies
//
// The program moves 3 and 4 up, closes them on exec, and puts 0, 1 and 2 back
// before each cell.
//
// # The protocol
//
// A frame is one JSON object on a line of its own; empty lines mean nothing.
//
// Requests to the program:
//
//	{"id":1,"code":"…","stdin":"base64"}  run a cell; sent only when none runs
//
//	{"id":1,"code":"…","renew":{"env":{"NAME":"…","GONE":null}}}
//	                                          one that waited for its first cell;
//	                                          it draws its random numbers anew
//	{"id":0,"preload":["numpy"]}              import modules; Python, before any cell
//
// bash, which can read its own language best, is sent a line of that instead.
//
// Ids count the cells of the kernel from 1. Closing the pipe ends the program.
// An interrupt is SIGINT. It is repeated until a reply says that it arrived.
//
// Replies carry the id of the cell, the pid of their writer, and a type:
//
//	ready        engine       once, before any request (id 0)
//	preloaded    failed       the modules are imported, but for those that failed
//	result       result,      a value under the short names of wire.Result, JSON
//	             dropped      as text; dropped names what was too large to send
//	interrupted               SIGINT has interrupted the cell
//	done         error,       the cell has ended, and with what exception;
//	             interrupted  interrupted: with the one that SIGINT raised
//	             exitCode     of a shell's last command
//
// All that a cell wrote before it ended is in the pipes when done is sent. A
// traceback is printed by this side, so that a cell cannot break that.
//
// The cell can reach both ends of the program's pipes, so replies are not
// trusted. Those of another pid, as a fork leaves behind, and those of another
// cell are ignored. What is no frame, or too long for one, ends the kernel, as
// does a channel that is closed: no cell waits for a reply that cannot come.
//
// # Output
//
// Output is passed on while the cell runs. What leftovers of earlier cells
// print between two cells is kept, up to a bound, and comes first in the next
// one, marked Background.
//
// Results are bounded, one by one and for each cell. What is cut is told by a
// warning: result_too_large, too_many_results, and for leftovers
// background_output_dropped.
//
// # Ends
//
// A cell exits with 0, or with 1 and its exception. One that is ended because
// its context is has the status of the cause, the code 130 and no exception,
// unless it raises one of its own on the way out. One that takes its process
// with it tells how that ended; whoever asks next needs a new kernel.
package kernel
