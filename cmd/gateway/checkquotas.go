package main

import (
	"maps"
	"slices"

	"sandgate/internal/quota"
)

// checkQuotas finds limits that cannot be read, and such as make no sense beside
// another.
func checkQuotas(wrong *problems, c Config) {
	classes, err := quota.Parse(c.Quotas)
	if err != nil {
		wrong.addf("quota: %v", err)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(classes)) {
		limits := classes[name]
		if disk := size(limits.Disk); disk > 0 && disk < c.WorkspaceSize {
			wrong.addf("quota: %s.disk is %s, and a workspace counts with all of workspace-size, %s, so that nobody of %s could have one: "+
				"raise %s.disk, or lower workspace-size", name, &disk, &c.WorkspaceSize, name, name)
		}
		if limits.Burst > 0 && limits.Rate == 0 {
			wrong.addf("quota: %s.burst says nothing without %s.rate: set that as well", name, name)
		}
	}
}
