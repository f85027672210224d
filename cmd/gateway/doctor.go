package main

import (
	"context"
	"io"
)

func doctor(ctx context.Context, cfg Config, w io.Writer) error { return nil }
