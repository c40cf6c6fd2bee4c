package compare

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"turnstile/internal/figure"
	"turnstile/internal/stats"
	"turnstile/results"
)

// The units of GoBench as benchstat prints them, the metric that each is, and how many of the metric's unit
// one is.
var goUnits = map[string]struct {
	metric string
	scale  float64
}{
	"entries/s":    {"entries_per_s", 1},
	"msgs/entry":   {"messages_per_entry", 1},
	"wait-p99-sec": {"wait_us_p99", 1e6},
}

// The stock benchstat prints the same medians, intervals and uncorrected probabilities of the Go benchmark
// lines of a set.
func TestBenchstatSaysTheSame(t *testing.T) {
	set := sideOf("lan", maker{algorithm: "ricart-agrawala", wait: 100}, maker{algorithm: "raymond", wait: 150},
		maker{algorithm: "suzuki-kasami", wait: 103, n: 7}, maker{algorithm: "maekawa", wait: 103, n: 3})
	c, err := Compare(Request{By: "algorithm"}, set)
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	unit := ""
	for _, record := range benchstat(t, set, "/algorithm@(ricart-agrawala raymond suzuki-kasami maekawa)") {
		switch {
		case len(record) > 2 && record[0] == "" && record[2] == "CI":
			unit = record[1]
		case len(record) > 2 && record[0] == "Mutex/load=saturated/nodes=8":
			u, known := goUnits[unit]
			for i := 3; i < len(record) && known; i += 4 { // a group each: median, interval, difference, p
				l := c.Lines[lineOf(c, u.metric, (i-3)/4)]
				compared++
				same(t, &l, l.BaselineMedian, l.BaselineLow, l.BaselineHigh, u.scale, record[1:3])
				same(t, &l, l.Median, l.Low, l.High, u.scale, record[i:i+2])
				p, _ := l.P.Value()
				n := fmt.Sprintf("n=%d", l.Trials)
				if l.Trials != l.BaselineTrials {
					n = fmt.Sprintf("n=%d+%d", l.BaselineTrials, l.Trials)
				}
				if got, want := record[i+3], fmt.Sprintf("p=%0.3f %s", p, n); got != want {
					t.Errorf("%s of %s: benchstat says %s, and we %s", l.Metric, l.Group, got, want)
				}
			}
		}
	}
	if compared != 9 {
		t.Errorf("%d comparisons were compared, and not three of three metrics", compared)
	}
}

// lineOf returns where the comparison of a metric with that number is.
func lineOf(c *Comparison, metric string, number int) int {
	for i := range c.Lines {
		if c.Lines[i].Metric == metric {
			return i + number
		}
	}
	return -1
}

// same compares a median and its interval with two cells of benchstat: in its unit, and as a percentage.
func same(t *testing.T, l *Line, median, low, high figure.Figure, scale float64, cells []string) {
	t.Helper()
	m, _ := median.Value()
	if got, err := strconv.ParseFloat(cells[0], 64); err != nil || math.Abs(got*scale/m-1) > 1e-6 {
		t.Errorf("%s of %s: benchstat says %s, and we %v", l.Metric, l.Group, cells[0], m/scale)
	}
	want := "∞"
	if from, bounded := low.Value(); bounded {
		to, _ := high.Value()
		want = fmt.Sprintf("%.0f%%", 100*max(to/m-1, 1-from/m))
	}
	if cells[1] != want {
		t.Errorf("%s of %s: benchstat says ±%s, and we %s", l.Metric, l.Group, cells[1], want)
	}
}

// benchstat returns what the stock benchstat prints as CSV of the trials of a set.
func benchstat(t *testing.T, set Side, columns string) [][]string {
	t.Helper()
	var rows []results.Row
	for i := range set.Trials {
		rows = append(rows, set.Trials[i].Row)
	}
	var lines bytes.Buffer
	if err := results.GoBench(&lines, rows); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "lan.txt")
	if err := os.WriteFile(path, lines.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "tool", "benchstat", "-format", "csv", "-alpha", fmt.Sprint(stats.Level),
		"-col", columns, path).Output()
	if err != nil {
		t.Fatal(err)
	}
	in := csv.NewReader(bytes.NewReader(out))
	in.FieldsPerRecord = -1
	records, err := in.ReadAll()
	if err != nil {
		t.Fatalf("%v in\n%s", err, out)
	}
	return records
}
