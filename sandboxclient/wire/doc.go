// Package wire is what the gateway and sandboxd say to each other.
//
// # Connections
//
// sandboxd dials out. The gateway listens on the Unix socket [SocketName] in a
// directory of its own for every sandbox; inside the sandbox that directory is
// mounted at [LinkDir], where only root can look. sandboxd connects, writes one
// line, the [Hello], and waits: the connection is parked until the gateway
// wants to talk. A few are kept parked, and a lost one is dialled again.
//
//	SANDGATE <version> <token> serve\n
//	SANDGATE <version> <token> egress <host>:<port>\n
//
// The token lies beside the socket in [TokenName] and is read at every dial. The
// third word is the role. After [RoleServe] the gateway speaks HTTP/1.1 to
// sandboxd on this connection, with keep-alive.
//
// After [RoleEgress] the gateway answers with one line whether it has connected
// to the target, which only it resolves:
//
//	connected\n
//	<code> <sentence>\n
//
// The first is followed by the target's bytes, in both directions, until either
// side closes; after the second ([ReadEgressReply] gives it as an [Error]) the
// gateway hangs up. sandboxd opens such connections for programs that use its
// proxy, once the gateway has asked for one (PUT /v1/egress).
//
// # Requests
//
//	GET    /v1/health                           → [Health]
//	POST   /v1/sleep                            → 204; prepares for a checkpoint, without stopping anything
//	DELETE /v1/sleep                            → 204; says that there was none after all
//	POST   /v1/exec          [ExecRequest]      → events
//	POST   /v1/run           [RunRequest]       → events; makes the code context when it is not there
//	GET    /v1/executions                       → [][ExecutionInfo], running and kept
//	GET    /v1/executions/{id}                  → [ExecutionInfo]
//	GET    /v1/executions/{id}/events?after=N   → events; 204 when N is the terminal one
//	DELETE /v1/executions/{id}                  → 204; asks for the end, does not wait for it
//	GET    /v1/contexts                         → [][ContextInfo]
//	POST   /v1/contexts      [WarmRequest]      → [Warmed]; conflict when it is there
//	POST   /v1/contexts/{id}/interrupt          → 204; conflict when it runs nothing
//	DELETE /v1/contexts/{id}                    → 204; ends the kernel with all it started
//	GET    /v1/archive?dir=&max=&exclude=&gitignore=&format=
//	                                            → a tar, by zstd unless format=tar; the trailer [ArchiveTrailer] says that it is whole
//	PUT    /v1/archive?dir=&max=&foreign=       → [ArchiveInfo]; the directory becomes what the body holds, or stays as it is
//	PUT    /v1/egress        [Egress]           → 204; opens a proxy that programs started from now on find
//	GET    /v1/files?path=                      → bytes with ranges and ETag; a directory: [Listing] with ContentTypeListing
//	PUT    /v1/files?path=&max=                 → [FileInfo]; If-Match and If-None-Match are honoured
//	DELETE /v1/files?path=&recursive=           → 204
//	GET    /v1/stat?path=                       → [FileInfo]
//	POST   /v1/mkdir?path=                      → [FileInfo]; parents are made, an existing directory is fine
//	POST   /v1/rename        [RenameRequest]    → [FileInfo]
//
// Paths are relative to /workspace and slash-separated; "." is /workspace.
// A failure is a JSON [Error] under the status of its code.
//
// # Events
//
// A stream of events is one JSON object a line ([Event]), numbered from 1, and
// ends with exactly one that is Terminal. A stream without one is a broken
// connection, never a success: attach again after the last number seen. A
// broken connection never ends an execution; DELETE does.
//
// # Sleep
//
// A sandbox can be checkpointed at any moment, and restored: as itself, or from
// a template as many others. Connections do not survive that, executions do,
// and their events are read on like after any broken connection. Who puts it to
// sleep hangs up first, and writes another token beside the socket before it is
// restored: sandboxd looks for that before it says the first hello, takes the time
// that it slept off timeouts and durations, and does anew what depends on who it is.
//
// # Versions
//
// Both sides come from one build, yet a sandbox may outlive its gateway: a
// gateway accepts only its own [Version] and replaces other sandboxes. Fields
// are only ever added.
//
//	1  2026-11-29  first
package wire
