// Package sandboxclient runs code and commands and keeps files in isolated
// Linux sandboxes, whatever engine they live on.
//
// # Use
//
// A [Client] is made once, on a [Driver]. [Client.Sandbox] gives a handle for
// a [Ref], that is owner, app and name; it does no I/O. The first operation on
// it finds the sandbox or creates it, and everybody who asks meanwhile waits
// for that one start. A sandbox is ended when nothing has run in it for
// Options.SleepAfter; its /workspace stays, and the next operation starts it
// again on that.
//
//	client := sandboxclient.New(options)
//	err := client.Adopt(ctx) // what an earlier gateway left
//	go client.Reap(ctx)
//	box := client.Sandbox(sandboxclient.Ref{Owner: "local", App: "notebook", Name: "scratch"})
//	run, err := box.RunCode(ctx, "x = 41\nx + 1", sandboxclient.RunOptions{})
//
// # Failure
//
// "Your program failed" and "we failed" are told apart: a program that ended,
// however badly, is a result with an [Exit]; an error is always an [*Error]
// and means that the work could not be done or its end was not seen.
//
// A sandbox that no longer answers is replaced at the next operation, on the
// same workspace. What was not sent yet is sent to the new one; what was under
// way ends with the code unavailable.
package sandboxclient
