package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// kindBranches is how many branches at most ask which kind of run it is. It may fall, and not rise: what is
// special to a kind belongs in its check.Problem.
const kindBranches = 19

// aboutKind matches a question that code asks about the kind of a run.
var aboutKind = regexp.MustCompile(`\b(Leads|Elector|Mutex) [!=]= nil|` +
	`Kind [!=]= nodes\.(Election|MutualExclusion)|` +
	`\b(stack|s|first)\.Elects\(\)|\.Elect [!=]= ""|` +
	`\bLoad\)? [!=]= (string\()?workload\.Campaign|case workload\.Campaign|load == workload\.Campaign|` +
	`\b(c|r|rules)\.elects\b|[!=]= (check\.)?(Election|Exclusion)\b|\b[lL]eaders [!=]= nil|` +
	`[lL]eaders\.Only|\.Election [!=]= nil|\.enters\b`)

func TestFewBranchesAskForTheKindOfARun(t *testing.T) {
	var found []string
	for _, p := range listed(t, "./...") {
		for _, file := range p.GoFiles {
			path := p.Dir + "/" + file
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				code, _, _ := strings.Cut(line, "//")
				for range aboutKind.FindAllString(code, -1) {
					found = append(found, path+": "+strings.TrimSpace(code))
				}
			}
		}
	}
	if len(found) > kindBranches {
		t.Errorf("%d branches ask for the kind of a run, more than %d:\n%s", len(found), kindBranches,
			strings.Join(found, "\n"))
	}
}
