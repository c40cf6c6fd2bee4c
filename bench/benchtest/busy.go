package benchtest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"turnstile/chaos"
	"turnstile/judge/check"
	"turnstile/judge/measure"
)

// tooLate is more than timers are late where a processor is free.
const tooLate = 25 * time.Millisecond

// Errorf fails a test, or skips it if its run shows nothing because processes waited for processors.
func Errorf(t testing.TB, v *check.Verdict, row *measure.Figures, format string, args ...any) {
	t.Helper()
	SkipIfBusy(t, v, row)
	t.Errorf(format, args...)
}

// SkipIfBusy skips a test whose run shows nothing because its processes waited for processors. It does not
// skip the test if the run found a violation, or has a doubt that lack of time does not explain.
func SkipIfBusy(t interface{ Skip(...any) }, v *check.Verdict, row *measure.Figures) {
	us, _ := row.TimerLateUSMax.Value()
	if why := busy(v, time.Duration(us*1e3)); why != "" {
		t.Skip("SKIPPED: the machine was too busy for this run: " + why)
	}
}

// busy returns why a run shows nothing, if its processes waited for processors; else "". latest is how late a
// timer of its nodes was at most.
func busy(v *check.Verdict, latest time.Duration) (why string) {
	if len(v.Findings) == 0 || v.Reason != v.Worst().Says { // a process ended on its own
		latest = 0
	}
	for _, f := range v.Findings {
		tooShort := f.ShowsLittle() || f.ByRun || f.About() == check.AboutCost ||
			strings.HasPrefix(f.Says, "not judged") || strings.HasPrefix(f.Says, "the run ended early")
		switch {
		case f.Outcome == check.Violated:
			return ""
		case f.Outcome == check.Valid, f.OutsideModel:
		case strings.Contains(f.Says, "waited for processors"):
			why = f.Says
		case tooShort && latest >= tooLate && why == "":
			why = fmt.Sprintf("%s, and a timer ran out %v late", f.Says, latest)
		case !tooShort:
			return ""
		}
	}
	return why
}

// Faulty parses the text of a fault.
func Faulty(t testing.TB, text string) chaos.Fault {
	t.Helper()
	f, err := chaos.ParseFault(text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
