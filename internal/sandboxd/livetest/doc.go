// Package livetest holds tests only: sandboxd as PID 1 of real sandboxes.
package livetest
