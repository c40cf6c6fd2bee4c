package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"turnstile/internal/chance"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/mutex"
	"turnstile/nodes/sim"
	"turnstile/nodes/workload"
)

// BenchmarkHistory measures and judges ten million events, as the three commands do: bench merges the logs of
// 32 processes into a stored history and judges that, verify judges it again, and simulate judges and stores
// it while it comes to pass. All are to take less than 10 s and 200 MB.
func BenchmarkHistory(b *testing.B) {
	const n, entries = 32, 10_000_000 / 3
	dir := b.TempDir()
	logs, stored := filepath.Join(dir, "trial-1"), filepath.Join(dir, "history-1.zst")
	if err := os.Mkdir(logs, 0o755); err != nil {
		b.Fatal(err)
	}
	writeLogs(b, logs, n, entries)
	run := func(name string, o Options, make func(o Options)) {
		b.Run(name, func(b *testing.B) {
			stop := watchMemory()
			for b.Loop() {
				make(o)
			}
			b.ReportMetric(float64(b.N)*3*entries/b.Elapsed().Seconds(), "events/s")
			b.ReportMetric(stop(), "peak-MB")
		})
	}
	spec, err := mutex.Find("naimi-trehel")
	if err != nil {
		b.Fatal(err)
	}
	o := Options{Algorithm: spec.Name, Config: nodes.Config{N: n}, Entries: entries, Seed: 1,
		Latency: chance.Constant(time.Millisecond), Workload: workload.Workload{Load: workload.Saturated}}
	verdict := func(j judgement) {
		if v := j.checks.Verdict(); v.Entries != entries || v.Outcome != check.Valid {
			b.Fatal(v.Reason)
		}
	}
	verify := func(o Options) {
		r, err := history.Open(stored)
		if err != nil {
			b.Fatal(err)
		}
		defer r.Close()
		job := drafted(b, spec, o, true)
		s := job.setting(nil)
		s.CostKnown, s.Identities = false, nil // the logs are made up
		j := job.judgementOf(r.Header, s)
		if err := r.Run(j); err != nil {
			b.Fatal(err)
		}
		verdict(j)
	}
	run("bench", o, func(o Options) {
		if err := history.Store(stored, logs); err != nil {
			b.Fatal(err)
		}
		verify(o)
	})
	run("verify", o, verify)
	run("simulate", o, func(o Options) {
		header := history.Header{Nodes: n}
		file, err := history.CreateFile(stored, header)
		if err != nil {
			b.Fatal(err)
		}
		job := drafted(b, spec, o, true)
		j := job.judgementOf(header, job.setting(nil))
		if _, err := sim.Run(*simulated(b, o, spec), j, file); err != nil {
			b.Fatal(err)
		}
		if err := file.Save(); err != nil {
			b.Fatal(err)
		}
		verdict(j)
	})
}

// writeLogs writes the logs of nodes that enter in turn.
func writeLogs(b *testing.B, dir string, n, entries int) {
	fail := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	journal, err := history.CreateJournal(filepath.Join(dir, "orchestrator.log"), 0, 50)
	fail(err)
	fail(journal.Mark(0, history.Began))
	fail(journal.Mark(1, history.Measuring))
	var logs []*history.Log
	for id := range n {
		l, err := history.Create(filepath.Join(dir, fmt.Sprintf("node-%d.log", id)),
			history.Options{Node: nodes.ID(id), Nodes: n, Instances: 1, StampError: 50})
		fail(err)
		logs = append(logs, l)
	}
	for i := range entries {
		l, number := logs[i%n], uint32(i/n+1)
		at := int64(i) * 3000
		asked := max(int64(i%n), at-int64(n-1)*3000+700)
		for _, e := range []history.Event{
			{At: asked, Kind: history.Requested, Value: asked, Count: 1},
			{At: at + 1000, Kind: history.Entered, Value: int64(i), Count: 1},
			{At: at + 1500, Kind: history.Exited, Value: int64(i + 1)},
		} {
			e.Entry = number
			fail(l.Append(e))
		}
		c := l.Instance(0)
		c.Requests.Add(1)
		c.Entries.Add(1)
		c.Exits.Add(1)
	}
	end := int64(entries) * 3000
	fail(journal.Mark(end, history.Stopped))
	fail(journal.Mark(end+1, history.Rested))
	fail(journal.Close())
	for _, l := range logs {
		fail(l.Close())
	}
}

// watchMemory watches how much memory the process has from the system, and returns a function that stops that
// and returns the most, in units of 2^20 bytes.
func watchMemory() (stop func() float64) {
	runtime.GC()
	debug.FreeOSMemory()
	done, most := make(chan struct{}), make(chan float64)
	go func() {
		samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"},
			{Name: "/memory/classes/heap/released:bytes"}}
		var peak uint64
		for tick := time.NewTicker(5 * time.Millisecond); ; {
			metrics.Read(samples)
			peak = max(peak, samples[0].Value.Uint64()-samples[1].Value.Uint64())
			select {
			case <-tick.C:
			case <-done:
				tick.Stop()
				most <- float64(peak) / (1 << 20)
				return
			}
		}
	}()
	return func() float64 { close(done); return <-most }
}
