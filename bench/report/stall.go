package report

import (
	"fmt"
	"strings"

	"turnstile/internal/english"
)

// fewStalled is how many lines of each list in the report of a stall are printed.
const fewStalled = 20

// fewOfStall shortens the lists in the report of a stall, and says where the whole is.
func fewOfStall(report, file string) string {
	var b strings.Builder
	listed := 0
	end := func() {
		if more := listed - fewStalled; more > 0 {
			fmt.Fprintf(&b, "  and %s more: see %s\n", english.Thousands(float64(more)), file)
		}
		listed = 0
	}
	for line := range strings.Lines(report) {
		if !strings.HasPrefix(line, "  ") {
			end()
		} else if listed++; listed > fewStalled {
			continue
		}
		b.WriteString(line)
	}
	end()
	return b.String()
}
