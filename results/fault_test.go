package results

import (
	"strings"
	"testing"
)

// The columns of faults.csv, by phase too, have their names and their order.
func TestColumnsOfFaults(t *testing.T) {
	const want = "run,trial,number,fault,from_s,to_s,healed,entries_before,entries_during,entries_after," +
		"accepted_before,accepted_during,accepted_after,refused_before,refused_during,refused_after," +
		"entries_refused,entries_before_per_s,entries_during_per_s,entries_after_per_s,wait_before_us_p50," +
		"wait_before_us_p99,wait_before_us_max,wait_during_us_p50,wait_during_us_p99,wait_during_us_max," +
		"wait_after_us_p50,wait_after_us_p99,wait_after_us_max,messages_before,messages_during," +
		"messages_after,dropped_before,dropped_during,dropped_after,next_entry_s,healed_next_entry_s," +
		"old_rate_s,overlap_during_us,overlap_after_us,unfinished,lost_unintended,epoch_before,epoch_after," +
		"epochs_new,silence_s,silence_textbook_s,elections_before,elections_during,elections_after," +
		"elect_before_us_p50,elect_before_us_max,elect_during_us_p50,elect_during_us_max," +
		"elect_after_us_p50,elect_after_us_max,leaderless_before_us,leaderless_during_us," +
		"leaderless_after_us,two_leaders_before_us,two_leaders_during_us,two_leaders_after_us,flaps_before," +
		"flaps_during,flaps_after,leader_changes_before,leader_changes_during,leader_changes_after," +
		"healed_agreed_s,at_least" + "\n"
	var b strings.Builder
	if err := WriteTable(&b, []FaultRow(nil)); err != nil {
		t.Fatal(err)
	}
	if b.String() != want {
		t.Errorf("they are\n%snot\n%s", &b, want)
	}
}
