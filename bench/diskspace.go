package bench

import (
	"fmt"

	"turnstile/nodes/foreign"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
	"turnstile/results"
)

// How many bytes of disk space an entry takes, in the logs of its trial and in the stored history.
const (
	loggedEntry = 3 * history.EventLen
	storedEntry = loggedEntry / 2 // they compress to less than half
)

// spareDiskSpace is for what is not known before the run: the entries of a run that lasts for a time,
// recorded messages if messages circulate, and the tables.
const spareDiskSpace = 64 << 20

// DiskSpace returns how much disk space a run takes. The logs of one trial are removed before the next
// begins.
func (j *Job) DiskSpace() results.DiskSpace {
	entries, asked := float64(j.Entries), fmt.Sprintf("-n %d", j.Config.N)
	switch {
	case j.Entries > 0:
		asked += fmt.Sprintf(" --entries %d", j.Entries)
	case j.Workload.Load == workload.Open:
		entries = j.Workload.Rate * (max(j.Warmup, j.WarmsUpTo()) +
			j.Duration).Seconds() * float64(j.Config.N)
		asked += fmt.Sprintf(" --rate %v --duration %v", j.Workload.Rate, j.Duration)
	}
	if j.Trials > 1 {
		asked += fmt.Sprintf(" --trials %d", j.Trials)
	}
	need := spareDiskSpace + float64(j.Trials)*entries*storedEntry
	if !j.Simulated {
		total := j.total()
		log := history.Options{Nodes: total, Instances: len(j.Stack.Instances()),
			TraceLength: j.traceLength(total), Texts: foreign.Speaks(j.Config)}.Reserved()
		need += float64(total)*float64(log) + entries*loggedEntry
	}
	return results.DiskSpace{Bytes: uint64(min(need, 1<<62)), For: asked}
}
