package bench

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"turnstile/internal/chance"
	"turnstile/nodes/foreign"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
	"turnstile/option"
	"turnstile/results"
)

// Carriers returns how many processes of the run carry messages or keep the shared resource.
func (j *Job) Carriers() int {
	count := j.BrokerCount()
	if j.Proxies {
		count++
	}
	if j.Stack.Codec().Networks() > 1 {
		count++
	}
	if j.AsksProcess() {
		count++
	}
	return count
}

// checkTransport checks the options of what carries messages: hosts, brokers, a NATS server, proxies.
func (j *Job) checkTransport() error {
	switch {
	case j.Hosts > 0 && j.Brokers > j.Hosts:
		return fmt.Errorf("%d brokers on %d hosts: a host has one at most", j.Brokers, j.Hosts)
	case j.Hosts == 0 && j.Brokers != 0 && j.Brokers != 1 && j.Brokers != 3:
		return fmt.Errorf("%d brokers: a run has 1 or 3", j.Brokers)
	case j.NATS != "" && j.Brokers > 1:
		return fmt.Errorf("%d brokers of the run's own, and a NATS server: leave out one of --brokers and --nats",
			j.Brokers)
	case j.NATS != "" && j.Proxies:
		return errors.New("proxies, which are for brokers of the run's own, and a NATS server: leave out one of " +
			"--proxies and --nats")
	}
	return nil
}

// checkResource checks the option resource: where the clients' shared resource is kept. It stores the
// default, a file, as "".
func (j *Job) checkResource(simulated bool) error {
	if j.Resource == option.ResourceFile {
		j.Resource = ""
	}
	switch known := []string{"", option.ResourceProcess}; {
	case !slices.Contains(known, j.Resource):
		return fmt.Errorf("resource: %q is unknown: take %s or %s", j.Resource,
			option.ResourceFile, option.ResourceProcess)
	case simulated && j.AsksProcess():
		return fmt.Errorf("resource: a simulation has no processes: take --resource %s, or a run of processes",
			option.ResourceFile)
	}
	return nil
}

// TicketsOfNodes returns how many requests the nodes make together in a run that ends by entries. It returns
// 0 if the run ends by time, or if the load is sequential: then the orchestrator orders each request
// separately.
func (j *Job) TicketsOfNodes() uint64 {
	if j.Workload.Load == workload.Sequential {
		return 0
	}
	return j.Entries
}

// WithoutCredential returns the URLs of NATS servers without their credentials.
func WithoutCredential(urls string) string {
	if urls == "" {
		return ""
	}
	all := strings.Split(urls, ",")
	for i, url := range all {
		scheme, host, found := strings.Cut(url, "://")
		if !found {
			scheme, host = "nats", url
		}
		all[i] = scheme + "://" + host[strings.LastIndex(host, "@")+1:]
	}
	return strings.Join(all, ",")
}

// TrialSeed returns the seed of a trial. Trials are numbered from 1; the first has the seed of the run.
func TrialSeed(seed uint64, number int) uint64 {
	if number == 1 {
		return seed
	}
	return chance.Dice(seed).Bits(chance.Roll{Purpose: chance.ForTrial,
		Count: uint64(number)}) & math.MaxInt64
}

// TraceLength returns how many of its latest messages each node keeps: some thousands, but fewer in large
// clusters, so that all traces together stay small. With --trace, all traces together take at most about 200
// MB, unless so many nodes share this space that each node keeps the minimum of 4096 messages.
func (j *Job) TraceLength(total int) int {
	all := 1 << 23
	if foreign.Speaks(j.Config) { // each message is stored with its text
		all = 1 << 19
	}
	if j.Trace {
		return min(1<<20-1, max(4096, all/total))
	}
	return min(4096, max(256, (1<<18)/total))
}

// Bytes of disk space per entry, in the logs of a trial and in the stored history.
const (
	loggedEntry = 3 * history.EventLen
	storedEntry = loggedEntry / 2 // stored logs compress to less than half their size
)

// spareDiskSpace is an allowance, in bytes, for files whose size is not known before the run: the events of a
// run that ends by time, the recorded messages of an algorithm whose messages circulate, and the tables.
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
		total := j.Total()
		log := history.Options{Nodes: total, Instances: len(j.Stack.Instances()),
			TraceLength: j.TraceLength(total), Texts: foreign.Speaks(j.Config)}.Reserved()
		need += float64(total)*float64(log) + entries*loggedEntry
	}
	return results.DiskSpace{Bytes: uint64(min(need, 1<<62)), For: asked}
}
