package study

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/bench"
	"turnstile/internal/chance"
	"turnstile/option"
	"turnstile/results"
)

// sweepOf returns a sweep of simulated runs of algorithms at 3 and 4 nodes.
func sweepOf(t testing.TB, trials int, algorithms ...string) *Sweep {
	t.Helper()
	s := &Sweep{Trials: trials}
	s.Command = "orchestrator sweep"
	s.Seed, s.Setup.Results, s.Setup.Set = 7, t.TempDir(), "lan"
	s.Setup.Versions = map[string]string{"turnstile": "v1", "revision": "abc"}
	for _, name := range algorithms {
		for _, n := range []int{3, 4} {
			spec, err := (catalog.Table{}).Find(name)
			if err != nil {
				t.Fatal(err)
			}
			o := option.Defaults()
			o.Config.N, o.Duration, o.Warmup, o.Entries = n, 0, 0, 50
			o.Latency = chance.Constant(time.Millisecond)
			j, err := bench.Resolve(catalog.Table{}, o, spec, true)
			if err != nil {
				t.Fatal(err)
			}
			s.Cells = append(s.Cells, j)
		}
	}
	return s
}

// prepared requires a sweep to find some runs made, and some left.
func prepared(t testing.TB, s *Sweep, made, left int) {
	t.Helper()
	if m, l, err := s.Prepare(); err != nil || m != made || l != left {
		t.Fatalf("prepared: %d made, %d left, %v; want %d and %d", m, l, err, made, left)
	}
}

// table returns the rows of the table of the set.
func (s *Sweep) table(t *testing.T) []results.Row {
	t.Helper()
	folder := results.Folder{Path: filepath.Join(s.Setup.Results, s.Setup.Set)}
	rows, err := folder.Rows()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestASweepGoesOnWhereItStopped(t *testing.T) {
	s := sweepOf(t, 3, "ricart-agrawala", "token-ring")
	prepared(t, s, 0, 12)
	ctx, cancel := context.WithCancel(t.Context())
	s.Progress = func(done, all int, r *Result) {
		if all != 12 || r.Err != nil || r.Says == "" {
			t.Errorf("%d of %d: %v, %s", done, all, r.Err, r.Says)
		}
		if done == 5 {
			cancel()
		}
	}
	if _, err := s.Make(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	made, left, err := s.Prepare()
	if err != nil || made < 5 || made+left != 12 || len(s.table(t)) != made {
		t.Fatalf("%d made, %d left, %d rows, %v", made, left, len(s.table(t)), err)
	}
	// A killed run leaves the folder of an unfinished run, and so may an interrupted run.
	first := s.left[0].name
	if err := os.MkdirAll(filepath.Join(s.Setup.Results, "lan", first), 0o755); err != nil {
		t.Fatal(err)
	}
	s.Progress = nil
	if r, err := s.Make(t.Context()); err != nil || len(r) != left {
		t.Fatalf("%d runs: %v", len(r), err)
	}
	prepared(t, s, 12, 0)
	rows := s.table(t)
	var names []string
	for _, row := range rows {
		if row.Verdict != "valid" || row.Trial < 1 || row.Trial > 3 {
			t.Errorf("%s, trial %d: %s", row.Run, row.Trial, row.Verdict)
		}
		names = append(names, row.Run)
	}
	if len(rows) != 12 || !slices.Contains(names, first+"-2") {
		t.Errorf("rows of %s", strings.Join(names, ", "))
	}
	// The sweep can be extended by trials and by algorithms, and has the same runs as a sweep made in one go.
	more := sweepOf(t, 4, "ricart-agrawala", "token-ring", "central")
	more.Setup = s.Setup
	prepared(t, more, 12, 12)
	whole := sweepOf(t, 3, "ricart-agrawala", "token-ring")
	prepared(t, whole, 0, 12)
	if _, err := whole.Make(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, row := range whole.table(t) {
		row.Run = rows[i].Run
		if got := rows[i]; got.Messages != row.Messages || got.WaitUSP50 != row.WaitUSP50 || got.Seed != row.Seed {
			t.Errorf("%s differs: %v and %v", row.Run, got, row)
		}
	}
	if set, err := results.Makings(s.Setup.Results, "lan"); err != nil || len(set) != 1 || set[0].Cells != 4 {
		t.Errorf("on record: %+v, %v", set, err)
	}
}

func TestASweepIsDrawnInRounds(t *testing.T) {
	s := sweepOf(t, 20, "ricart-agrawala", "token-ring", "central")
	prepared(t, s, 0, 120)
	firsts := map[int]int{}
	for round := range 20 {
		cells := map[int]bool{}
		for _, r := range s.left[6*round : 6*round+6] {
			if cells[r.cell] = true; r.trial != round+1 {
				t.Errorf("round %d has trial %d", round, r.trial)
			}
		}
		if firsts[s.left[6*round].cell]++; len(cells) != 6 {
			t.Errorf("round %d has %d configurations", round, len(cells))
		}
	}
	if len(firsts) < 5 {
		t.Errorf("the first of rounds: %v", firsts)
	}
}

func TestASetOfAnotherSweepIsRefused(t *testing.T) {
	s := sweepOf(t, 1, "token-ring")
	prepared(t, s, 0, 2)
	if _, err := s.Make(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Setup.Versions = map[string]string{"turnstile": "v1", "revision": "def"}
	if _, _, err := s.Prepare(); err == nil || !strings.Contains(err.Error(), "--mixed") {
		t.Errorf("another commit: %v", err)
	}
	s.Mixed = true
	prepared(t, s, 2, 0)
	s.Seed++
	if _, _, err := s.Prepare(); err == nil || !strings.Contains(err.Error(), "seed") {
		t.Errorf("another seed: %v", err)
	}
}

func TestASetIsMadeByOneSweepAtATime(t *testing.T) {
	s := sweepOf(t, 1, "token-ring")
	prepared(t, s, 0, 2)
	unlock, err := s.Lock()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Lock(); err == nil || !strings.Contains(err.Error(), "another sweep makes runs of") {
		t.Errorf("a second sweep: %v", err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	unlock, err = s.Lock()
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}

// makeSmall makes a sweep of simulated runs of 50 entries.
func makeSmall(t testing.TB, runs int) {
	s := sweepOf(t, runs, "ricart-agrawala")
	s.Cells = s.Cells[:1]
	prepared(t, s, 0, runs)
	if _, err := s.Make(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A small simulated run allocates little, since its histograms are sparse and it reuses compressors.
func TestASmallRunTakesLittle(t *testing.T) {
	makeSmall(t, 4) // makes the compressors and tables that later runs use again
	var before, after runtime.MemStats
	const runs = 20
	runtime.ReadMemStats(&before)
	makeSmall(t, runs)
	runtime.ReadMemStats(&after)
	if bytes := (after.TotalAlloc - before.TotalAlloc) / runs; bytes > 2_000_000 {
		t.Errorf("a run allocates %d bytes", bytes)
	}
}

// BenchmarkCell makes small runs of a sweep, whose cost is nearly all fixed. A run also waits for the disk,
// so its CPU time is a figure of its own.
func BenchmarkCell(b *testing.B) {
	b.ReportAllocs()
	before := cpuTime()
	makeSmall(b, b.N)
	b.ReportMetric(float64((cpuTime()-before).Microseconds())/float64(b.N), "cpu-us/op")
}

// cpuTime returns the CPU time that this process has used.
func cpuTime() time.Duration {
	var used syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
