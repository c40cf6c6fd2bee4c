package main

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// budgets are the CPU times that packages may take, by their paths within the module. "others" is what each
// package that is not named may take.
type budgets map[string]time.Duration

const (
	others = "others"
	unit   = "unit" // the CPU time of a unit of work where the budgets were measured
)

// readBudgets reads a file whose lines are a package and a duration. What follows # is a comment.
func readBudgets(path string) (budgets, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	all, at := budgets{}, 0
	for line := range strings.Lines(string(b)) {
		at++
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if len(words) != 2 {
			return nil, fmt.Errorf("%s: line %d: want a package and a duration, as in nodes/sim 10s", path, at)
		}
		granted, err := time.ParseDuration(words[1])
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, at, err)
		}
		if _, twice := all[words[0]]; twice {
			return nil, fmt.Errorf("%s: line %d: %s has a budget already", path, at, words[0])
		}
		all[words[0]] = granted
	}
	if all[unit] == 0 {
		return nil, fmt.Errorf("%s: it needs a line for the CPU time of a unit of work, as in %s 5ms", path, unit)
	}
	if all[others] == 0 {
		return nil, fmt.Errorf("%s: it needs a line for the packages that it does not name, as in %s 5s",
			path, others)
	}
	return all, nil
}

// of returns the budget of a package.
func (b budgets) of(path string) time.Duration {
	_, within, _ := strings.Cut(path, "/")
	if granted, named := b[within]; named {
		return granted
	}
	return b[others]
}

// exceeded returns a line for each package that took more than twice its budget, on a machine where a unit of
// work takes perUnit: one where it takes twice as much CPU time grants twice as much.
func (b budgets) exceeded(packages []*tested, perUnit time.Duration) (lines []string) {
	if b == nil {
		return nil
	}
	slower := float64(perUnit) / float64(b[unit])
	for _, p := range packages {
		if granted := time.Duration(slower * float64(b.of(p.path))); p.cpu > 2*granted {
			lines = append(lines, fmt.Sprintf("%s took %s of CPU time, and its budget is %s, "+
				"%.2f times %s since a unit of work took %s and not %s", p.path, seconds(p.cpu), seconds(granted),
				slower, seconds(b.of(p.path)), millis(perUnit), millis(b[unit])))
		}
	}
	return lines
}
