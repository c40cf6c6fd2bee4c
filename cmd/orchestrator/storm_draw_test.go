//go:build linux

package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"text/tabwriter"
	"time"

	"turnstile/nodes/mutex"
)

// soundStorm returns a run of a sound algorithm, without anything that happens to it.
func soundStorm(r *rand.Rand) (s storm) {
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	var sound []string
	for _, row := range mutex.Table {
		if row.Flaw == nil {
			sound = append(sound, row.Name)
		}
	}
	s.args = "--algo " + one(sound...) + " " +
		one("", "--load saturated", "--load one", "--load sequential", "--think exponential:5ms", "--rate 20") +
		one("", " --latency 200us", " --latency 1ms", " --latency 20ms", " --latency exponential:3ms") +
		one("", " --hold 0", " --hold 1ms", " --hold exponential:2ms") +
		one("", "", "", " --trials 2", " --warmup 0")
	if r.IntN(3) == 0 {
		s.args += fmt.Sprintf(" --entries %d", 10+r.IntN(300))
	} else {
		s.args += fmt.Sprintf(" --duration %dms", 1000+r.IntN(2000))
	}
	return s
}

// drawStorm returns a storm that follows from a seed.
func drawStorm(seed uint64) storm {
	r := rand.New(rand.NewPCG(seed, 9))
	n := 2 + r.IntN(11)
	s := soundStorm(r)
	if r.IntN(4) == 0 {
		s = wrongStorms[r.IntN(len(wrongStorms))]
		n = 3 + r.IntN(4)
	}
	s.name = fmt.Sprint("seed-", seed)
	s.args += fmt.Sprintf(" -n %d --seed %d --patience %dms", n, seed, 100<<r.IntN(6))
	if r.IntN(4) == 0 { // with timeouts that processes which stand still, or wait for a processor, exceed
		s.args += [...]string{" --detector heartbeat:period=10ms,timeout=50ms",
			" --detector probe:period=20ms,timeout=200ms", " --detector swim:period=50ms,timeout=10ms",
			" --detector phi:period=10ms,threshold=3"}[r.IntN(4)]
	}
	if r.IntN(3) == 0 {
		s.hogs = 1 + r.IntN(6)
	}
	for range r.IntN(6) {
		s.gusts = append(s.gusts, drawGusts(r, n)...)
	}
	return s
}

// drawGusts returns what happens to one process, or to all nodes: most are stopped, for 50 ms to 6 s, some
// again and again; some are killed.
func drawGusts(r *rand.Rand, n int) []gust {
	g := gust{victim: strconv.Itoa(r.IntN(n)), signal: syscall.SIGSTOP,
		after: time.Duration(r.IntN(3000)) * time.Millisecond,
		lasts: time.Duration(50<<r.IntN(8)) * time.Millisecond}
	switch r.IntN(5) {
	case 0:
		g.victim = "broker"
	case 1:
		g.victim = "orchestrator"
	}
	switch r.IntN(12) {
	case 0:
		g.signal = syscall.SIGKILL
	case 1, 2:
		g.lasts = min(g.lasts, 200*time.Millisecond)
		all := []gust{g}
		for range 10 {
			g.after += g.lasts * 3 / 2
			all = append(all, g)
		}
		return all
	case 3: // all nodes at once
		var all []gust
		for id := range n {
			g.victim = strconv.Itoa(id)
			all = append(all, g)
		}
		return all
	}
	return []gust{g}
}

// wrongStorms are runs of algorithms that are sure to fail.
var wrongStorms = []storm{
	{args: "--algo naive --latency 1ms --hold 1ms --duration 1s", fails: true},
	{args: "--algo ricart --latency 1ms --hold 1ms --duration 1s", wrong: "hasty", fails: true},
	{args: "--algo ricart --latency 1ms --duration 1s", wrong: "deaf", fails: true},
	{args: "--algo suzuki --latency 1ms --hold 1ms --duration 1s", wrong: "hasty", fails: true},
	{args: "--algo lamport --latency 1ms --duration 1s", wrong: "deaf", fails: true},
}

// stopped is one gust, that of a process that is stopped for some time.
func stopped(victim string, after, lasts time.Duration) []gust {
	return []gust{{victim, syscall.SIGSTOP, after, lasts}}
}

// killed is one gust as well.
func killed(victim string, after time.Duration) gust { return gust{victim, syscall.SIGKILL, after, 0} }

// fixedStorms are made every time: what the algorithms do under them is known.
func fixedStorms() []storm {
	const second = time.Second
	return []storm{
		{name: "a node of a broken algorithm stands still", args: "--algo naive -n 4 --latency 1ms --hold 1ms " +
			"--duration 1s", fails: true, gusts: stopped("1", second, second/2)},
		{name: "the broker of a broken algorithm stands still", args: "--algo suzuki -n 4 --latency 1ms " +
			"--hold 1ms --duration 1s", wrong: "hasty", fails: true, gusts: stopped("broker", second, second/2)},
		{name: "a deadlock among hogs", args: "--algo lamport -n 4 --latency 1ms --patience 1s", wrong: "deaf",
			fails: true, hogs: 4},
		{name: "a node is killed", args: "--algo ricart -n 4 --duration 2s",
			gusts: append(stopped("1", second/2, second), killed("2", second))},
		{name: "the broker is killed", args: "--algo raymond -n 4 --duration 2s",
			gusts: append(stopped("1", second/2, second), killed("broker", second))},
		{name: "the orchestrator is killed", args: "--algo naimi-trehel -n 4 --duration 2s",
			gusts: append(stopped("1", second/2, second), killed("orchestrator", second))},
		{name: "the orchestrator of a broken algorithm is killed", args: "--algo naive -n 4 --duration 2s",
			fails: true, gusts: []gust{killed("orchestrator", 2*second)}},
		{name: "a lap longer than patience", args: "--algo token-ring -n 25 --load one --latency 100ms " +
			"--duration 6s --patience 500ms", long: true},
		{name: "laps of sequential requests", args: "--algo token-ring -n 30 --load sequential --latency 60ms " +
			"--entries 3 --patience 300ms"},
		{name: "the broker stands still", args: "--algo ricart -n 5 --latency 50ms --duration 2s --patience 500ms",
			gusts: stopped("broker", second, 3*second)},
		{name: "the broker stands still for longer", args: "--algo ricart -n 5 --latency 100ms --duration 4s",
			gusts: stopped("broker", 2*second, 6*second), long: true},
		{name: "a node stands still", args: "--algo ricart -n 5 --latency 100ms --duration 4s --patience 1s",
			gusts: stopped("2", 2*second, 5*second), long: true},
		{name: "a node of a ring stands still", args: "--algo token-ring -n 5 --latency 20ms --duration 3s " +
			"--patience 500ms", gusts: stopped("1", 2*second, second)},
		{name: "a livelock", args: "--algo ricart -n 3 --duration 2s --patience 2s", wrong: "echoing", fails: true},
		{name: "a deadlock beside heartbeats", args: "--algo lamport -n 4 --latency 1ms --patience 1s " +
			"--detector heartbeat:period=10ms,timeout=50ms", wrong: "deaf", fails: true,
			gusts: stopped("1", second/2, second/2)},
		{name: "a livelock beside heartbeats", args: "--algo ricart -n 3 --duration 1s --patience 1s " +
			"--detector probe:period=10ms,timeout=50ms", wrong: "echoing", fails: true},
		{name: "a node stands still beside heartbeats", args: "--algo ricart -n 5 --latency 5ms --duration 2s " +
			"--patience 500ms --detector heartbeat:period=10ms,timeout=50ms", gusts: stopped("2", second, second)},
		{name: "a livelock of entries", args: "--algo ricart -n 3 --entries 100 --patience 2s", wrong: "echoing",
			fails: true, long: true},
		{name: "a slow clock", args: "--algo ricart -n 4 --duration 1s", wrong: "slow-clock"},
		{name: "an account of its own", args: "--algo ricart -n 4 --duration 1s", wrong: "own-account"},
	}
}

// A tally counts what was said of storms.
type tally struct {
	wanted bool // a line for each storm, and a table in the end
	sync.Mutex
	counts map[string]map[string]int // by the kind of storm and what was said
}

// add counts a storm. What is wrong with what was said is empty if nothing is.
func (c *tally) add(s storm, said, wrong string) {
	c.Lock()
	defer c.Unlock()
	kind := "sound"
	switch {
	case s.fails:
		kind = "sure to fail"
	case s.wrong != "":
		kind = "a faulty process"
	}
	kind += [...]string{"", ", hit"}[min(1, len(s.gusts))] + [...]string{"", ", hogs"}[min(1, s.hogs)]
	if s.kills("") {
		kind += ", killed"
	}
	if c.counts == nil {
		c.counts = map[string]map[string]int{}
	}
	if c.counts[kind] == nil {
		c.counts[kind] = map[string]int{}
	}
	c.counts[kind][said]++
	if wrong != "" {
		c.counts[kind]["WRONG"]++
	}
	if c.wanted {
		fmt.Printf("%-13s %s  %s: %s\n", said, wrong, s.name, s.args)
	}
}

// print prints the table.
func (c *tally) print() {
	if !c.wanted {
		return
	}
	said := []string{"valid", "violated", "inconclusive", "under-loaded", "killed", "hung", "WRONG"}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(out, "storms\t%s\n", strings.Join(said, "\t"))
	for _, kind := range slices.Sorted(maps.Keys(c.counts)) {
		fmt.Fprint(out, kind)
		for _, s := range said {
			fmt.Fprintf(out, "\t%d", c.counts[kind][s])
		}
		fmt.Fprintln(out)
	}
	out.Flush()
}
