package publish

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"turnstile/chaos"
	"turnstile/internal/english"
)

// A plan is what went wrong in runs, as a file that --plan takes.
type plan struct {
	name   string
	faults string // of the file
	runs   []string
}

// plans returns what went wrong in the runs, as the files that tell it. Equal faults are one file.
func (m *maker) plans() (all []*plan, err error) {
	for _, s := range m.runs {
		o := &s.record.Options
		if len(o.Faults) == 0 {
			continue
		}
		var text bytes.Buffer
		out := yaml.NewEncoder(&text)
		out.SetIndent(2)
		err := out.Encode(struct {
			Faults []chaos.Fault `yaml:"faults"`
		}{o.Faults})
		if err = errors.Join(err, out.Close()); err != nil {
			return nil, err
		}
		at := slices.IndexFunc(all, func(p *plan) bool { return p.faults == text.String() })
		if at < 0 {
			at = len(all)
			all = append(all, &plan{name: m.planName(all, o.Plan), faults: text.String()})
		}
		all[at].runs = append(all[at].runs, s.folder.Name())
	}
	return all, nil
}

// planName returns the name of a file for a plan that goes by a name.
func (m *maker) planName(others []*plan, called string) string {
	name := strings.TrimSuffix(filepath.Base(called), ".yaml")
	if called == "" {
		name = "faults"
	}
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune("/\\:\n\r", r) {
			return '-'
		}
		return r
	}, name)
	taken := func(name string) bool {
		return slices.ContainsFunc(others, func(p *plan) bool { return p.name == name })
	}
	fresh := name
	for i := 2; taken(fresh); i++ {
		fresh = fmt.Sprintf("%s-%d", name, i)
	}
	return fresh
}

// writePlans writes the plans of the runs.
func (m *maker) writePlans(context.Context) error {
	all, err := m.plans()
	if err != nil {
		return err
	}
	for _, p := range all {
		about := fmt.Sprintf("about: What went wrong in %s of this set, such as %s.\n",
			english.Count(len(p.runs), "run", "runs"), p.runs[0])
		if err := m.write(PlansDir+"/"+p.name+".yaml", about+p.faults); err != nil {
			return err
		}
	}
	return nil
}
