//go:build linux

package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
)

// A killTable counts what became of kills, by victim and by service.
type killTable struct {
	wanted bool // a line for each kill, and the table in the end
	sync.Mutex
	counts map[string]map[string]int
}

// killColumns are what is counted of kills.
var killColumns = []string{"kills", "starting", "entering", "ending", "bench: killed", "failed",
	"inconclusive", "valid", "verify: nothing stored", "no verdict", "INCONCLUSIVE", "VALID",
	"processes left", "folders left", "WRONG"}

// add counts a kill.
func (x *killTable) add(k *killing) {
	x.Lock()
	defer x.Unlock()
	if x.counts == nil {
		x.counts = map[string]map[string]int{}
	}
	is := map[string]bool{
		"kills":         true,
		k.phase:         true,
		"bench: killed": k.status < 0, "valid": k.status == 0,
		"failed":                 k.status == 2 && !strings.Contains(k.out.String(), "INCONCLUSIVE"),
		"inconclusive":           k.status == 2 && strings.Contains(k.out.String(), "INCONCLUSIVE"),
		"verify: nothing stored": k.again < 0, "VALID": k.again == 0,
		"no verdict":     k.again == 2 && !strings.Contains(k.verified, "INCONCLUSIVE"),
		"INCONCLUSIVE":   k.again == 2 && strings.Contains(k.verified, "INCONCLUSIVE"),
		"processes left": k.left != nil, "folders left": k.folders != nil, "WRONG": k.wrong != "",
	}
	for _, row := range []string{k.victim, strings.Join(k.words, " "), "all"} {
		if x.counts[row] == nil {
			x.counts[row] = map[string]int{}
		}
		for column, so := range is {
			if so {
				x.counts[row][column]++
			}
		}
	}
	if x.wanted {
		fmt.Printf("%-12s of %-17s after %6v: bench %2d, verify %2d  %s\n", k.victim, strings.Join(k.words, " "),
			k.after.Round(time.Millisecond), k.status, k.again, k.wrong)
	}
}

// print prints the table.
func (x *killTable) print() {
	if !x.wanted {
		return
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(out, "killed\t%s\n", strings.Join(killColumns, "\t"))
	rows := append([]string{}, serviceVictims...)
	for _, words := range killedServices {
		rows = append(rows, strings.Join(words, " "))
	}
	for _, row := range append(rows, "all") {
		if x.counts[row] == nil {
			continue
		}
		fmt.Fprint(out, row)
		for _, column := range killColumns {
			fmt.Fprintf(out, "\t%d", x.counts[row][column])
		}
		fmt.Fprintln(out)
	}
	out.Flush()
}
