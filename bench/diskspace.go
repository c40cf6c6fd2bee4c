package bench

import (
	"fmt"

	"turnstile/nodes"
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

// diskSpace returns how much disk space a run takes. The logs of one trial are removed before the next
// begins.
func (r *Record) diskSpace(spec *nodes.Spec) results.DiskSpace {
	o := &r.Options
	entries, asked := float64(o.Entries), fmt.Sprintf("-n %d", o.Config.N)
	switch {
	case o.Entries > 0:
		asked += fmt.Sprintf(" --entries %d", o.Entries)
	case o.Workload.Load == workload.Open:
		entries = o.Workload.Rate * (max(o.Warmup, o.warmupLimit()) +
			o.Duration).Seconds() * float64(o.Config.N)
		asked += fmt.Sprintf(" --rate %v --duration %v", o.Workload.Rate, o.Duration)
	}
	if o.Trials > 1 {
		asked += fmt.Sprintf(" --trials %d", o.Trials)
	}
	need := spareDiskSpace + float64(o.Trials)*entries*storedEntry
	if !r.Simulated {
		total := o.total(spec)
		log := history.Options{Nodes: total, Instances: 1 + len(o.beside()),
			TraceLength: traceLength(total)}.Reserved()
		need += float64(total)*float64(log) + entries*loggedEntry
	}
	return results.DiskSpace{Bytes: uint64(min(need, 1<<62)), For: asked}
}
