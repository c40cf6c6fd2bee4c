package compare

import (
	"fmt"
	"slices"
	"strings"

	"turnstile/internal/figure"
	"turnstile/internal/suggest"
	"turnstile/results"
)

// defaults are the metrics of a comparison that names none: of these lists, the first of which anything was
// measured. Runs about leaders have no entries.
var defaults = [][]string{
	{"entries_per_s", "messages_per_entry", "wait_us_p50", "wait_us_p99", "sync_delay_us_p50"},
	{"elect_us_p50", "elect_us_max", "messages", "messages_per_election", "leaderless_us"},
}

// defaults returns the metrics of a comparison that names none.
func (c *Comparison) defaults() []string {
	for _, metrics := range defaults {
		if slices.ContainsFunc(metrics, c.measured) {
			return metrics
		}
	}
	return defaults[0]
}

// CheckMetrics says which of some metrics is no figure of runs.csv, and what may have been meant.
func CheckMetrics(metrics []string) error {
	known := results.FigureColumns()
	for i, m := range metrics {
		switch {
		case slices.Contains(metrics[:i], m):
			return fmt.Errorf("%s is named twice: leave out one of the two", m)
		case !slices.Contains(known, m):
			return fmt.Errorf("there is no figure %q%s", m, suggest.List{Names: known, By: "docs/columns.md"}.Hint(m))
		}
	}
	return nil
}

// Of these metrics more is better, and of those with such beginnings less. Of all others neither is.
var (
	moreIsBetter = []string{"entries_per_s", "utilisation", "jain_index", "entries_node_min", "issued_share",
		"served_share"}
	lessIsBetter = []string{"messages_per_", "publishes_per_", "bytes_per_", "one_entry_messages_", "wait_us_",
		"queue_us_", "protocol_us_", "client_delay_us_", "uncontended_us_", "sync_delay_us_",
		"overtaken_", "passed_over_",
		"suspicions_wrong", "detection_us_", "elect_", "takeover_us_", "all_agreed_us_", "leader_changes_per_s",
		"leaderless_us", "two_leaders_", "flaps", "terms_backwards", "violations", "overlap_us",
		"told_inside_us", "overlapped_untold", "told_for_nothing", "refused_tries", "refused_free", "unfinished",
		"lost_", "timer_late_us_", "node_rss_mb_max", "ready_ms"}
)

// betterOf is above zero if more of a metric is better, below if less is, and zero if neither is.
func betterOf(metric string) int {
	switch {
	case slices.Contains(moreIsBetter, metric):
		return 1
	case slices.ContainsFunc(lessIsBetter, func(begin string) bool { return strings.HasPrefix(metric, begin) }):
		return -1
	}
	return 0
}

// BetterOf says in words whether more or less of a metric is better; nothing if neither is.
func BetterOf(metric string) string {
	return [...]string{"less is better", "", "more is better"}[betterOf(metric)+1]
}

// isDelay reports whether a metric is a time that processors without time to spare make longer.
func isDelay(metric string) bool {
	return results.TimeUnit(metric) > 0 && (betterOf(metric) < 0 || strings.HasPrefix(metric, "hold_us_"))
}

// verdictOf says what a difference of a metric means.
func verdictOf(metric string, difference figure.Figure) string {
	x, _ := difference.Value()
	switch better := betterOf(metric); {
	case better == 0 && x > 0:
		return isHigher
	case better == 0:
		return isLower
	case (better > 0) == (x > 0):
		return isBetter
	}
	return isWorse
}
