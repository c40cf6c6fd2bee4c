package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"turnstile/bench/service"
	"turnstile/internal/suggest"
	"turnstile/internal/terminal"
	"turnstile/nodes/catalog"
)

// ownService returns the service of that name that this program has itself; nil if it has none.
func ownService(name string) *service.Service {
	for _, s := range ownServices {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// ownNames are the names of the services that this program has itself.
func ownNames() (names []string) {
	for _, s := range ownServices {
		names = append(names, s.Name)
	}
	return names
}

// noService says that this program does not have a service, and that there is none beside it that may.
func noService(name string) error {
	if near := suggest.Nearest(name, ownNames()); near != "" {
		return fmt.Errorf("there is no service %q here: did you mean %s? The program services has others: build "+
			"it with make services", name, near)
	}
	if name == apart {
		return fmt.Errorf("the program services-%[1]s, which has %[1]s, is not beside this one, nor in PATH: "+
			"build it with make services-%[1]s", name)
	}
	return fmt.Errorf("the program services, which has %s, is not beside this one, nor in PATH: build it "+
		"with make services", name)
}

// findAlgorithm is catalog.Find, and says of the name of a service what runs that.
func findAlgorithm(name string) (*spec, error) {
	row, err := catalog.Find(name)
	if err == nil {
		return row, nil
	}
	if s := ownService(name); s != nil {
		return nil, fmt.Errorf("%s is a service and no algorithm: orchestrator bench --service %[1]s runs it",
			s.Name)
	}
	if program, wrong := serviceProgram(name); wrong == nil {
		p := service.Program{Command: program, Name: name}
		if d, wrong := p.Describe(context.Background()); wrong == nil {
			command := "bench"
			if d.Declaration.Elects {
				command = "elect"
			}
			return nil, fmt.Errorf("%s is a service and no algorithm: orchestrator %[2]s --service %[1]s runs it, "+
				"and %[3]s list has its options", name, command, filepath.Base(program[0]))
		}
	}
	return nil, err
}

// writeOwnServices lists the services that this program has itself, and says where the others are.
func writeOwnServices(w io.Writer) error {
	t := terminal.Table{Head: []string{"SERVICE", "WHAT IT IS"}}
	for _, s := range ownServices {
		t.Add(s.Name, s.Summary)
	}
	t.Add("(others)", "bin/services list, after make services")
	return errors.Join(t.Print(w), blankLine(w))
}

// A serviceEntry is what list NAME --json says of a service.
type serviceEntry struct {
	Name    string   `json:"name"`
	Summary string   `json:"summary"`
	Promise string   `json:"promise"` // what its documentation promises, quoted
	Source  string   `json:"source"`
	Options []string `json:"options"` // of --with: name, default and purpose of each
	// Settings are those of servers and clients that are not the defaults of their documentation, and why.
	Settings []string `json:"settings"`
}

// listService describes a service that this program has itself.
func (a *app) listService(s *service.Service, asJSON bool) error {
	if asJSON {
		return terminal.PrintJSON(a.stdout, serviceEntry{s.Name, s.Summary, s.Promise, s.Link,
			append([]string{}, s.Usage()...), append([]string{}, s.SettingLines()...)})
	}
	line := func(name, text string) { writeField(a.stdout, name, text) }
	line("name", s.Name)
	line("is", "a service, which bench --service "+s.Name+" runs")
	line("summary", s.Summary)
	line("promises", s.Promise)
	line("source", s.Link)
	for _, option := range s.Usage() {
		line("option", "--with "+option)
	}
	for _, setting := range s.SettingLines() {
		line("setting", setting)
	}
	return nil
}
