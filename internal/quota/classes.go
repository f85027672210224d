package quota

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
)

// Default is the class of those who name none.
const Default = "default"

// Limits are what one owner of a class may have. Zero: as much as the gateway has.
type Limits struct {
	Sandboxes  int     // that have a workspace
	Running    int     // sandboxes at once
	Executions int     // runs and cells at once
	Runs       int     // test runs that have not ended
	Disk       int64   // bytes that its workspaces may fill
	Objects    int64   // bytes of its backups and of what its runs left
	Rate       float64 // requests a second
	Burst      int     // requests at once after a pause; 0: two seconds' worth
}

// Classes are limits by the name of the class.
type Classes map[string]Limits

// Parse reads settings of the form CLASS.LIMIT=VALUE.
func Parse(settings []string) (Classes, error) {
	classes := Classes{}
	for _, setting := range settings {
		name, value, _ := strings.Cut(setting, "=")
		class, limit, ok := strings.Cut(name, ".")
		if !ok || class == "" || value == "" {
			return nil, fmt.Errorf("%q is no CLASS.LIMIT=VALUE such as default.running=5", setting)
		}
		limits := classes[class]
		if err := limits.set(limit, value); err != nil {
			return nil, fmt.Errorf("%q: %w", setting, err)
		}
		classes[class] = limits
	}
	return classes, nil
}

// Names lists the limits that can be set.
const Names = "sandboxes, running, executions, runs, disk, objects, rate, burst"

func (l *Limits) set(limit, value string) (err error) {
	switch limit {
	case "sandboxes":
		l.Sandboxes, err = count(value)
	case "running":
		l.Running, err = count(value)
	case "executions":
		l.Executions, err = count(value)
	case "runs":
		l.Runs, err = count(value)
	case "burst":
		l.Burst, err = count(value)
	case "disk":
		l.Disk, err = bytes(value)
	case "objects":
		l.Objects, err = bytes(value)
	case "rate":
		l.Rate, err = perSecond(value)
	default:
		err = fmt.Errorf("the limits are %s", Names)
	}
	return err
}

func count(value string) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q is no whole number above 0", value)
	}
	return n, nil
}

func bytes(value string) (int64, error) {
	n, err := humanize.ParseBytes(value)
	if err != nil || n < 1 || n > math.MaxInt64 {
		return 0, fmt.Errorf("%q is no size such as 512MiB or 2GB", value)
	}
	return int64(n), nil
}

func perSecond(value string) (float64, error) {
	f, err := strconv.ParseFloat(value, 64)
	if err != nil || !(f > 0 && f <= 1e6) {
		return 0, fmt.Errorf("%q is no number of requests a second", value)
	}
	return f, nil
}

// of gives the limits of a class; one that is not there has the default's.
func (c Classes) of(class string) Limits {
	limits, ok := c[class]
	if !ok {
		limits = c[Default]
	}
	if limits.Burst == 0 {
		limits.Burst = max(1, int(math.Ceil(2*limits.Rate)))
	}
	return limits
}
