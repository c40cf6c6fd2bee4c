package nodes

import (
	"fmt"
	"strings"
)

// Check returns an error that names the fields that a row of a table must have and this one lacks.
func (s *Spec) Check() error {
	return s.lacking(append(s.needs(), []need{
		{"Name", s.Name == ""},
		{"Aliases", len(s.Aliases) == 0 && s.Leads == nil},
		{"Family", s.Family == ""},
		{"Source", s.Source == ""},
		{"Summary", s.Summary == ""},
		{"Live", s.Live == 0 && !s.Detector && s.Leads == nil},
		{"Cost", s.Cost == nil && !s.Detector && s.Leads == nil},
		{"Faults", len(s.Faults) == 0 && !s.Detector},
		{"Timers", len(s.Timers) == 0 && s.isTimed()},
		{"BrokenAt", s.Broken != "" && s.BrokenAt.N == 0},
	}...))
}

// A need is a field of a row, and whether the row lacks it.
type need struct {
	field string
	lacks bool
}

// needs lists the fields without which a row makes no machines.
func (s *Spec) needs() []need {
	all := []need{{"New", s.New == nil}, {"NewServer", s.Servers != nil && s.NewServer == nil}}
	for i, kind := range s.Messages {
		all = append(all, need{fmt.Sprintf("Messages[%d].Zero", i), kind.Zero == nil})
	}
	return all
}

// lacking is the error for the fields that the row lacks, or nil.
func (s *Spec) lacking(all []need) error {
	var fields []string
	for _, n := range all {
		if n.lacks {
			fields = append(fields, n.field)
		}
	}
	if len(fields) == 0 {
		return nil
	}
	return fmt.Errorf("the row %q lacks %s: docs/adding-an-algorithm.md says what belongs there", s.Name,
		strings.Join(fields, ", "))
}
