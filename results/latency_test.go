package results

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"

	"turnstile/internal/figure"
	"turnstile/judge/measure"
)

func histOf(values ...int64) *measure.Histogram {
	h := hdrhistogram.NewPacked(1, int64(time.Hour), 3)
	for _, v := range values {
		h.RecordValue(v)
	}
	return h
}

func TestLatencies(t *testing.T) {
	f := mustCreate(t, t.TempDir(), "set", "run")
	began := time.UnixMilli(1_700_000_000_000)
	hold := histOf(5)
	var all Latencies
	all.Add(1, began, 2*time.Second, []measure.Tagged{{Tag: measure.WaitTag, Hist: histOf(1000, 2000)},
		{Tag: "hold", Hist: hold}})
	all.Add(2, began.Add(3*time.Second), time.Second, []measure.Tagged{
		{Tag: measure.WaitTag, Hist: histOf(1_000_000)}})
	mustWrite(t, f, all.Tables()...)
	first := all.First(1).Pooled
	if first["hold"].TotalCount() != 1 || first[measure.WaitTag].TotalCount() != 2 {
		t.Errorf("the first trial has other latencies: %v", first)
	}
	if hold.Tag() != "" {
		t.Error("writing changed what was written")
	}
	file, err := os.Open(f.File(LatencyLog))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	type line struct {
		Tag                string
		StartMS, EndMS     int64
		Count, Least, Most int64
	}
	var got []line
	for log := hdrhistogram.NewHistogramLogReader(file); ; {
		h, err := log.NextIntervalHistogram()
		if err != nil {
			t.Fatal(err)
		}
		if h == nil {
			break
		}
		got = append(got, line{h.Tag(), h.StartTimeMs(), h.EndTimeMs(), h.TotalCount(), h.Min(), h.Max()})
	}
	ms := began.UnixMilli()
	want := []line{
		{measure.WaitTag, ms, ms + 2000, 2, 1000, 2000},
		{"hold", ms, ms + 2000, 1, 5, 5},
		{measure.WaitTag, ms + 3000, ms + 4000, 1, 999936, 1000447},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	profile, err := os.ReadFile(f.File(LatencyProfile))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "latency.hgrm", string(profile))
}

func TestNoLatencies(t *testing.T) {
	f := mustCreate(t, t.TempDir(), "set", "run")
	mustWrite(t, f, new(Latencies).Tables()...)
	if exists(f.File(LatencyProfile)) {
		t.Error("there is a profile of no waits")
	}
}

func TestGoBench(t *testing.T) {
	rows := append(someRows(), Row{Asked: Asked{Algorithm: "ring", Nodes: 2}})
	rows[1].EntriesPerS, rows[2].EntriesPerS = figure.Number(3), figure.Number(4)
	var b bytes.Buffer
	if err := GoBench(&b, rows); err != nil {
		t.Fatal(err)
	}
	golden(t, "gobench.txt", b.String())
}
