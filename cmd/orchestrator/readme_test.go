package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/nodes/election"
	"turnstile/nodes/mutex"
)

var updateReadme = flag.Bool("update-readme", false, "bring the tables of algorithms up to date")

// TestReadme wants the tables of algorithms to be what list --markdown prints.
func TestReadme(t *testing.T) {
	var table bytes.Buffer
	if status := run(t.Context(), []string{"list", "--markdown"}, &table, os.Stderr); status != 0 {
		t.Fatalf("list --markdown: exit status %d", status)
	}
	wantTable(t, "../../docs/algorithms.md", "algorithms", table.String())
}

// TestReadmeCanBePasted wants no command of the README to have a placeholder for what only its reader knows.
func TestReadmeCanBePasted(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for i, block := range strings.Split(string(text), "```") {
		if i%2 == 1 && strings.HasPrefix(block, "sh\n") && strings.ContainsAny(block, "<>") {
			t.Errorf("this cannot be pasted into a shell:%s", block[2:])
		}
	}
}

// TestLinks wants the files to which pages link.
func TestLinks(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile("(?s)```.*?```")
	link := regexp.MustCompile(`\]\(([^)#\s]+)(#[^)]*)?\)`)
	for _, page := range append(pages, "../../README.md", "../../CHANGELOG.md") {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		text := code.ReplaceAllString(string(b), "")
		for _, found := range link.FindAllStringSubmatch(text, -1) {
			if to := found[1]; !strings.Contains(to, "://") {
				if _, err := os.Stat(filepath.Join(filepath.Dir(page), to)); err != nil {
					t.Errorf("%s links to %s, which is not there", page, to)
				}
			}
		}
	}
}

// TestFaultTable wants the tables of the page on plans to say what the effects and the rows say.
func TestFaultTable(t *testing.T) {
	wantTable(t, plansPage, "kinds of faults", kindTable())
	wantTable(t, plansPage, "faults", faultTable(mutex.Table, chaos.Scenarios()))
	wantTable(t, plansPage, "faults of elections", faultTable(election.Table, chaos.Elections()))
}

// kindTable returns the table of what can go wrong.
func kindTable() string {
	var table strings.Builder
	fmt.Fprintln(&table, "| key | example | what happens | breaks |\n|---|---|---|---|")
	for _, k := range effect.Kinds {
		fmt.Fprintf(&table, "| `%s` | `%s` | %s | %v |\n", k.Key, k.Example, k.Says, k.Breaks)
	}
	return table.String()
}

// faultTable returns the table of what rows say of plans. Rows of which it says the same share a column, and
// plans a line.
func faultTable(rows []*spec, plans []*chaos.Plan) string {
	var says [][]string // by plan and row
	for _, plan := range plans {
		var line []string
		for _, row := range rows {
			cell := ""
			if plan.Suits(row) {
				found, _ := row.FaultCell(plan.Name)
				cell = strings.ReplaceAll(found.May.String(), "|", " ")
			}
			line = append(line, cell)
		}
		says = append(says, line)
	}
	columns := alike(len(rows), func(i int) (column []string) {
		for _, line := range says {
			column = append(column, line[i])
		}
		return column
	})
	var table strings.Builder
	fmt.Fprint(&table, "| plan |")
	for _, of := range columns {
		fmt.Fprintf(&table, " %s |", names(of, func(i int) string { return rows[i].Name }))
	}
	fmt.Fprintf(&table, "\n|---|%s\n", strings.Repeat("---|", len(columns)))
	for _, of := range alike(len(plans), func(i int) []string { return says[i] }) {
		fmt.Fprintf(&table, "| %s |", names(of, func(i int) string { return plans[i].Name }))
		for _, column := range columns {
			fmt.Fprintf(&table, " %s |", says[of[0]][column[0]])
		}
		fmt.Fprintln(&table)
	}
	return table.String()
}

// alike returns the numbers below n, those together whose cells are the same.
func alike(n int, cells func(i int) []string) (groups [][]int) {
	for i := range n {
		at := slices.IndexFunc(groups, func(g []int) bool { return slices.Equal(cells(g[0]), cells(i)) })
		if at < 0 {
			groups = append(groups, []int{i})
			continue
		}
		groups[at] = append(groups[at], i)
	}
	return groups
}

// names lists the names of some things, as code.
func names(of []int, name func(i int) string) string {
	var all []string
	for _, i := range of {
		all = append(all, "`"+name(i)+"`")
	}
	return strings.Join(all, ", ")
}

// wantTable wants the table of a name on a page to be like that, and makes it so if that is asked for.
func wantTable(t *testing.T, path, name, table string) {
	t.Helper()
	const end = "<!-- end -->"
	begin := fmt.Sprintf("<!-- %s: made by `make readme` -->\n", name)
	before, rest, ok := strings.Cut(page(t, path), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table, between %q and %q", path, begin, end)
	}
	want := before + begin + table + end + after
	switch {
	case want == page(t, path):
	case !*updateReadme:
		t.Errorf("the table of %s in %s is out of date: type make readme", name, path)
	default:
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
