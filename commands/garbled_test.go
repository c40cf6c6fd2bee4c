package commands

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"turnstile/bench/runs"
	"turnstile/internal/soak"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/results"
)

// A stored is the folder of a run to be garbled, and what verify says of it.
type stored struct {
	name  string
	dir   string // of the run
	donor string // folder of another run with the same options
	want  string // the verdict while nothing is garbled
	was   judgement
}

// A judgement is what verify says of a run.
type judgement struct {
	status      int
	json, error string
	verdict     string
	reason      string // of the first trial
}

// A printed is what verify prints, in part.
type printed struct {
	Verdict string
	Trials  []struct {
		Verdict check.Verdict
		Row     map[string]any
	}
	Tables runs.Audit
}

func (j *judgement) document() (d printed) {
	if err := json.Unmarshal([]byte(j.json), &d); err != nil && j.json != "" {
		panic(err)
	}
	return d
}

// findings says what was found, in one line.
func (j *judgement) findings() string {
	says := j.verdict
	for _, t := range j.document().Trials {
		for _, f := range t.Verdict.Findings {
			if f.Outcome != check.Valid {
				says += fmt.Sprintf("; %v: %s: %s", f.Outcome, f.Check, f.Says)
			}
		}
		says += fmt.Sprint(" ", t.Row)
	}
	return says
}

// verifyIn judges the run in a folder, as verify does. The test fails if that takes a minute, or 1 GB.
func verifyIn(t *testing.T, dir string) judgement {
	t.Helper()
	return calledIn(t, dir, "verify", "--json")
}

// calledIn has a command read the run in a folder.
func calledIn(t *testing.T, dir string, args ...string) judgement {
	t.Helper()
	type result struct {
		judgement
		panicked any
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	done := make(chan result, 1)
	go func() {
		var out, errs bytes.Buffer
		var r result
		defer func() {
			r.panicked = recover()
			r.json, r.error = out.String(), errs.String()
			done <- r
		}()
		r.status = run(t.Context(), program{}, append(args, "--results", filepath.Dir(dir), dir), &out, &errs)
	}()
	select {
	case r := <-done:
		if r.panicked != nil {
			t.Fatalf("%v panics: %v", args, r.panicked)
		}
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 1<<30 {
			t.Errorf("%v allocated %d MB for a run of a few", args, took>>20)
		}
		if args[0] == "runs" {
			return r.judgement
		}
		d := r.document()
		r.verdict = d.Verdict
		if len(d.Trials) > 0 {
			r.reason = d.Trials[0].Verdict.Reason
		}
		return r.judgement
	case <-time.After(time.Minute):
		t.Fatalf("%v hangs", args)
		panic("not reached")
	}
}

// wrong returns what is wrong with the judgement of verify after a file was changed; empty: nothing. verify
// must report an error that names the file, or inconclusive, or the same as before. In a violated run whose
// orchestrator was killed, it may find less, or other counters, since logs have no checksum.
func (s *stored) wrong(now judgement, file string) string {
	folder := strings.Contains(now.error, filepath.Base(s.dir))
	switch {
	case now.json == "" && now.error == "":
		return "nothing is said"
	case now.json == "" && now.status != 0 && folder && strings.Contains(now.error, file):
		return ""
	case now.status == 64 && file == results.RunFile && strings.Contains(now.error, "there is no run"):
		return "" // nothing else tells that it was one
	case now.json == "":
		return fmt.Sprintf("status %d, and the error does not name the file: %s", now.status, now.error)
	case now.json == s.was.json && now.status == s.was.status:
		return ""
	case now.verdict == "inconclusive" && now.status == 2:
		return ""
	case now.verdict == "violated" && s.was.verdict == "violated" &&
		(now.reason == s.was.reason || strings.Contains(now.json, "the counts disagree")):
		return ""
	}
	return fmt.Sprintf("%s, and before it was %s", now.findings(), s.was.findings())
}

// wrongOfTable says what is wrong with what verify says of a run after one of its tables, or the report of a
// stall, was changed: it must say what it said before, name that file and no other, and have status 1 if the
// file differs from the histories.
func (s *stored) wrongOfTable(now judgement, file string) string {
	was, is := s.was.document(), now.document()
	named := slices.ContainsFunc(is.Tables.Remarks, func(r string) bool { return strings.HasPrefix(r, file) })
	status := s.was.status
	for _, d := range is.Tables.Differences {
		if d.File != file {
			return fmt.Sprintf("%s is said to differ: %v", d.File, d)
		}
		named, status = true, check.Violated.ExitCode()
	}
	switch {
	case now.json == "":
		return fmt.Sprintf("status %d, and nothing but %q", now.status, now.error)
	case !named:
		return "it is not noticed"
	case now.status != status:
		return fmt.Sprintf("status %d, not %d", now.status, status)
	case !reflect.DeepEqual(was.Trials, is.Trials):
		return fmt.Sprintf("%s, and before it was %s", now.findings(), s.was.findings())
	}
	return ""
}

// garbled changes a copy of the run and has it judged.
func (s *stored) garbled(t *testing.T, g garbling) {
	t.Helper()
	kept := s.dir + ".kept"
	if err := os.Rename(s.dir, kept); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(os.RemoveAll(s.dir), os.Rename(kept, s.dir)); err != nil {
			t.Fatal(err)
		}
	}()
	if err := os.CopyFS(s.dir, os.DirFS(kept)); err != nil {
		t.Fatal(err)
	}
	record, err := runs.ReadRecord(&results.Folder{Path: s.dir})
	if err != nil {
		t.Fatal(err)
	}
	file, says, err := g.apply(s.dir, s.donor)
	if err != nil {
		t.Fatal(err)
	}
	failed := t.Failed()
	defer func() {
		if t.Failed() && !failed {
			t.Logf("%s: %s", s.name, says)
		}
	}()
	now, wrong := verifyIn(t, s.dir), ""
	digest, _ := (&results.Folder{Path: s.dir}).Digest(file)
	switch was, table := record.Digests[file]; {
	case table && digest != was:
		wrong = s.wrongOfTable(now, file)
	default:
		wrong = s.wrong(now, file)
	}
	if wrong != "" {
		t.Errorf("%s: %s: %s", s.name, says, wrong)
	}
	calledIn(t, s.dir, "runs", "history")
	show := calledIn(t, s.dir, "show", "--json")
	if v := show.verdict; v != "" && v != s.was.verdict && v != "inconclusive" {
		t.Errorf("%s: %s: show says %s, and it was %s", s.name, says, v, s.was.verdict)
	}
}

// simulatedRun makes a run and returns its folder.
func simulatedRun(t testing.TB, args ...string) string {
	t.Helper()
	dir, err := os.MkdirTemp(programs, "garbled") // it outlives the test
	if err != nil {
		t.Fatal(err)
	}
	args = append([]string{"simulate", "--results", dir}, strings.Fields(strings.Join(args, " "))...)
	var errs bytes.Buffer
	if status := run(t.Context(), program{}, args, io.Discard, &errs); status > 3 {
		t.Fatalf("%v: %s", args, &errs)
	}
	return latestIn(t, dir)
}

// unpack turns a simulated run of one trial into a run whose orchestrator was killed: logs take the place of
// the history.
func unpack(t testing.TB, dir string, closed bool) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	folder := &results.Folder{Path: dir}
	reader, err := folder.History(1)
	check(err)
	var h history.History
	check(errors.Join(reader.Run(&h), reader.Close()))
	check(os.Mkdir(folder.LogFolder(1), 0o755))
	logs := map[nodes.ID]*history.Log{}
	for _, of := range h.Logs {
		path := filepath.Join(folder.LogFolder(1), fmt.Sprintf("node-%d.log", of.Node))
		logs[of.Node], err = history.Create(path, history.Options{Node: of.Node, Nodes: reader.Nodes,
			Instances: len(of.Instances), Origin: reader.Origin, TraceLength: 16})
		check(err)
		for i, totals := range of.Instances {
			c := logs[of.Node].Instance(int32(i))
			c.Requests.Store(totals.Requests)
			c.Entries.Store(totals.Entries)
			c.Exits.Store(totals.Exits)
			c.Dropped.Store(totals.Dropped)
			for kind, k := range totals.Kinds {
				c.Kinds[kind].Sent.Store(k.Sent)
				c.Kinds[kind].Delivered.Store(k.Delivered)
				c.Kinds[kind].Publishes.Store(k.Publishes)
			}
		}
	}
	for _, e := range h.Events {
		check(logs[e.Node].Append(e))
	}
	for _, l := range logs {
		if closed {
			check(l.Close())
		}
	}
	check(os.Remove(folder.HistoryFile(1)))
	text, err := os.ReadFile(folder.File(results.RunFile))
	check(err)
	head, _, _ := strings.Cut(string(text), "trials:\n  -")
	head = strings.Replace(head, "status: over", "status: running", 1)
	head = regexp.MustCompile(`simulated:.*\n(  .*\n)*`).ReplaceAllString(head, "")
	check(os.WriteFile(folder.File(results.RunFile), results.Sealed([]byte(head)), 0o644))
}

var made []*stored

// simulatedRuns returns runs of all verdicts, stored as a whole or left behind as logs. It makes them once.
func simulatedRuns(t testing.TB) (all []*stored) {
	if made != nil {
		return made
	}
	defer func() { made = all }()
	for _, r := range []struct{ verdict, args string }{
		{"valid", "--algo ricart -n 3 --entries 60"},
		{"valid", "--algo token-ring -n 4 --entries 60"},
		{"valid", "--algo central -n 3 --rate 100 --duration 300ms"},
		{"valid", "--algo maekawa -n 4 --entries 40 --trials 2"},
		{"valid", "--algo suzuki -n 4 --load sequential --entries 40"},
		{"violated", "--algo naive -n 3 --entries 60"},
		{"violated", "--algo lamport -n 2 --hold 1ms --think exponential:2ms --latency 100us " +
			"--reorder exponential:2ms --at 0s --for 10s --duration 10s"},
		{"inconclusive", "--algo ricart -n 4 --entries 60 --kill 2 --at 10ms"},
	} {
		args := slices.Clip(strings.Fields(r.args))
		for _, as := range []string{"stored", "open", "closed"} {
			if as != "stored" &&
				(strings.Contains(r.args, "--trials") || strings.Contains(r.args, "--reorder")) {
				continue // only one trial is unpacked, and no more than is needed
			}
			s := &stored{name: r.args + ", " + as, want: r.verdict,
				dir:   simulatedRun(t, append(args, "--seed", "7")...),
				donor: simulatedRun(t, append(args, "--seed", "8")...)}
			if as != "stored" {
				if s.want == "valid" {
					s.want = "inconclusive" // whatever its logs show, it was cut short
				}
				unpack(t, s.dir, as == "closed")
				unpack(t, s.donor, as == "closed")
			}
			all = append(all, s)
		}
	}
	return all
}

// judge keeps what verify says of a run, which must be whole.
func (s *stored) judge(t *testing.T) {
	t.Helper()
	if s.was.json != "" {
		return
	}
	if s.was = verifyIn(t, s.dir); s.was.verdict != s.want {
		t.Fatalf("%s is %q, not %s: %s", s.name, s.was.verdict, s.want, s.was.error)
	}
}

// After any change of a file of a run, verify reports an error that names the file, or judges the run
// inconclusive, or says what it said before. After a change of a table, it says what it said before, and
// names the table. It never makes up a verdict, and it never panics or hangs.
func TestGarbledRuns(t *testing.T) {
	runs := simulatedRuns(t)
	r := rand.New(rand.NewPCG(1, 2))
	for range soak.Pick(12, 50, 600) {
		s := runs[r.IntN(len(runs))]
		s.judge(t)
		s.garbled(t, drawGarbling(r))
	}
}

// latestIn returns the folder of the latest run below root.
func latestIn(t testing.TB, root string) string {
	t.Helper()
	folder, err := results.Open(root, results.LatestLink)
	if err != nil {
		t.Fatal(err)
	}
	return folder.Path
}

func FuzzGarbledRun(f *testing.F) {
	runs := simulatedRuns(f)
	f.Add(uint8(0), uint8(0), uint8(0), uint8(0), uint32(0), uint32(0), uint64(0))
	f.Fuzz(func(t *testing.T, of, file, kind, from uint8, at, length uint32, value uint64) {
		s := runs[int(of)%len(runs)]
		s.judge(t)
		s.garbled(t, garbling{file, kind, from, at, length, value})
	})
}

// A garbling is one change of a folder of files, such as a broken disk or a careless hand makes.
type garbling struct {
	file, kind, from uint8 // which file, what is done to it, and which other file has to do with it
	at, length       uint32
	value            uint64
}

// garblings are the kinds of changes. Each takes the bytes b of a file, and from, the bytes of another file,
// and returns the changed bytes.
var garblings = []struct {
	does string
	do   func(g garbling, b, from []byte) []byte
}{
	{"a bit is flipped", func(g garbling, b, _ []byte) []byte {
		if at, _ := g.block(b); at < len(b) {
			b[at] ^= 1 << (g.value % 8)
		}
		return b
	}},
	{"a byte is another", func(g garbling, b, _ []byte) []byte {
		if at, _ := g.block(b); at < len(b) {
			b[at] += byte(1 + g.value%255)
		}
		return b
	}},
	{"it is cut off", func(g garbling, b, _ []byte) []byte { at, _ := g.block(b); return b[:at] }},
	{"it is empty", func(garbling, []byte, []byte) []byte { return nil }},
	{"a block is missing", func(g garbling, b, _ []byte) []byte {
		at, end := g.block(b)
		return slices.Delete(b, at, end)
	}},
	{"a block is there twice", func(g garbling, b, _ []byte) []byte {
		at, end := g.block(b)
		return slices.Insert(b, at, bytes.Clone(b[at:end])...)
	}},
	{"a block is zero", func(g garbling, b, _ []byte) []byte {
		at, end := g.block(b)
		clear(b[at:end])
		return b
	}},
	{"a block is noise", func(g garbling, b, _ []byte) []byte {
		at, end := g.block(b)
		r := rand.New(rand.NewPCG(g.value, 1))
		for i := at; i < end; i++ {
			b[i] = byte(r.Uint32())
		}
		return b
	}},
	{"there is more behind it", func(g garbling, b, from []byte) []byte {
		at, end := g.block(from)
		return append(b, from[at:end]...)
	}},
	{"a block is that of another file", func(g garbling, b, from []byte) []byte {
		at, end := g.block(b)
		copy(b[at:end], from[min(at, len(from)):])
		return b
	}},
	{"it is another file", func(_ garbling, _, from []byte) []byte { return from }},
	{"a number is another", func(g garbling, b, _ []byte) []byte {
		numbers := regexp.MustCompile(`[0-9]+`).FindAllIndex(b, -1)
		if len(numbers) == 0 {
			return b
		}
		n := numbers[int(g.at)%len(numbers)]
		return slices.Replace(b, n[0], n[1], strconv.AppendUint(nil, g.value%1000, 10)...)
	}},
}

// drawGarbling returns a change drawn at random.
func drawGarbling(r *rand.Rand) garbling {
	return garbling{uint8(r.Uint32()), uint8(r.Uint32()), uint8(r.Uint32()), r.Uint32(), r.Uint32(), r.Uint64()}
}

// block returns a piece of b. Half of all pieces begin within the first 4 KiB, where headers are.
func (g garbling) block(b []byte) (from, to int) {
	within := len(b)
	if g.at%2 == 0 {
		within = min(within, 4<<10)
	}
	if within == 0 {
		return 0, 0
	}
	from = int(g.at/2) % within
	return from, min(len(b), from+1+int(g.length%512))
}

// apply makes the change in the folder dir, and says what it was. What comes from another file comes from the
// same folder or from donor.
func (g garbling) apply(dir, donor string) (file, says string, err error) {
	paths, others := filesBelow(dir), filesBelow(donor)
	path := paths[int(g.file)%len(paths)]
	if g.kind%16 == 15 {
		return filepath.Base(path), path + ": it is missing", os.Remove(path)
	}
	do := garblings[int(g.kind)%len(garblings)]
	from := append(paths, others...)[int(g.from)%(len(paths)+len(others))]
	if i := slices.IndexFunc(others, func(other string) bool {
		return filepath.Base(other) == filepath.Base(path)
	}); i >= 0 && g.from%2 == 0 {
		from = others[i]
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", "", err
	}
	other, err := os.ReadFile(from)
	if err != nil {
		return "", "", err
	}
	says = fmt.Sprintf("%s: %s (%+v, of %s)", path, do.does, g, from)
	return filepath.Base(path), says, os.WriteFile(path, do.do(g, b, other), 0o644)
}

// filesBelow returns the files below dir. Those that verify reads are in it three times, so that they are
// changed more often than others.
func filesBelow(dir string) (paths []string) {
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		paths = append(paths, path)
		if ext := filepath.Ext(path); ext == ".zst" || ext == ".log" || ext == ".yaml" {
			paths = append(paths, path, path)
		}
		return nil
	})
	return paths
}
