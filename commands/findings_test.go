package commands

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"turnstile/internal/english"
	"turnstile/internal/stats"
)

const findingsPage = "../docs/findings.md"

// On the page of findings each result is a link, such as [3.9][q10]. The link leads to a table of a
// published set, and its title is a query of that table:
//
//	[q10]: ../results/published/simulated/runs.csv "messages_per_entry where algorithm:raymond nodes:64"
//
// A query is a column, of which it takes the median, or "runs" or "cells", which are counted. "min C by D
// where" and "max C by D where" are the least, rounded down, and the largest, rounded up, of the medians of
// each D, and "each C by D where" says that all of them are the same. A condition is column:value or
// column:(a OR b), and a - before it negates it; the value none is an empty cell.
var (
	links       = regexp.MustCompile(`\[([^\]]+)\]\[([^\]]+)\]`)
	definitions = regexp.MustCompile(`(?m)^\[([^\]]+)\]: (\S+\.csv(?:\.gz)?) "([^"]+)"\n`)
	queries     = regexp.MustCompile(`^(?:(min|max|each) )?(\w+)(?: by (\w+))?(?: where (.+))?$`)
	conditions  = regexp.MustCompile(`(-?)(\w+):(\([^)]+\)|\S+)`)
	resultText  = regexp.MustCompile(`^(?:(\d+)\(N-1\)|([\d,]*\.?\d+) ?(%|µs|ms|s)?)$`)
)

// TestFindings wants each result on the page of findings to be what its query of the published sets says.
func TestFindings(t *testing.T) {
	text := page(t, findingsPage)
	queryOf := map[string][2]string{}
	for _, d := range definitions.FindAllStringSubmatch(text, -1) {
		queryOf[d[1]] = [2]string{d[2], d[3]}
	}
	used := map[string]bool{}
	now := links.ReplaceAllStringFunc(text, func(link string) string {
		parts := links.FindStringSubmatch(link)
		q, has := queryOf[parts[2]]
		if !has {
			t.Errorf("%s has no query", link)
			return link
		}
		used[parts[2]] = true
		is, err := asShown(parts[1], filepath.Join("../docs", q[0]), q[1])
		switch {
		case err != nil:
			t.Errorf("%s: %s: %v", link, q[1], err)
			return link
		case is != parts[1] && !*updateReadme:
			t.Errorf("%s: %s is %s", link, q[1], is)
		}
		return fmt.Sprintf("[%s][%s]", is, parts[2])
	})
	for name := range queryOf {
		if !used[name] {
			t.Errorf("the query %s has no result", name)
		}
	}
	if *updateReadme && now != text {
		if err := os.WriteFile(findingsPage, []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFindingsHaveQueries wants each number of the findings to be a result with a query, or a condition.
func TestFindingsHaveQueries(t *testing.T) {
	asked := regexp.MustCompile(`\d[\d,]*( to \d[\d,]*)? (nodes?|clients?|requests)\b` +
		`|\d\([NK]-1\)|K is \d|1 ms|100 µs|a cut of 2 s|(50|100) ms|95%`)
	_, findings, _ := strings.Cut(page(t, findingsPage), "\n## ")
	findings, _, _ = strings.Cut(findings, "\n## Weaknesses")
	findings = links.ReplaceAllString(findings, "")
	findings = regexp.MustCompile(`!?\[[^\]]*\]\([^)]*\)|`+"`[^`]*`").ReplaceAllString(findings, "")
	findings = asked.ReplaceAllString(findings, "")
	for _, number := range regexp.MustCompile(`.{0,40}\d.{0,20}`).FindAllString(findings, -1) {
		t.Errorf("a number without a query: …%s…", number)
	}
}

// asShown returns the result of a query of a table, as a text shows it: with its unit and as many digits.
func asShown(text, table, query string) (string, error) {
	shown := resultText.FindStringSubmatch(text)
	q := queries.FindStringSubmatch(query)
	if shown == nil || q == nil {
		return "", errors.New("a result is such as 3.9, 98 ms or 2(N-1); see above how to write a query")
	}
	rows, err := matching(table, q[4])
	if err != nil {
		return "", err
	}
	of, column, by := q[1], q[2], q[3]
	if column == "runs" || column == "cells" {
		return english.Thousands(float64(len(rows))), nil
	}
	factor := 0.0
	if shown[1] != "" {
		factor, _ = strconv.ParseFloat(shown[1], 64)
	}
	if len(rows) == 0 {
		return "", fmt.Errorf("no row of %s matches", table)
	}
	var medians []float64
	for _, group := range groupsOf(rows, by) {
		m, ok := medianOf(group, column)
		if !ok {
			return "", fmt.Errorf("no %s in a group of %d rows", column, len(group))
		}
		if factor > 0 {
			n, _ := strconv.ParseFloat(group[0]["nodes"], 64)
			if m == factor*(n-1) {
				m = factor
			}
		}
		medians = append(medians, m)
	}
	slices.Sort(medians)
	least, largest := medians[0], medians[len(medians)-1]
	if of != "min" && of != "max" && largest-least > 1e-9*largest {
		return "", fmt.Errorf("not the same everywhere: from %v to %v", least, largest)
	}
	digits := 0
	if _, decimals, has := strings.Cut(shown[2], "."); has {
		digits = len(decimals)
	}
	value := least
	if of == "max" {
		value = largest
	}
	value = bound(of, value*scale(column, shown[3]), digits)
	is, space := strconv.FormatFloat(value, 'f', digits, 64), ""
	if factor > 0 {
		return is + "(N-1)", nil
	}
	if strings.Contains(text, " ") {
		space = " "
	}
	return is + space + shown[3], nil
}

// bound rounds x to some digits: down if it is a minimum, since the page says "or more", and up if it is a
// maximum, since the page says "up to".
func bound(of string, x float64, digits int) float64 {
	step := math.Pow10(-digits)
	least := math.Round(x/step) * step
	switch off := least - x; {
	case of == "min" && off > 1e-9*x:
		return least - step
	case of == "max" && off < -1e-9*x:
		return least + step
	}
	return least
}

// scale returns what a value of a column is multiplied by, to be shown in a unit.
func scale(column, unit string) float64 {
	switch {
	case unit == "%":
		return 100
	case unit == "ms" && strings.Contains(column, "_us"):
		return 1e-3
	case unit == "s" && strings.Contains(column, "_us"):
		return 1e-6
	}
	return 1
}

// matching returns the rows of a table that meet all conditions.
func matching(table, where string) (rows []map[string]string, err error) {
	all, err := rowsOf(table)
	if err != nil {
		return nil, err
	}
	if rest := strings.TrimSpace(conditions.ReplaceAllString(where, "")); rest != "" {
		return nil, fmt.Errorf("%q is no condition", rest)
	}
	for _, r := range all {
		meets := true
		for _, c := range conditions.FindAllStringSubmatch(where, -1) {
			cell, has := r[c[2]]
			if !has {
				return nil, fmt.Errorf("%s has no column %s", table, c[2])
			}
			values := strings.Split(strings.Trim(c[3], "()"), " OR ")
			meets = meets && slices.Contains(values, cmp.Or(cell, "none")) == (c[1] == "")
		}
		if meets {
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// groupsOf returns the rows with each value of a column, or all as one group.
func groupsOf(rows []map[string]string, by string) (groups [][]map[string]string) {
	at := map[string]int{}
	for _, r := range rows {
		i, has := at[r[by]]
		if !has {
			i = len(groups)
			at[r[by]] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], r)
	}
	return groups
}

// medianOf returns the median of a column.
func medianOf(rows []map[string]string, column string) (float64, bool) {
	var all []float64
	for _, r := range rows {
		if v, err := strconv.ParseFloat(cmp.Or(r[column], "none"), 64); err == nil && !math.IsNaN(v) {
			all = append(all, v)
		}
	}
	if len(all) == 0 {
		return 0, false
	}
	return stats.Median(all).Value, true
}
