package sandboxclient

import "sandgate/sandboxclient/wire"

// The ways a program can end, as Exit tells them.
const (
	StatusExited        = wire.StatusExited
	StatusSignaled      = wire.StatusSignaled
	StatusTimedOut      = wire.StatusTimedOut
	StatusOOMKilled     = wire.StatusOOMKilled
	StatusOutputLimited = wire.StatusOutputLimited
	StatusCanceled      = wire.StatusCanceled
)
